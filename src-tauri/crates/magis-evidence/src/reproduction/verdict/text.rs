//! The verdict on what a shell's lines wrote.

use super::{Fault, FaultPlace, Now};
use crate::reproduction::check::{Check, Claim, Said};
use crate::reproduction::compare::{Exactness, telling_lines};
use crate::reproduction::traceback::{Exception, Traceback, tracebacks};
use crate::reproduction::wording::Stance;
use magis_core::Grade;

/// Finds what an output shows as the issue says.
pub(super) fn faults(check: &Check, text: &str) -> Vec<Fault> {
    let seen = tracebacks(text);
    let mut found: Vec<Fault> = Vec::new();
    for (claim, exception, prefix) in raises(check) {
        let like = seen.iter().find(|seen| is_it(seen, exception, prefix));
        found.extend(like.map(|seen| Fault::Raised {
            claim,
            at: FaultPlace::Whole,
            exception: seen.exception.clone(),
        }));
    }
    found.truncate(1);
    if !found.is_empty() {
        return found;
    }
    let (number, expected) = missing(check, text);
    for exactness in [Exactness::Lines, Exactness::WithoutNumbers] {
        let printed = telling_lines(text, exactness);
        let right = right_lines(check, exactness);
        for (claim, shown) in prints(check, &[Stance::Wrong, Stance::Shown]) {
            let mut lines = telling_lines(shown, exactness);
            lines.retain(|line| printed.contains(line) && !right.contains(line));
            if !lines.is_empty() {
                found.push(Fault::Lines { claim, lines });
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    // What is expected alone says little; beside an output that is as shown it says what should be.
    let background = prints(check, &[Stance::Wrong, Stance::Shown]).any(|(_, shown)| {
        telling_lines(text, Exactness::WithoutNumbers)
            .iter()
            .any(|line| telling_lines(shown, Exactness::WithoutNumbers).contains(line))
    });
    if let (Some(claim), false, true) = (number, expected.is_empty(), background) {
        found.push(Fault::Missing { claim });
    }
    found
}

fn raises(check: &Check) -> impl Iterator<Item = (usize, &Exception, &str)> {
    check
        .claims
        .iter()
        .enumerate()
        .filter_map(|(number, claim)| match &claim.what {
            Said::Raises { exception, prefix } if claim.stance != Stance::Right => {
                Some((number, exception, prefix.as_str()))
            }
            _ => None,
        })
}

fn prints<'a>(check: &'a Check, stances: &'a [Stance]) -> impl Iterator<Item = (usize, &'a str)> {
    let text = |(number, claim): (usize, &'a Claim)| match &claim.what {
        Said::Prints(text) if stances.contains(&claim.stance) => Some((number, text.as_str())),
        _ => None,
    };
    check.claims.iter().enumerate().filter_map(text)
}

fn is_it(seen: &Traceback, shown: &Exception, prefix: &str) -> bool {
    // A tool that fails inside and a test that fails look alike but for what is written before each line.
    seen.exception.is_like(shown) && seen.prefix == prefix
}

fn right_lines(check: &Check, exactness: Exactness) -> Vec<String> {
    prints(check, &[Stance::Right])
        .flat_map(|(_, text)| telling_lines(text, exactness))
        .collect()
}

/// Returns the lines that are expected, not shown as the actual ones, and absent; with the claim that expects them.
fn missing(check: &Check, text: &str) -> (Option<usize>, Vec<String>) {
    let printed = telling_lines(text, Exactness::Lines);
    let actual: Vec<String> = prints(check, &[Stance::Wrong, Stance::Shown])
        .flat_map(|(_, text)| telling_lines(text, Exactness::Lines))
        .collect();
    for (claim, expected) in prints(check, &[Stance::Right]) {
        let lines = telling_lines(expected, Exactness::Lines);
        let lines: Vec<String> = lines
            .into_iter()
            .filter(|line| !actual.contains(line) && !printed.contains(line))
            .collect();
        if !lines.is_empty() {
            return (Some(claim), lines);
        }
    }
    (None, Vec::new())
}

/// Tells what became of each fault.
pub(super) fn now(check: &Check, faults: &[Fault], before: &str, after: &str) -> Vec<Now> {
    let (old, new) = (tracebacks(before), tracebacks(after));
    let appeared =
        |seen: &&Traceback| seen.prefix != "E" && !old.iter().any(|other| other.exception.is_like(&seen.exception));
    if let Some(seen) = new.iter().find(appeared) {
        return vec![Now::Other(format!(
            "{}: {}",
            seen.exception.kind, seen.exception.message
        ))];
    }
    faults
        .iter()
        .map(|fault| of_fault(check, fault, before, after, &new))
        .collect()
}

fn of_fault(check: &Check, fault: &Fault, before: &str, after: &str, new: &[Traceback]) -> Now {
    match fault {
        Fault::Raised { claim, exception, .. } => {
            let prefix = match check.claims.get(*claim).map(|claim| &claim.what) {
                Some(Said::Raises { prefix, .. }) => prefix.as_str(),
                _ => "",
            };
            if new.iter().any(|seen| is_it(seen, exception, prefix)) {
                Now::Present
            } else {
                Now::Gone(Grade::ExceptionGone)
            }
        }
        Fault::Lines { claim, lines } => {
            let there = |exactness| {
                let printed = telling_lines(after, exactness);
                lines.iter().all(|line| printed.contains(line))
            };
            let is_wrong = check
                .claims
                .get(*claim)
                .is_some_and(|claim| claim.stance == Stance::Wrong);
            match (there(Exactness::Lines) || there(Exactness::WithoutNumbers), is_wrong) {
                (true, _) => Now::Present,
                (false, true) => Now::Gone(Grade::WrongOutputGone),
                (false, false) => Now::Gone(Grade::SomethingChanged),
            }
        }
        Fault::Missing { .. } => {
            let printed = telling_lines(after, Exactness::Lines);
            let (_, expected) = missing(check, before);
            if expected.iter().all(|line| printed.contains(line)) {
                Now::Gone(Grade::ExpectedResult)
            } else {
                Now::Present
            }
        }
        Fault::Shown { .. } | Fault::Assertion { .. } | Fault::Hung { .. } | Fault::Unlike { .. } => Now::Present,
    }
}
