//! What the runs of a check say: whether the base shows what the issue says, and whether a change took it away.
//!
//! A run that ends too late, ends early or fails in a new way is no evidence either way.

mod steps;
mod text;

use crate::reproduction::check::{Check, Said};
use crate::reproduction::record::{Observation, StatementOutcome};
use crate::reproduction::traceback::{Exception, tracebacks};
use magis_core::Grade;
use serde::Serialize;
use thiserror::Error;

/// Something the base shows as the issue says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// An exception the issue shows is raised.
    Raised {
        claim: usize,
        at: FaultPlace,
        exception: Exception,
    },
    /// An `assert` of the issue fails.
    Assertion { at: FaultPlace },
    /// An output the issue shows is there; `form` is the way of showing in which it is.
    Shown { claim: usize, at: FaultPlace, form: String },
    /// A tool prints these lines.
    Lines { claim: usize, lines: Vec<String> },
    /// What should be there is not.
    Missing { claim: usize },
    /// Two inputs that should have one output have two.
    Unlike { claim: usize, at: (FaultPlace, FaultPlace) },
    /// The run does not end.
    Hung { claim: usize },
}

/// Where in a check: a statement of a step, both from 0; or the whole output of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultPlace {
    Statement { step: u32, statement: u32 },
    Whole,
}

/// A check that shows on the base what the issue says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reproduction {
    /// What is shown, never empty. Several count as any of: a change need not end all, but it has to hold what the issue asserts.
    pub faults: Vec<Fault>,
    /// The grade that a change reaches at which the strongest of the faults is gone; it may prove to be higher.
    pub grade: Grade,
    /// What the issue states as the result where the fault is, as far as that can be told from it.
    pub expected: Option<ExpectedResult>,
}

/// A value that the issue states as the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExpectedResult {
    /// The claim that states it.
    pub claim: usize,
    /// The statement that should have it.
    pub at: FaultPlace,
}

impl Reproduction {
    /// Returns the grade that a right change reaches.
    pub fn attainable(&self) -> Grade {
        self.expected.map_or(self.grade, |_| Grade::ExpectedResult)
    }

    /// Returns what a changed tree gives instead of the result that the issue states; none where it gives that, or the issue states none.
    pub fn instead(&self, check: &Check, changed: &Observation) -> Option<String> {
        match changed {
            Observation::Steps { outcomes, .. } => steps::instead(check, self.expected?, outcomes),
            Observation::TimedOut | Observation::Broken(_) | Observation::Text { .. } => None,
        }
    }
}

/// Why a check does not show on the base what the issue says.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Nothing {
    #[error("the check did not end in time on the unchanged code")]
    TimedOut,
    #[error("the check ended before its last step on the unchanged code; its last words: '{0}'")]
    Broken(String),
    #[error("the unchanged code shows nothing of what the issue says")]
    NotSeen,
    #[error("the package '{0}' is not found where it runs; install what the project needs")]
    PackageNotFound(String),
    #[error("the unchanged code fails in another way than the issue says: {0}")]
    OtherError(String),
}

/// What a check says of a changed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum CheckVerdict {
    /// All is as on the base.
    Present,
    /// `gone` of the `of` faults are gone, the grade being that of the strongest.
    Gone { grade: Grade, gone: usize, of: usize },
    /// Something else went wrong: no evidence.
    OtherError { what: String },
    /// It did not end in time: no evidence, and never green.
    TimedOut,
}

/// What became of one fault on a changed tree.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    Gone(Grade),
    Present,
    Other(String),
}

/// Tells whether the base shows what the issue says.
///
/// # Errors
/// With the reason why it does not.
pub fn reproduces(check: &Check, base: &Observation) -> Result<Reproduction, Nothing> {
    let faults = match base {
        Observation::TimedOut => hangs(check),
        Observation::Broken(tail) => return Err(Nothing::Broken(tail.clone())),
        Observation::Steps { outcomes, .. } => steps::faults(check, outcomes),
        Observation::Text { printed, .. } => text::faults(check, printed),
    };
    match faults.iter().map(|fault| attainable(check, fault)).max() {
        Some(grade) => Ok(Reproduction {
            expected: steps::expected(check, &faults),
            faults,
            grade,
        }),
        None if *base == Observation::TimedOut => Err(Nothing::TimedOut),
        None => Err(other_error(base).unwrap_or(Nothing::NotSeen)),
    }
}

/// Returns the first exception of the statements of a run that the issue does not show.
fn unexpected<'run>(check: &Check, outcomes: &'run [StatementOutcome]) -> Option<&'run Exception> {
    let is_shown = |raised: &Exception| {
        check.claims.iter().any(|claim| match &claim.what {
            Said::Raises { exception, .. } => raised.is_like(exception),
            _ => false,
        })
    };
    let mut raised = outcomes.iter().filter_map(|outcome| outcome.raised.as_ref());
    raised.find(|raised| !is_shown(raised))
}

/// Returns what the first exception of a run tells: of the statements any, of a shell that of a package which is missing.
fn other_error(base: &Observation) -> Option<Nothing> {
    let not_found = |raised: &Exception| missing_package(raised).map(|name| Nothing::PackageNotFound(name.to_owned()));
    match base {
        Observation::Steps { outcomes, .. } => {
            let raised = outcomes.iter().find_map(|outcome| outcome.raised.as_ref())?;
            Some(not_found(raised).unwrap_or_else(|| Nothing::OtherError(steps::described(raised))))
        }
        Observation::Text { printed, .. } => tracebacks(printed).iter().find_map(|shown| not_found(&shown.exception)),
        Observation::TimedOut | Observation::Broken(_) => None,
    }
}

