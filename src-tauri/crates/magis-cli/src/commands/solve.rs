//! `magis solve` and `magis rerun`: what is asked for is read and checked, a run is made, and then followed to its end.

use super::Place;
use super::follow::follow;
use crate::args::{RerunArgs, SolveArgs};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::screen::tell;
use magis_core::{Hint, HintsMode, Issue, QaMode, RelevanceMode};
use magis_engine::repository::{BaseChoice, Repository};
use magis_engine::{EngineError, SolveRequest};
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

/// Runs `magis solve`.
pub fn solve(place: &Place, args: SolveArgs) -> Result<ExitStatus, Failure> {
    // What costs nothing is checked first, so that its message does not wait for a model.
    let issue = read_issue(&args.issue)?;
    Issue::new(&issue).map_err(EngineError::from)?;
    Repository::open(&args.repo)?;
    let mut hints = Vec::new();
    if let Some(file) = &args.hints {
        hints.push(Hint::Comments(read_text("the hints", file)?));
    }
    if let Some(file) = &args.log {
        hints.push(Hint::FailingLog(read_text("the log", file)?));
    }
    let magis = place.open()?;
    let wish = SolveRequest {
        repository: args.repo,
        base: match (args.base, args.include_uncommitted) {
            (Some(name), _) => BaseChoice::Revision { name },
            (None, true) => BaseChoice::HeadWithUncommitted,
            (None, false) => BaseChoice::Head,
        },
        issue,
        hints,
        hints_mode: if args.no_hints {
            HintsMode::Ignore
        } else {
            HintsMode::Use
        },
        files: args.files,
        model: args.model.map(|word| magis.model_name(&word)).transpose()?,
        seed: args.seed,
        top_k: args.top_k,
        max_rounds: args.max_rounds,
        qa: if args.no_qa { QaMode::Skip } else { QaMode::Review },
        relevance: RelevanceMode::Code,
    };
    let prepared = magis.prepare(wish, &args.engine.limits())?;
    follow(place, &magis, prepared.run, &prepared.notes, args.engine, args.follow)
}

/// Runs `magis rerun`.
pub fn rerun(place: &Place, args: RerunArgs) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    let model = args.model.map(|word| magis.model_name(&word)).transpose()?;
    let run = magis.rerun(args.run, args.from, model, args.seed, &args.engine.limits())?;
    let note = format!(
        "run {run} does run {} again from the stage '{}' on",
        args.run, args.from
    );
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

fn read_text(what: &str, file: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let remedy = match what {
            "the issue" => "give a file with the issue's text, or '-' and the text on standard input",
            _ => "check the path",
        };
        Failure::error(format!("cannot read {what} from {}: {error}", file.display()), remedy)
    })?;
    String::from_utf8(bytes).map_err(|_| not_text(&format!("{what} in {}", file.display())))
}

fn not_text(what: &str) -> Failure {
    Failure::error(format!("{what} is not UTF-8 text"), "save it as UTF-8 and try again")
}
