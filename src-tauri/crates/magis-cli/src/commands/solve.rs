//! `magis solve` and `magis rerun`: what is asked for is read and checked, a run is made, and then followed to its end.

use super::engine;
use super::follow::follow;
use super::tests::{CodeToRun, Consent, accepted_terms, allow, terms_here};
use super::{Place, git, not_text, read_text};
use crate::args::{EffortArg, RerunArgs, SolveArgs};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::screen::tell;
use magis_core::{Hint, HintsMode, Issue, IssueChecks, QaMode, RelevanceMode, RepoId, Stage, TestLine, TestsMode};
use magis_engine::repository::BaseChoice;
use magis_engine::tests::{IsolationTerm, TestCommand};
use magis_engine::{Effort, EngineError, Magis, SolveRequest};
use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

/// Said where a repository has no test command.
const NO_COMMAND: &str = "no test command is found in this repository; give yours with --test-cmd";

/// Runs `magis solve`.
pub fn solve(place: &Place, args: SolveArgs) -> Result<ExitStatus, Failure> {
    // What costs nothing is checked first, so that its message does not wait for a model.
    let issue = read_issue(&args.issue)?;
    Issue::new(&issue).map_err(EngineError::from)?;
    git()?.open(&args.repo)?;
    let mut hints = Vec::new();
    if let Some(file) = &args.hints {
        hints.push(Hint::Comments(read_text("the hints", file)?));
    }
    if let Some(file) = &args.log {
        hints.push(Hint::FailingLog(read_text("the log", file)?));
    }
    let magis = place.open()?;
    let effort = Effort::from(args.effort);
    let (tests, mut notes) = tests_of(&magis, &args)?;
    let model = match &args.model {
        Some(word) => Some(magis.model_name(word)?),
        None => engine::usual_model(&magis)?.map(|(model, remarks)| {
            notes.extend(remarks);
            model
        }),
    };
    let plain = matches!(tests, TestsMode::Skip);
    let wish = SolveRequest {
        attempts: args.attempts.unwrap_or(if plain { 1 } else { effort.attempts() }),
        places: args.places.unwrap_or(if plain { 1 } else { effort.places() }),
        writing: Vec::new(),
        tests,
        base: base(&args),
        repository: args.repo,
        issue,
        hints,
        hints_mode: if args.no_hints {
            HintsMode::Ignore
        } else {
            HintsMode::Use
        },
        files: args.files,
        model,
        seed: args.seed,
        top_k: args.top_k.unwrap_or(effort.top_k()),
        max_rounds: args.max_rounds.unwrap_or(effort.max_rounds()),
        qa: if args.no_qa { QaMode::Skip } else { effort.qa() },
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
    };
    let prepared = magis.prepare(wish, &args.engine.limits())?;
    notes.extend(prepared.notes);
    follow(place, &magis, prepared.run, &notes, args.engine, args.follow)
}

/// Returns what a run may run, asking the person where they have not said so before; and what they should know of it.
fn tests_of(magis: &Magis, args: &SolveArgs) -> Result<(TestsMode, Vec<String>), Failure> {
    // Quick runs nothing, unless it is told what.
    let is_given = !args.tests.is_empty() || args.test_cmd.is_some() || args.allow_tests;
    if args.no_tests || (args.effort == EffortArg::Quick && !is_given) {
        return Ok((TestsMode::Skip, Vec::new()));
    }
    let checks = if args.no_checks {
        IssueChecks::Skip
    } else {
        IssueChecks::Make
    };
    let repo = magis.add_repository(&args.repo)?;
    let command = command_of(magis, repo, args)?;
    let mut notes = Vec::new();
    if command.is_none() {
        if !args.tests.is_empty() {
            return Err(Failure::error(
                "no test command is found in this repository, so the given test cannot be run",
                "give the command with --test-cmd",
            ));
        }
        if checks == IssueChecks::Skip {
            return Ok((TestsMode::Skip, vec![format!("nothing is run: {NO_COMMAND}")]));
        }
        notes.push(NO_COMMAND.to_owned());
    }
    let code = command.as_ref().map_or(CodeToRun::IssueCode, CodeToRun::CommandInRuns);
    if let Some(why) = why_not_run(magis, repo, code, args)? {
        notes.push(why);
        return Ok((TestsMode::Skip, notes));
    }
    let tests = TestsMode::Run {
        command: command.map(|command| TestLine {
            line: command.line(),
            folder: command.folder,
        }),
        failing: args.tests.clone(),
        checks,
    };
    Ok((tests, notes))
}

