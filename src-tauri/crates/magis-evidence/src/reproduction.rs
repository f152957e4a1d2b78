//! Checks made out of an issue's text: what to run, and what the outputs say.
//!
//! [`checks`] makes the candidates; whoever has a sandbox runs each on the base and on a changed tree. [`observe`] reads
//! a run, [`reproduces`] tells whether the base shows what the issue says, and [`verdict`] whether a change took it away.
//! Only the issue's text is read: no reference, no tests, no model.

mod check;
mod claims;
mod compare;
mod danger;
mod packages;
mod passages;
mod pattern;
mod pieces;
mod prompts;
mod pytest;
mod python;
mod record;
mod shell;
mod traceback;
mod verdict;
mod wording;

pub use check::{About, Check, CheckCommand, CheckFile, Claim, Marker, MarkerError, Said};
pub use packages::packages;
pub use passages::{Block, Passage, passages};
pub use pieces::{FileRole, Follows, Input, Piece, pieces};
pub use prompts::{Exchange, Session, session};
pub use pytest::pytest;
pub use python::edited;
pub use record::{Observation, ReachedFunction, RunEnd, RunOutput, StatementOutcome, observe};
pub use traceback::{Exception, Traceback, TracebackFrame, tracebacks};
pub use verdict::{CheckVerdict, Fault, FaultPlace, Nothing, Reproduction, reproduces, verdict};
pub use wording::Stance;

/// Makes the candidate checks of an issue, the fullest first. `packages` are the names under which the project's own
/// code is imported ([`packages`] finds them); `marker` is drawn at random by the caller.
pub fn checks(issue: &str, packages: &[String], marker: &Marker) -> Vec<Check> {
    let passages = passages(issue);
    let pieces = pieces(&passages);
    let mut found = shell::checks(issue, &passages, &pieces, packages, marker);
    found.extend(python::checks(&passages, &pieces, packages, marker));
    let mut unique: Vec<Check> = Vec::new();
    for check in found {
        // Without a claim a run could be judged by nothing.
        if !check.claims.is_empty()
            && !unique
                .iter()
                .any(|other| other.steps == check.steps && other.command == check.command)
        {
            unique.push(check);
        }
    }
    unique
}
