//! The verdict on what statements did.

use super::{Fault, Grade, Now, Place};
use crate::reproduction::check::{About, Check, Claim, Said};
use crate::reproduction::compare::{is_laid_out, is_shown, normal};
use crate::reproduction::record::Outcome;
use crate::reproduction::traceback::Exception;
use crate::reproduction::wording::Stance;
use magis_syntax::{SourceLanguage, syntax_errors};

/// Finds what the outcomes show as the issue says.
pub(super) fn faults(check: &Check, outcomes: &[Outcome]) -> Vec<Fault> {
    let mut raised = Vec::new();
    let mut wrong = Vec::new();
    let mut shown = Vec::new();
    for (number, claim) in check.claims.iter().enumerate() {
        match (&claim.what, claim.stance) {
            (Said::Raises { exception, prefix }, Stance::Wrong | Stance::Shown)
                if prefix.is_empty() || prefix == "E" =>
            {
                raised.extend(
                    raising(outcomes, claim, exception).map(|(at, exception)| Fault::Raised {
                        claim: number,
                        at,
                        exception,
                    }),
                );
            }
            (Said::Prints(text), Stance::Wrong) => wrong.extend(showing(check, outcomes, number, claim, text)),
            (Said::Prints(text), Stance::Shown) => shown.extend(showing(check, outcomes, number, claim, text)),
            _ => {}
        }
    }
    raised.extend(
        outcomes
            .iter()
            .filter(|outcome| fails(outcome))
            .map(|outcome| Fault::Assertion { at: place(outcome) }),
    );
    once_each_place(&mut raised);
    let missing = missing(check, outcomes);
    // Beside an exception, or a word that says which output is wrong, the other outputs of the issue are its background.
    if raised.is_empty() && wrong.is_empty() && missing.is_empty() {
        wrong = shown;
    }
    raised.extend(wrong);
    raised.extend(missing);
    if raised.is_empty() {
        raised = stated(check, outcomes);
    }
    raised
}

fn once_each_place(faults: &mut Vec<Fault>) {
    let mut places = Vec::new();
    faults.retain(|fault| match fault {
        Fault::Raised { at, .. } | Fault::Assertion { at } => {
            let is_new = !places.contains(at);
            places.push(*at);
            is_new
        }
        Fault::Shown { .. } | Fault::Lines { .. } | Fault::Missing { .. } | Fault::Hung { .. } => true,
    });
}

fn place(outcome: &Outcome) -> Place {
    Place::Statement {
        step: outcome.step,
        statement: outcome.statement,
    }
}

fn fails(outcome: &Outcome) -> bool {
    outcome.assertion
        && outcome
            .raised
            .as_ref()
            .is_some_and(|raised| raised.name() == "AssertionError")
}

fn is_about(about: About, outcome: &Outcome) -> bool {
    match about {
        About::Any => true,
        About::Step(step) => outcome.step == step,
        About::Line { step, line } => outcome.step == step && (outcome.line..=outcome.last_line).contains(&line),
    }
}

/// Finds where the exception is raised: where the issue shows it, else anywhere.
fn raising<'a>(
    outcomes: &'a [Outcome],
    claim: &Claim,
    shown: &Exception,
) -> impl Iterator<Item = (Place, Exception)> + 'a {
    let like = |outcome: &&Outcome| errors(outcome).any(|error| error.is_like(shown));
    let mut found: Vec<&Outcome> = outcomes
        .iter()
        .filter(like)
        .filter(|outcome| is_about(claim.about, outcome))
        .collect();
    if found.is_empty() {
        found = outcomes.iter().filter(like).collect();
    }
    let shown = shown.clone();
    let error = move |outcome: &'a Outcome| errors(outcome).find(|error| error.is_like(&shown)).cloned();
    found
        .into_iter()
        .filter_map(move |outcome| Some((place(outcome), error(outcome)?)))
}

/// What a statement raised, and what showing its value did.
fn errors(outcome: &Outcome) -> impl Iterator<Item = &Exception> {
    outcome.raised.iter().chain(&outcome.unshown)
}

