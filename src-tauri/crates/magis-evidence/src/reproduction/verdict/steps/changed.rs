//! What became of the faults of the base on a changed tree.

use super::{VALUE, WITHIN, alike, errors, fails, is_about, is_line_of, meets, place, text_in};
use crate::reproduction::check::{Check, CheckCommand, Claim, Said};
use crate::reproduction::compare::{is_laid_out, is_shown, normal};
use crate::reproduction::record::StatementOutcome;
use crate::reproduction::traceback::Exception;
use crate::reproduction::verdict::{ExpectedResult, Fault, FaultPlace, Now, Reproduction};
use crate::reproduction::wording::Stance;
use magis_core::Grade;

/// Tells what became of each fault, and what appeared that the issue shows.
pub(crate) fn now(
    check: &Check,
    reproduction: &Reproduction,
    before: &[StatementOutcome],
    after: &[StatementOutcome],
) -> Vec<Now> {
    let is_there = |expected| instead(check, expected, after).is_none();
    let appeared = match reproduction.expected {
        Some(expected) if is_there(expected) => Some(Grade::ExpectedResult),
        _ => appeared(check, before, after),
    };
    let mut now: Vec<Now> = reproduction
        .faults
        .iter()
        .map(|fault| of_fault(check, fault, before, after))
        .collect();
    if let Some(what) = new_error(check, before, after) {
        return vec![Now::Other(what)];
    }
    // What the issue shows as the result, or shows at all, and is there only now.
    if let Some(grade) = appeared {
        for now in &mut now {
            if let Now::Gone(own) = now {
                *own = (*own).max(grade);
            }
        }
    }
    now
}

/// Returns what a statement gives instead of the result that the issue states for it.
pub(crate) fn instead(check: &Check, expected: ExpectedResult, after: &[StatementOutcome]) -> Option<String> {
    let claim = check.claims.get(expected.claim)?;
    let Said::Prints(stated) = &claim.what else { return None };
    let given = match after.iter().find(|outcome| place(outcome) == expected.at) {
        Some(outcome) if meets(outcome, expected.claim, claim) => return None,
        Some(outcome) => match (&outcome.raised, outcome.forms.get("repr")) {
            (Some(raised), _) => described(raised),
            (None, Some(value)) => value.trim().to_owned(),
            (None, None) => outcome.printed.trim().to_owned(),
        },
        None => String::new(),
    };
    let short = |text: &str| text.chars().take(200).collect::<String>();
    Some(match given.as_str() {
        "" => format!("it gives nothing, and the issue expects {}", short(stated)),
        given => format!("it gives {}, and the issue expects {}", short(given), short(stated)),
    })
}

fn of_fault(check: &Check, fault: &Fault, before: &[StatementOutcome], after: &[StatementOutcome]) -> Now {
    let at = |wanted: FaultPlace| after.iter().find(|outcome| place(outcome) == wanted);
    let lost = || Now::Other("the statement was not reached".to_owned());
    match fault {
        Fault::Raised {
            claim,
            at: wanted,
            exception,
        } => match at(*wanted) {
            None => lost(),
            Some(outcome) if errors(outcome).any(|error| error.is_like(exception)) => Now::Present,
            Some(StatementOutcome { raised: None, .. }) => Now::Gone(raised_grade(check, *claim, exception)),
            Some(StatementOutcome {
                raised: Some(raised), ..
            }) => Now::Other(described(raised)),
        },
        Fault::Assertion { at: wanted } => match at(*wanted) {
            None => lost(),
            Some(outcome) if fails(outcome) => Now::Present,
            Some(StatementOutcome { raised: None, .. }) => Now::Gone(Grade::ExpectedResult),
            Some(StatementOutcome {
                raised: Some(raised), ..
            }) => Now::Other(described(raised)),
        },
        Fault::Shown {
            claim,
            at: wanted,
            form,
        } => match (at(*wanted), check.claims.get(*claim)) {
            (Some(outcome), Some(claim_there)) => shown_now(
                before.iter().find(|outcome| place(outcome) == *wanted),
                outcome,
                *claim,
                claim_there,
                form,
            ),
            _ => lost(),
        },
        Fault::Missing { claim } => {
            let Some(there) = check.claims.get(*claim) else {
                return lost();
            };
            let met = after
                .iter()
                .any(|outcome| is_about(there.about, outcome) && meets(outcome, *claim, there));
            if met {
                Now::Gone(Grade::ExpectedResult)
            } else {
                Now::Present
            }
        }
        Fault::Unlike { at: (one, other), .. } => match (at(*one), at(*other)) {
            (Some(one), Some(other)) if one.raised.is_some() || other.raised.is_some() => lost(),
            (Some(one), Some(other)) if alike(one, other) => Now::Gone(Grade::ExpectedResult),
            (Some(_), Some(_)) => Now::Present,
            (None, _) | (_, None) => lost(),
        },
        Fault::Lines { .. } | Fault::Hung { .. } => lost(),
    }
}