/// Returns the package that Python or Node did not find; none for a file, nor for a module of a package.
fn missing_package(raised: &Exception) -> Option<&str> {
    let message = raised.message.as_str();
    let name = match raised.kind.as_str() {
        "ModuleNotFoundError" => message.strip_prefix("No module named '")?,
        "Error" => {
            let name = message.strip_prefix("Cannot find module '");
            name.or_else(|| message.strip_prefix("Cannot find package '"))?
        }
        _ => return None,
    };
    let (name, _) = name.split_once('\'')?;
    let is_package = match raised.kind.as_str() {
        "ModuleNotFoundError" => !name.contains('.'),
        _ if name.starts_with('@') => name.matches('/').count() == 1,
        _ => !name.starts_with('.') && !name.contains('/'),
    };
    is_package.then_some(name)
}

fn hangs(check: &Check) -> Vec<Fault> {
    let claim = check.claims.iter().position(|claim| claim.what == Said::Hangs);
    claim.map(|claim| Fault::Hung { claim }).into_iter().collect()
}

fn attainable(check: &Check, fault: &Fault) -> Grade {
    use crate::reproduction::wording::Stance;
    match fault {
        Fault::Raised { claim, exception, .. } => match check.claims.get(*claim).map(|claim| &claim.what) {
            Some(Said::Raises { exception: shown, .. }) if exception.is_like(shown) => Grade::ExceptionGone,
            _ => Grade::SomethingChanged,
        },
        Fault::Hung { .. } => Grade::ExceptionGone,
        Fault::Assertion { .. } | Fault::Missing { .. } | Fault::Unlike { .. } => Grade::ExpectedResult,
        Fault::Shown { claim, .. } | Fault::Lines { claim, .. } => {
            match check.claims.get(*claim).map(|claim| claim.stance) {
                Some(Stance::Wrong) => Grade::WrongOutputGone,
                Some(Stance::Right | Stance::Shown) | None => Grade::SomethingChanged,
            }
        }
    }
}

/// Tells what a check that reproduces on the base says of a changed tree.
pub fn verdict(check: &Check, reproduction: &Reproduction, base: &Observation, changed: &Observation) -> CheckVerdict {
    let now = match (base, changed) {
        (_, Observation::TimedOut) => return CheckVerdict::TimedOut,
        (_, Observation::Broken(tail)) => return CheckVerdict::OtherError { what: tail.clone() },
        (Observation::TimedOut, Observation::Steps { outcomes, .. }) => match unexpected(check, outcomes) {
            Some(raised) => {
                return CheckVerdict::OtherError {
                    what: steps::described(raised),
                };
            }
            None => vec![Now::Gone(Grade::ExceptionGone)],
        },
        (Observation::TimedOut, Observation::Text { failed, .. }) => {
            let grade = if *failed {
                Grade::SomethingChanged
            } else {
                Grade::ExceptionGone
            };
            vec![Now::Gone(grade)]
        }
        (Observation::Steps { outcomes: before, .. }, Observation::Steps { outcomes: after, .. }) => {
            steps::now(check, reproduction, before, after)
        }
        (Observation::Text { printed: before, .. }, Observation::Text { printed: after, failed }) => {
            let mut now = text::now(check, &reproduction.faults, before, after);
            // A command that does not get as far any more raises nothing, either.
            for now in now.iter_mut().filter(|_| *failed) {
                if let Now::Gone(grade @ Grade::ExceptionGone) = now {
                    *grade = Grade::SomethingChanged;
                }
            }
            now
        }
        _ => {
            return CheckVerdict::OtherError {
                what: "the two runs are not of one check".to_owned(),
            };
        }
    };
    let mut grades = Vec::new();
    let mut other = None;
    let remaining = || {
        let faults = reproduction.faults.iter().zip(&now);
        faults
            .filter(|(_, now)| !matches!(now, Now::Gone(_)))
            .map(|(fault, _)| fault)
    };
    let failing = remaining()
        .filter(|fault| matches!(fault, Fault::Assertion { .. }))
        .count();
    let is_missing = remaining().any(|fault| matches!(fault, Fault::Missing { .. }));
    for now in &now {
        match now {
            Now::Gone(grade) => grades.push(*grade),
            Now::Other(what) => other = other.or(Some(what.clone())),
            Now::Present => {}
        }
    }
    match (grades.iter().max(), other) {
        (Some(_), _) if failing > 0 => CheckVerdict::OtherError {
            what: match failing {
                1 => "an assertion of the issue still fails".to_owned(),
                _ => format!("{failing} assertions of the issue still fail"),
            },
        },
        // Of several results that the issue states, some are there. Where another place fails in a new way, little is shown.
        (Some(grade), other) => CheckVerdict::Gone {
            grade: if is_missing || other.is_some() {
                Grade::SomethingChanged
            } else {
                *grade
            },
            gone: grades.len(),
            of: now.len(),
        },
        (None, Some(what)) => CheckVerdict::OtherError { what },
        (None, None) => CheckVerdict::Present,
    }
}