/// Finds where an output the issue shows is what a statement printed or gave.
fn showing(check: &Check, outcomes: &[Outcome], number: usize, claim: &Claim, text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| is_about(claim.about, outcome)) {
        let source = check.steps.get(outcome.step as usize).map_or("", String::as_str);
        if normal(source) == normal(text) {
            continue;
        }
        let form = form_showing(outcome, text).or_else(|| {
            let within = claim.about == About::Any && is_line_of(&outcome.printed, text);
            within.then(|| WITHIN.to_owned())
        });
        if let Some(form) = form {
            found.push(Fault::Shown {
                claim: number,
                at: place(outcome),
                form,
            });
        }
    }
    found
}

/// The printed text is one of the lines the issue shows together.
const WITHIN: &str = "printed, among others";
const PRINTED: &str = "printed";
const LOGGED: &str = "logged";

fn text_in<'a>(outcome: &'a Outcome, form: &str) -> Option<&'a str> {
    match form {
        PRINTED => Some(&outcome.printed),
        LOGGED => Some(&outcome.logged),
        form => outcome.forms.get(form).map(String::as_str),
    }
}

fn form_showing(outcome: &Outcome, text: &str) -> Option<String> {
    if is_shown(&outcome.printed, text) {
        return Some(PRINTED.to_owned());
    }
    if is_shown(&outcome.logged, text) {
        return Some(LOGGED.to_owned());
    }
    outcome
        .forms
        .iter()
        .find(|(_, shown)| is_shown(shown, text))
        .map(|(form, _)| form.clone())
}

/// Returns whether what one statement printed stands whole among several lines the issue shows.
fn is_line_of(printed: &str, text: &str) -> bool {
    let (printed, text) = (normal(printed), normal(text));
    printed.len() >= 4 && printed.len() < text.len() && format!(" {text} ").contains(&format!(" {printed} "))
}

/// Finds what the issue states as the result at a certain place, where the statement ran and showed something else.
fn missing(check: &Check, outcomes: &[Outcome]) -> Vec<Fault> {
    let mut found = Vec::new();
    for (number, claim) in check
        .claims
        .iter()
        .enumerate()
        .filter(|(_, claim)| claim.stance == Stance::Right)
    {
        let mut there = outcomes
            .iter()
            .filter(|outcome| is_about(claim.about, outcome))
            .peekable();
        let is_missing = match &claim.what {
            Said::Prints(_) => {
                claim.about != About::Any
                    && there.peek().is_some()
                    && there.all(|outcome| outcome.raised.is_none() && !meets(outcome, number, claim))
            }
            Said::Raises { exception, .. } => {
                there.peek().is_some()
                    && there.all(|outcome| !outcome.raised.as_ref().is_some_and(|raised| raised.is_like(exception)))
            }
            Said::Hangs => false,
        };
        if is_missing {
            found.push(Fault::Missing { claim: number });
        }
    }
    found
}

/// Finds a value that the prose states as the result, where all ran and no statement gives it.
fn stated(check: &Check, outcomes: &[Outcome]) -> Vec<Fault> {
    let ran = outcomes.iter().all(|outcome| outcome.raised.is_none())
        && outcomes.iter().any(|outcome| !outcome.forms.is_empty());
    let is_stated = |(number, claim): &(usize, &Claim)| match &claim.what {
        Said::Prints(text) => {
            claim.stance == Stance::Right
                && claim.about == About::Any
                && !text.contains('\n')
                && syntax_errors(SourceLanguage::Python, text) == 0
                && !check.steps.iter().any(|step| normal(step) == normal(text))
                && !outcomes.iter().any(|outcome| meets(outcome, *number, claim))
        }
        Said::Raises { .. } | Said::Hangs => false,
    };
    let found = check
        .claims
        .iter()
        .enumerate()
        .filter(is_stated)
        .map(|(claim, _)| Fault::Missing { claim });
    if ran { found.take(1).collect() } else { Vec::new() }
}