/// Returns how much it says that an exception is gone: little where it is not the one the issue shows.
fn raised_grade(check: &Check, claim: usize, exception: &Exception) -> Grade {
    match check.claims.get(claim).map(|claim| &claim.what) {
        Some(Said::Raises { exception: shown, .. }) if exception.is_like(shown) => Grade::ExceptionGone,
        _ => Grade::SomethingChanged,
    }
}

fn shown_now(
    base: Option<&StatementOutcome>,
    outcome: &StatementOutcome,
    number: usize,
    claim: &Claim,
    form: &str,
) -> Now {
    let Said::Prints(text) = &claim.what else {
        return Now::Present;
    };
    if let Some(raised) = &outcome.raised {
        return Now::Other(described(raised));
    }
    let now = text_in(outcome, form);
    let still = match base.and_then(|base| text_in(base, form)) {
        _ if form == WITHIN => is_line_of(&outcome.printed, text),
        _ if form == VALUE => outcome.equals.contains(&number),
        // Where the base lays it out just as the issue does, the layout counts, too.
        Some(base) if is_laid_out(base, text) => now.is_some_and(|now| is_laid_out(now, text)),
        _ => now.is_some_and(|now| is_shown(now, text)),
    };
    if still {
        return Now::Present;
    }
    let is_equal = outcome.equals.contains(&number);
    match claim.stance {
        // Another way to write an equal value need not be what was asked for.
        Stance::Wrong if !is_equal => Now::Gone(Grade::WrongOutputGone),
        Stance::Wrong | Stance::Shown | Stance::Right => Now::Gone(Grade::SomethingChanged),
    }
}

/// Finds an exception raised where the base raised none of its kind, unless the issue asks for it.
fn new_error(check: &Check, before: &[StatementOutcome], after: &[StatementOutcome]) -> Option<String> {
    let asked = |raised: &Exception| {
        check.claims.iter().any(|claim| {
            claim.stance == Stance::Right
                && matches!(&claim.what, Said::Raises { exception, .. } if raised.is_like(exception))
        })
    };
    let first = before.iter().find(|outcome| outcome.raised.is_some()).map(place);
    // What a statement that fails should have bound is there in JavaScript all the same: what fails on it then may do so with a result that is missing, too.
    let is_of_missing = |at: FaultPlace, raised: &Exception| {
        matches!(check.command, CheckCommand::JavaScript(_))
            && first != Some(at)
            && raised.message.contains("undefined")
    };
    let raised_before = |at: FaultPlace, raised: &Exception| {
        let mut there = before.iter().filter(|outcome| place(outcome) == at);
        there.any(|outcome| {
            outcome
                .raised
                .as_ref()
                .is_some_and(|before| before.name() == raised.name())
        }) && !is_of_missing(at, raised)
    };
    let new = |outcome: &&StatementOutcome| {
        let raised = outcome.raised.as_ref();
        raised.is_some_and(|raised| !asked(raised) && !raised_before(place(outcome), raised))
    };
    after
        .iter()
        .find(new)
        .and_then(|outcome| outcome.raised.as_ref())
        .map(described)
}

/// Returns the grade of a text of the issue that no statement of the base shows and one of the changed tree does.
fn appeared(check: &Check, before: &[StatementOutcome], after: &[StatementOutcome]) -> Option<Grade> {
    let mut found = None;
    for (number, claim) in check.claims.iter().enumerate() {
        let is_text = matches!(&claim.what, Said::Prints(text) if normal(text).len() > 1);
        let met = |outcomes: &[StatementOutcome]| {
            outcomes.iter().any(|outcome| {
                let source = check.steps.get(outcome.step as usize).map_or("", String::as_str);
                let own = matches!(&claim.what, Said::Prints(text) if normal(text) == normal(source));
                !own && is_about(claim.about, outcome) && meets(outcome, number, claim)
            })
        };
        if is_text && claim.stance != Stance::Wrong && !met(before) && met(after) {
            let grade = if claim.stance == Stance::Right {
                Grade::ExpectedResult
            } else {
                Grade::WrongOutputGone
            };
            found = found.max(Some(grade));
        }
    }
    found
}

pub(in crate::reproduction::verdict) fn described(raised: &Exception) -> String {
    format!("{}: {}", raised.kind, raised.message)
        .chars()
        .take(300)
        .collect()
}
