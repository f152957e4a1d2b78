//! Checks made out of an issue's text: what to run, and what the outputs say.
//!
//! [`checks`] makes the candidates; whoever has a sandbox runs each on the base and on a changed tree. [`observe`] reads
//! a run, [`reproduces`] tells whether the base shows what the issue says, and [`verdict`] whether a change took it away.
//! Only the issue's text is read: no reference, no tests, no model.

mod as_test;
mod asserted;
mod check;
mod claims;
mod compare;
mod danger;
mod javascript_test;
mod notation;
mod packages;
mod passages;
mod pattern;
mod pieces;
mod programs;
mod prompts;
mod python_test;
mod reach;
mod record;
mod rust_script;
mod rust_test;
mod shell;
mod standard;
mod steps;
mod traceback;
mod verdict;
mod wording;

pub use as_test::{as_test, rust_script_as_test, script_as_test};
pub use check::{About, Check, CheckCommand, CheckFile, Claim, Marker, MarkerError, SCRIPT_FILE, Said};
pub use packages::{ProjectInUse, project_in_use};
pub use prompts::{Exchange, Session, session};
pub use python_test::slug;
pub use reach::ReachRecorder;
pub use record::{Observation, ReachedFunction, RunEnd, RunOutput, StatementOutcome, observe};
pub use rust_script::RUST_SCRIPT_FILE;
pub use steps::edited;
pub use traceback::{Exception, Traceback, TracebackFrame, tracebacks};
pub use verdict::{CheckVerdict, Fault, FaultPlace, Nothing, Reproduction, reproduces, verdict};
pub use wording::{Stance, wants_error};

/// Makes the candidate checks of an issue, the fullest first, in the language of the project ([`project_in_use`] tells it); `marker` is drawn at
/// random by the caller.
pub fn checks(issue: &str, project: &ProjectInUse, marker: &Marker) -> Vec<Check> {
    let passages = passages::passages(issue);
    let notation = notation::notation(project.language);
    let pieces = pieces::pieces(&passages, notation);
    let mut found = shell::checks(issue, &passages, &pieces, project, marker);
    found.extend(steps::checks(&passages, &pieces, project, marker));
    let mut unique: Vec<Check> = Vec::new();
    for check in found {
        // Without a claim and an assertion of its own a run could be judged by nothing.
        if (!check.claims.is_empty() || check.asserts())
            && !unique
                .iter()
                .any(|other| other.steps == check.steps && other.command == check.command)
        {
            unique.push(check);
        }
    }
    unique
}