/// Returns whether a statement shows what a claim says, as a text or as an equal value.
fn meets(outcome: &Outcome, number: usize, claim: &Claim) -> bool {
    match &claim.what {
        Said::Prints(text) => outcome.equals.contains(&number) || form_showing(outcome, text).is_some(),
        Said::Raises { exception, .. } => outcome.raised.as_ref().is_some_and(|raised| raised.is_like(exception)),
        Said::Hangs => false,
    }
}

/// Tells what became of each fault, and what appeared that the issue shows.
pub(super) fn now(check: &Check, faults: &[Fault], before: &[Outcome], after: &[Outcome]) -> Vec<Now> {
    let appeared = appeared(check, before, after);
    let mut now: Vec<Now> = faults
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

fn of_fault(check: &Check, fault: &Fault, before: &[Outcome], after: &[Outcome]) -> Now {
    let at = |wanted: Place| after.iter().find(|outcome| place(outcome) == wanted);
    let lost = || Now::Other("the statement was not reached".to_owned());
    match fault {
        Fault::Raised {
            at: wanted, exception, ..
        } => match at(*wanted) {
            None => lost(),
            Some(outcome) if errors(outcome).any(|error| error.is_like(exception)) => Now::Present,
            Some(Outcome { raised: None, .. }) => Now::Gone(Grade::ExceptionGone),
            Some(Outcome {
                raised: Some(raised), ..
            }) => Now::Other(described(raised)),
        },
        Fault::Assertion { at: wanted } => match at(*wanted) {
            None => lost(),
            Some(outcome) if fails(outcome) => Now::Present,
            Some(Outcome { raised: None, .. }) => Now::Gone(Grade::ExpectedResult),
            Some(Outcome {
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
            if met && is_any_failure(there) {
                Now::Gone(Grade::SomethingChanged)
            } else if met {
                Now::Gone(Grade::ExpectedResult)
            } else {
                Now::Present
            }
        }
        Fault::Lines { .. } | Fault::Hung { .. } => lost(),
    }
}

/// Returns whether the issue asks for a failure and does not name it, so that any accident would do.
fn is_any_failure(claim: &Claim) -> bool {
    matches!(&claim.what, Said::Raises { exception, .. } if exception.kind.is_empty())
}

fn shown_now(base: Option<&Outcome>, outcome: &Outcome, number: usize, claim: &Claim, form: &str) -> Now {
    let Said::Prints(text) = &claim.what else {
        return Now::Present;
    };
    if let Some(raised) = &outcome.raised {
        return Now::Other(described(raised));
    }
    let now = text_in(outcome, form);
    let still = match base.and_then(|base| text_in(base, form)) {
        _ if form == WITHIN => is_line_of(&outcome.printed, text),
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

/// Finds an exception raised where the base raised none, unless the issue asks for it.
fn new_error(check: &Check, before: &[Outcome], after: &[Outcome]) -> Option<String> {
    let asked = |raised: &Exception| {
        check.claims.iter().any(|claim| {
            claim.stance == Stance::Right
                && matches!(&claim.what, Said::Raises { exception, .. } if raised.is_like(exception))
        })
    };
    let raised_before = |at: Place| {
        before
            .iter()
            .any(|outcome| place(outcome) == at && outcome.raised.is_some())
    };
    let new = |outcome: &&Outcome| {
        outcome.raised.as_ref().is_some_and(|raised| !asked(raised)) && !raised_before(place(outcome))
    };
    after
        .iter()
        .find(new)
        .and_then(|outcome| outcome.raised.as_ref())
        .map(described)
}

/// Returns the grade of a text of the issue that no statement of the base shows and one of the changed tree does.
fn appeared(check: &Check, before: &[Outcome], after: &[Outcome]) -> Option<Grade> {
    let mut found = None;
    for (number, claim) in check.claims.iter().enumerate() {
        let is_text = matches!(&claim.what, Said::Prints(text) if normal(text).len() > 1);
        let met = |outcomes: &[Outcome]| {
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

fn described(raised: &Exception) -> String {
    format!("{}: {}", raised.kind, raised.message)
        .chars()
        .take(300)
        .collect()
}