/// Returns the test command of a run: the given one; else one that the person allowed before; else the best guess. None where nothing is found.
fn command_of(magis: &Magis, repo: RepoId, args: &SolveArgs) -> Result<Option<TestCommand>, Failure> {
    let base = base(args);
    if let Some(line) = &args.test_cmd {
        return Ok(magis.test_commands(repo, &base, Some(line))?.into_iter().next());
    }
    let known = magis.known_test_commands(repo, &base)?;
    let allowed = known.iter().position(|(_, terms)| terms.is_some());
    let chosen = known.into_iter().nth(allowed.unwrap_or(0));
    Ok(chosen.map(|(command, _)| command))
}

/// Returns why a run runs nothing; none where it may run the code.
fn why_not_run(magis: &Magis, repo: RepoId, code: CodeToRun<'_>, args: &SolveArgs) -> Result<Option<String>, Failure> {
    let needed = match terms_here(accepted_terms(args.without_isolation))? {
        Ok(needed) => needed,
        // Who allowed it without isolation before is not asked for the flag again.
        Err(_) if code.allowed(magis, repo)? == Some(IsolationTerm::Waived) => IsolationTerm::Waived,
        Err(missing) => {
            return Ok(Some(format!(
                "nothing is run, because this machine cannot isolate it: {missing}; --without-isolation runs it all the same"
            )));
        }
    };
    let consent = if args.allow_tests {
        Consent::Given
    } else if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && args.issue != Path::new("-") {
        Consent::Asked
    } else {
        Consent::Known
    };
    if allow(magis, repo, code, needed, consent)? {
        return Ok(None);
    }
    Ok(Some(match code {
        CodeToRun::Command(command) | CodeToRun::CommandInRuns(command) => format!(
            "nothing is run, because `{}` is not allowed in this repository yet; --allow-tests allows it, and what the issue shows",
            command.line()
        ),
        CodeToRun::IssueCode => {
            "nothing is run, because what the issue shows is not allowed in this repository; --allow-tests allows it"
                .to_owned()
        }
    }))
}

fn base(args: &SolveArgs) -> BaseChoice {
    match (&args.base, args.include_uncommitted) {
        (Some(name), _) => BaseChoice::Revision { name: name.clone() },
        (None, true) => BaseChoice::HeadWithUncommitted,
        (None, false) => BaseChoice::Head,
    }
}

/// Runs `magis rerun`.
pub fn rerun(place: &Place, args: RerunArgs) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    let (run, note) = match (args.take, args.from) {
        (Some((task, round, attempt)), _) => {
            let run = magis.rerun_taking(args.run, task, round, attempt)?;
            let what = format!("attempt {} of round {round} of {task}", attempt.0 + 1);
            (run, format!("run {run} takes {what} of run {}", args.run))
        }
        (None, from) => {
            // The arguments have one of the two.
            let from = from.unwrap_or(Stage::Code);
            let model = match (args.model, place.named_engine()) {
                (Some(word), _) => Some(magis.model_name(&word)?),
                (None, Some(named)) => Some(engine::connect(&named)?.name()),
                (None, None) => None,
            };
            let run = magis.rerun(args.run, from, model, args.seed, &args.engine.limits())?;
            let note = format!("run {run} does run {} again from the stage '{from}' on", args.run);
            (run, note)
        }
    };
    follow(place, &magis, run, &[note], args.engine, args.follow)
}

/// Returns the issue's text, from a file or from standard input.
pub(super) fn read_issue(file: &Path) -> Result<String, Failure> {
    if file != Path::new("-") {
        return read_text("the issue", file);
    }
    if std::io::stdin().is_terminal() {
        tell("Paste the issue, then press Ctrl-D on a line of its own.");
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
        Failure::error(
            format!("cannot read the issue from standard input: {error}"),
            "give it as a file",
        )
    })?;
    String::from_utf8(bytes).map_err(|_| not_text("the issue on standard input"))
}
