//! `magis tests`: the test commands of a repository, running them, and what a person allowed.

use super::follow::listen;
use super::sandbox::exit_code;
use super::{Place, agreed, read_text, runtime, sandbox_helper};
use crate::args::{CheckArgs, ForgetTestsArgs, ListTestsArgs, RunTestsArgs, TestedTree, TestsCommand};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Tone, clean, count, span};
use crate::screen::tell;
use crate::status::StatusLine;
use magis_core::{CheckId, ProgramRun, RepoId, RepoPath};
use magis_engine::repository::BaseChoice;
use magis_engine::sandbox::{Limits, NotIsolated, Sandbox};
use magis_engine::tests::{
    IsolationTerm, TestCommand, TestCounts, TestId, TestOutcome, TestResults, TestRunner, TestSelection, TestStatus,
    TestsRun,
};
use magis_engine::{EngineError, Magis};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Lines of a failure's text that are shown; all of it is in the JSON.
const LINES: usize = 12;
/// Failures shown with their texts.
const FAILURES: usize = 10;

/// Runs `magis tests`.
pub fn run(place: &Place, command: TestsCommand) -> Result<ExitCode, Failure> {
    match command {
        TestsCommand::List(args) => list(place, &args),
        TestsCommand::Run(args) => run_tests(place, &args),
        TestsCommand::Check(args) => check(place, &args),
        TestsCommand::Forget(args) => forget(place, &args),
    }
}

/// Runs a check of a run's issue again, as it is or as a person edited it.
fn check(place: &Place, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let magis = place.open()?;
    let (run, check) = (args.run, CheckId(args.check));
    let state = magis.state(run)?;
    let known = state.checks().iter().find(|known| known.id == check).ok_or_else(|| {
        Failure::error(
            format!("run {run} has no check C{}", args.check),
            format!("see 'magis runs show {run}' for what shows its fault"),
        )
    })?;
    if args.show {
        place.screen.exactly(&format!("{}\n", known.script.trim_end()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let script = match &args.script {
        None => known.script.clone(),
        Some(file) => read_script(file)?,
    };
    let stop = CancellationToken::new();
    let tried = runtime()?.block_on(async {
        let listener = tokio::spawn(listen(stop.clone()));
        let tried = tokio::select! {
            tried = magis.try_check(run, check, &script, &stop) => Some(tried),
            () = stop.cancelled() => None,
        };
        listener.abort();
        tried
    });
    let Some(tried) = tried else {
        tell("Stopped; nothing that the check started is left.");
        return Ok(ExitStatus::Stopped.into());
    };
    let tried = tried?;
    let trees = [
        ("on the base", Some(&tried.on_base)),
        ("with the patch", tried.on_result.as_ref()),
    ];
    if args.json {
        let all: Vec<Value> = trees
            .iter()
            .filter_map(|(tree, run)| Some(json!({ "tree": tree, "run": run.as_ref()? })))
            .collect();
        place.screen.json(&Value::Array(all))?;
    } else {
        for (tree, run) in trees {
            let Some(run) = run else { continue };
            place
                .screen
                .line(&clean(&format!("{tree}, `{}` {}", run.command, run.end)))?;
            for line in run.written().lines() {
                place.screen.line(&format!("  {}", clean(line)))?;
            }
            for refused in &run.refused {
                place.screen.line(&format!("  {}", clean(refused)))?;
            }
        }
    }
    let ended_well = |run: &ProgramRun| run.status == Some(0);
    let all = ended_well(&tried.on_base) && tried.on_result.as_ref().is_none_or(ended_well);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_script(file: &Path) -> Result<String, Failure> {
    if file != Path::new("-") {
        return read_text("the script", file);
    }
    std::io::read_to_string(std::io::stdin()).map_err(|error| {
        Failure::error(
            format!("cannot read the script from standard input: {error}"),
            "give it as a file",
        )
    })
}

fn list(place: &Place, args: &ListTestsArgs) -> Result<ExitCode, Failure> {
    let magis = place.open()?;
    let repo = magis.add_repository(&args.tree.repo)?;
    let listed = listed(&magis, repo, &args.tree)?;
    if args.json {
        let row = |(number, (command, allowed)): (u32, &(TestCommand, Option<IsolationTerm>))| {
            command_as_json(number, command, *allowed)
        };
        let rows = (1..).zip(&listed).map(row).collect();
        place.screen.json(&Value::Array(rows))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (number, (command, allowed)) in (1..).zip(&listed) {
        let allowed = allowed.map_or_else(String::new, |terms| format!(", {}", allowed_words(terms)));
        place.screen.line(&clean(&format!("{number:>2}  {}", command.line())))?;
        place.screen.line(&clean(&format!(
            "    in {}{allowed}: {}",
            folder(&command.folder),
            reason(command)
        )))?;
    }
    if listed.is_empty() {
        place
            .screen
            .line("No test command is found in this repository; give yours with --test-cmd.")?;
    }
    if let Some(terms) = magis.issue_code_permission(repo)? {
        place
            .screen
            .line(&format!("What issues show is {}.", allowed_words(terms)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the test commands by their numbers, from 1: a given one alone; else those that are found, and behind them those that were given and
/// allowed. Each has the terms on which it is allowed.
fn listed(
    magis: &Magis,
    repo: RepoId,
    tree: &TestedTree,
) -> Result<Vec<(TestCommand, Option<IsolationTerm>)>, Failure> {
    let base = base(tree);
    let Some(line) = &tree.test_cmd else {
        return Ok(magis.known_test_commands(repo, &base)?);
    };
    let mut listed = Vec::new();
    for command in magis.test_commands(repo, &base, Some(line))? {
        let allowed = magis.test_permission(repo, &command)?;
        listed.push((command, allowed));
    }
    Ok(listed)
}

/// Returns in words that something is allowed, and on which terms.
fn allowed_words(terms: IsolationTerm) -> &'static str {
    match terms {
        IsolationTerm::Required => "allowed",
        IsolationTerm::Waived => "allowed without isolation",
    }
}

/// Returns what says that this is a test command, and what is run before it.
fn reason(command: &TestCommand) -> String {
    match command.before().as_slice() {
        [] => command.reason.clone(),
        before => format!("{}; run before it: `{}`", command.reason, before.join("`, `")),
    }
}

fn command_as_json(number: u32, command: &TestCommand, allowed: Option<IsolationTerm>) -> Value {
    json!({
        "number": number,
        "command": command.line(),
        "folder": command.folder,
        "runner": command.runner.map(TestRunner::name),
        "reason": command.reason,
        "before": command.before(),
        "allowed": allowed.is_some(),
        "without_isolation": allowed == Some(IsolationTerm::Waived),
    })
}

fn forget(place: &Place, args: &ForgetTestsArgs) -> Result<ExitCode, Failure> {
    let magis = place.open()?;
    let repo = magis.add_repository(&args.repo)?;
    let forgotten = magis.forbid_tests(repo)?;
    place.screen.line(&format!(
        "{} forgotten; you are asked again before anything is run.",
        count(forgotten, "permission")
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn run_tests(place: &Place, args: &RunTestsArgs) -> Result<ExitCode, Failure> {
    let files: Result<Vec<RepoPath>, _> = args.files.iter().map(RepoPath::new).collect();
    let files = files.map_err(EngineError::from)?;
    let magis = place.open()?;
    let repo = magis.add_repository(&args.tree.repo)?;
    let base = base(&args.tree);
    let listed = listed(&magis, repo, &args.tree)?;
    let (command, _) = listed
        .get(args.command as usize - 1)
        .ok_or_else(|| match listed.len() {
            0 => Failure::error(
                "no test command is found in this repository",
                "give yours with --test-cmd",
            ),
            several => Failure::error(
                format!("there is no command {}, only {several}", args.command),
                "see 'magis tests list'",
            ),
        })?;
    let sandbox = sandbox(accepted_terms(args.without_isolation))?.map_err(EngineError::from)?;
    let needed = terms_of(&sandbox);
    let consent = if args.yes { Consent::Given } else { Consent::Asked };
    if !allow(&magis, repo, CodeToRun::Command(command), needed, consent)? {
        tell("Not run.");
        return Ok(ExitCode::FAILURE);
    }
    let status = StatusLine::new(place.screen);
    let mut said = |files: usize| {
        if files.is_multiple_of(100) {
            status.say(&format!("writing the tree out: {}", count(files, "file")));
        }
        ControlFlow::Continue(())
    };
    let Some(checkout) = magis.check_out(repo, &base, sandbox, &mut said)? else {
        return Ok(ExitCode::FAILURE);
    };
    status.say(&format!("running {}", command.line()));
    let limits = Limits {
        time: Duration::from_secs(args.time),
        memory: args.memory << 20,
        ..Limits::default()
    };
    let selection = if files.is_empty() {
        TestSelection::Whole
    } else {
        TestSelection::Files(&files)
    };
    let stop = CancellationToken::new();
    let done = runtime()?.block_on(async {
        let listener = tokio::spawn(listen(stop.clone()));
        let done = tokio::select! {
            done = checkout.run_tests(command, selection, &[], limits) => Some(done),
            () = stop.cancelled() => None,
        };
        listener.abort();
        done
    });
    status.clear();
    let Some(done) = done else {
        tell("Stopped; nothing that the tests started is left.");
        return Ok(ExitStatus::Stopped.into());
    };
    let done = done?;
    if args.json {
        place.screen.json(&as_json(&done))?;
    } else {
        for left_out in checkout.left_out() {
            tell(&clean(&format!(
                "note: {} is not there: {}",
                left_out.path, left_out.reason
            )));
        }
        print(place, &done)?;
    }
    Ok(ending(&done))
}

/// Returns which terms a person accepts who gave `--without-isolation`, or did not.
pub(super) fn accepted_terms(without_isolation: bool) -> IsolationTerm {
    if without_isolation {
        IsolationTerm::Waived
    } else {
        IsolationTerm::Required
    }
}

/// Returns on which terms code can be run on this machine; else why nothing isolates it, where that is not accepted.
pub(super) fn terms_here(accepted: IsolationTerm) -> Result<Result<IsolationTerm, NotIsolated>, Failure> {
    Ok(sandbox(accepted)?.map(|sandbox| terms_of(&sandbox)))
}

fn terms_of(sandbox: &Sandbox) -> IsolationTerm {
    if sandbox.is_confined() {
        IsolationTerm::Required
    } else {
        IsolationTerm::Waived
    }
}

/// Returns the sandbox: an isolated one, or, where there is none and a person accepts that, one with limits only. Else why there is none.
fn sandbox(accepted: IsolationTerm) -> Result<Result<Sandbox, NotIsolated>, Failure> {
    let helper = sandbox_helper()?;
    let confined = runtime()?.block_on(Sandbox::confined(helper.clone()));
    Ok(match (confined, accepted) {
        (Ok(sandbox), _) => Ok(sandbox),
        (Err(_), IsolationTerm::Waived) => Ok(Sandbox::limits_only(helper)),
        (Err(missing), IsolationTerm::Required) => Err(missing),
    })
}

/// How a person's consent is come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// They said yes on the command line.
    Given,
    /// They are asked, unless they said so before.
    Asked,
    /// Only what they said before counts.
    Known,
}

/// What a person allows to be run in a repository.
#[derive(Debug, Clone, Copy)]
pub(super) enum CodeToRun<'a> {
    /// A test command, when they ask for the tests.
    Command(&'a TestCommand),
    /// A test command in runs, and with it what their issues show.
    CommandInRuns(&'a TestCommand),
    /// What the issues of runs show, where there is no test command.
    IssueCode,
}

impl CodeToRun<'_> {
    /// Returns on which terms it is allowed already; none where it is not.
    pub(super) fn allowed(self, magis: &Magis, repo: RepoId) -> Result<Option<IsolationTerm>, Failure> {
        Ok(match self {
            Self::Command(command) => magis.test_permission(repo, command)?,
            Self::CommandInRuns(command) => match magis.test_permission(repo, command)? {
                // Without isolation, what issues show is allowed for itself.
                Some(IsolationTerm::Waived) => magis.issue_code_permission(repo)?,
                known => known,
            },
            Self::IssueCode => magis.issue_code_permission(repo)?,
        })
    }

    fn remember(self, magis: &Magis, repo: RepoId, terms: IsolationTerm) -> Result<(), Failure> {
        match self {
            Self::Command(command) => magis.allow_tests(repo, command, terms)?,
            Self::CommandInRuns(command) => {
                magis.allow_tests(repo, command, terms)?;
                if terms == IsolationTerm::Waived {
                    magis.allow_issue_code(repo, terms)?;
                }
            }
            Self::IssueCode => magis.allow_issue_code(repo, terms)?,
        }
        Ok(())
    }

    /// Says what it is and how it would run, and asks.
    fn ask(self, terms: IsolationTerm) -> Result<bool, Failure> {
        match self {
            Self::Command(command) | Self::CommandInRuns(command) => {
                tell(&clean(&format!("  {}", command.line())));
                tell(&clean(&format!(
                    "  in {}: {}",
                    folder(&command.folder),
                    reason(command)
                )));
            }
            Self::IssueCode => tell("No test command is found. What the issue shows, as an example, can still be run."),
        }
        let means = match terms {
            IsolationTerm::Required => {
                "It runs isolated: no network, none of your other files, on a copy of the repository."
            }
            IsolationTerm::Waived => {
                "Nothing isolates it here: it can read and change all that you can, and use the network."
            }
        };
        let (beside, question, undone) = match self {
            Self::Command(_) => (
                "",
                "Run it, now and whenever this repository's tests are needed? [y/N]",
                "the tests are not run",
            ),
            Self::CommandInRuns(_) => (
                match terms {
                    IsolationTerm::Required => " So does what the issue shows.",
                    IsolationTerm::Waived => " So can what the issue shows.",
                },
                "Run both, now and in later runs in this repository? [y/N]",
                "nothing is run",
            ),
            Self::IssueCode => (
                "",
                "Run it, now and in later runs in this repository? [y/N]",
                "nothing is run",
            ),
        };
        tell(&format!("{means}{beside}"));
        agreed(question, || undone.to_owned())
    }
}

/// Returns whether a person lets it be run on these terms: they are asked, unless they said so before.
pub(super) fn allow(
    magis: &Magis,
    repo: RepoId,
    code: CodeToRun<'_>,
    needed: IsolationTerm,
    consent: Consent,
) -> Result<bool, Failure> {
    let known = code.allowed(magis, repo)?;
    if known == Some(needed) || known == Some(IsolationTerm::Waived) {
        return Ok(true);
    }
    let agrees = match consent {
        Consent::Given => true,
        Consent::Asked => code.ask(needed)?,
        Consent::Known => false,
    };
    if agrees {
        code.remember(magis, repo, needed)?;
    }
    Ok(agrees)
}

fn base(tree: &TestedTree) -> BaseChoice {
    match &tree.at {
        Some(name) => BaseChoice::Revision { name: name.clone() },
        None if tree.include_uncommitted => BaseChoice::HeadWithUncommitted,
        None => BaseChoice::Head,
    }
}

fn folder(relative: &str) -> &str {
    if relative.is_empty() { "the root" } else { relative }
}

fn print(place: &Place, done: &TestsRun) -> Result<(), Failure> {
    match &done.results {
        Ok(results) => print_results(place, results)?,
        Err(why) => {
            for line in done
                .outcome
                .stdout
                .text()
                .lines()
                .chain(done.outcome.stderr.text().lines())
            {
                place.screen.line(&clean(line))?;
            }
            tell(&clean(&format!("note: no results test by test: {why}")));
        }
    }
    let command = done.words.join(" ");
    tell(&clean(&format!(
        "{command}: {}, after {}",
        done.outcome.end,
        span(done.outcome.took)
    )));
    for refused in &done.outcome.refused {
        tell(&clean(&format!("note: {refused}")));
    }
    Ok(())
}

fn print_results(place: &Place, results: &TestResults) -> Result<(), Failure> {
    let bad: Vec<(&TestId, &TestOutcome)> = results
        .tests
        .iter()
        .filter(|(_, outcome)| outcome.status.is_bad())
        .collect();
    for (number, (id, outcome)) in bad.iter().enumerate() {
        let word = place.screen.paint.tone(Tone::Bad, status_word(outcome.status));
        place.screen.line(&format!("{word}  {}", clean(&id.to_string())))?;
        let Some(failure) = outcome.failure.as_ref().filter(|_| number < FAILURES) else {
            continue;
        };
        let lines: Vec<&str> = failure.text.lines().collect();
        // The last lines say what was expected.
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            place.screen.line(&clean(&format!("    {line}")))?;
        }
    }
    let TestCounts {
        passed,
        failed,
        errored,
        skipped,
    } = results.counts();
    let tone = if bad.is_empty() { Tone::Good } else { Tone::Bad };
    let sum = format!("{passed} passed, {failed} failed, {errored} errored, {skipped} skipped");
    place.screen.line(&place.screen.paint.tone(tone, &sum))
}

fn status_word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Passed => "passed",
        TestStatus::Failed => "failed",
        TestStatus::Errored => "error",
        TestStatus::Skipped => "skipped",
    }
}

fn as_json(done: &TestsRun) -> Value {
    let tests = done.results.as_ref().map(|results| {
        let test = |(id, outcome): (&TestId, &TestOutcome)| {
            json!({
                "test": id.to_string(),
                "status": status_word(outcome.status),
                "seconds": outcome.duration.map(|duration| duration.as_secs_f64()),
                "text": outcome.failure.as_ref().map(|failure| &failure.text),
            })
        };
        results.tests.iter().map(test).collect::<Vec<_>>()
    });
    let refused: Vec<String> = done.outcome.refused.iter().map(ToString::to_string).collect();
    json!({
        "command": done.words,
        "folder": done.folder,
        "end": done.outcome.end.to_string(),
        "seconds": done.outcome.took.as_secs_f64(),
        "refused": refused,
        "tests": tests.as_ref().ok(),
        "why_no_tests": done.results.as_ref().err(),
        "stdout": done.outcome.stdout.text(),
        "stderr": done.outcome.stderr.text(),
    })
}

/// A failed test is code 1, whatever the runner ends with; what was not run to its end is never a success.
fn ending(done: &TestsRun) -> ExitCode {
    let failed = done
        .results
        .as_ref()
        .is_ok_and(|results| results.tests.values().any(|outcome| outcome.status.is_bad()));
    if failed {
        ExitCode::FAILURE
    } else {
        exit_code(&done.outcome.end)
    }
}
