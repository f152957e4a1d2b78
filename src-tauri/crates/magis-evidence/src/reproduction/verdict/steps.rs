//! The verdict on what statements did.

mod changed;

pub(super) use changed::{described, instead, now};

use super::{ExpectedResult, Fault, FaultPlace};
use crate::reproduction::check::{About, Check, Claim, Said};
use crate::reproduction::compare::{has_same_words, is_shown, normal};
use crate::reproduction::notation::notation;
use crate::reproduction::record::StatementOutcome;
use crate::reproduction::traceback::Exception;
use crate::reproduction::wording::Stance;

/// Finds what the outcomes show as the issue says.
pub(super) fn faults(check: &Check, outcomes: &[StatementOutcome]) -> Vec<Fault> {
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
    raised.extend(unlike(check, outcomes));
    if raised.is_empty() {
        raised = stated(check, outcomes);
    }
    raised
}

/// Finds the value that an issue states as the result, where it states one and shows one fault: what is stated without a place is about that one.
pub(super) fn expected(check: &Check, faults: &[Fault]) -> Option<ExpectedResult> {
    let at = only_place(faults)?;
    let is_right = |(_, claim): &(usize, &Claim)| claim.stance == Stance::Right;
    let mut stated = check.claims.iter().enumerate().filter(is_right);
    let (claim, only) = stated.next().filter(|_| stated.next().is_none())?;
    let (About::Any, Said::Prints(text)) = (only.about, &only.what) else {
        return None;
    };
    is_value(check, text).then_some(ExpectedResult { claim, at })
}

/// Returns where the one fault shows. A value that is bound to a name and shown again counts where it is shown last.
fn only_place(faults: &[Fault]) -> Option<FaultPlace> {
    let mut places = faults.iter().filter_map(|fault| match fault {
        Fault::Raised { at, .. } => Some((None, *at)),
        Fault::Shown { claim, at, .. } => Some((Some(*claim), *at)),
        Fault::Assertion { .. }
        | Fault::Lines { .. }
        | Fault::Missing { .. }
        | Fault::Unlike { .. }
        | Fault::Hung { .. } => None,
    });
    let first = places.next()?;
    places
        .try_fold(first, |last, next| {
            let is_shown_again = last.0.is_some() && last.0 == next.0;
            (is_shown_again || last.1 == next.1).then_some(next)
        })
        .map(|(_, at)| at)
}

/// Returns whether a text is a value as the check's language writes it: no prose, no bare name, none of the steps.
fn is_value(check: &Check, text: &str) -> bool {
    let text = text.trim();
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_') && text.starts_with(|c: char| !c.is_numeric());
    let notation = notation(check.command.language());
    let is_word = is_name && !notation.is_value(text) && !notation.is_variant(text);
    !is_word && is_code(check, text)
}

/// Returns whether a text is one line of code, and none of the steps.
fn is_code(check: &Check, text: &str) -> bool {
    !text.contains('\n')
        && notation(check.command.language()).parses_as_value(text)
        && !check.steps.iter().any(|step| normal(step) == normal(text))
}

fn once_each_place(faults: &mut Vec<Fault>) {
    let mut places = Vec::new();
    faults.retain(|fault| match fault {
        Fault::Raised { at, .. } | Fault::Assertion { at } => {
            let is_new = !places.contains(at);
            places.push(*at);
            is_new
        }
        Fault::Shown { .. }
        | Fault::Lines { .. }
        | Fault::Missing { .. }
        | Fault::Hung { .. }
        | Fault::Unlike { .. } => true,
    });
}

fn place(outcome: &StatementOutcome) -> FaultPlace {
    FaultPlace::Statement {
        step: outcome.step,
        statement: outcome.statement,
    }
}

fn fails(outcome: &StatementOutcome) -> bool {
    outcome.assertion
        && outcome
            .raised
            .as_ref()
            .is_some_and(|raised| raised.name() == "AssertionError")
}

fn is_about(about: About, outcome: &StatementOutcome) -> bool {
    match about {
        About::Any => true,
        About::Step(step) => outcome.step == step,
        About::Line { step, line } => outcome.step == step && (outcome.line..=outcome.last_line).contains(&line),
    }
}

/// Finds where the exception is raised: where the issue shows it, else anywhere; else what is raised in its place.
fn raising<'a>(
    outcomes: &'a [StatementOutcome],
    claim: &Claim,
    shown: &Exception,
) -> impl Iterator<Item = (FaultPlace, Exception)> + 'a {
    let like = |outcome: &&StatementOutcome| errors(outcome).any(|error| error.is_like(shown));
    let mut found: Vec<&StatementOutcome> = outcomes
        .iter()
        .filter(like)
        .filter(|outcome| is_about(claim.about, outcome))
        .collect();
    if found.is_empty() {
        found = outcomes.iter().filter(like).collect();
    }
    // The code has moved on since the report, or lies behind it: where the issue shows an exception, another one.
    if found.is_empty() && claim.about != About::Any {
        let other = |outcome: &&StatementOutcome| {
            is_about(claim.about, outcome) && outcome.raised.as_ref().is_some_and(Exception::is_deliberate)
        };
        found = outcomes.iter().filter(other).collect();
    }
    let shown = shown.clone();
    let error = move |outcome: &'a StatementOutcome| {
        let like = errors(outcome).find(|error| error.is_like(&shown));
        like.or(outcome.raised.as_ref()).cloned()
    };
    found
        .into_iter()
        .filter_map(move |outcome| Some((place(outcome), error(outcome)?)))
}

/// What a statement raised, and what showing its value did.
fn errors(outcome: &StatementOutcome) -> impl Iterator<Item = &Exception> {
    outcome.raised.iter().chain(&outcome.unshown)
}

/// Finds where an output the issue shows is what a statement printed or gave.
fn showing(check: &Check, outcomes: &[StatementOutcome], number: usize, claim: &Claim, text: &str) -> Vec<Fault> {
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
        let form = form.or_else(|| (text.len() > 3 && outcome.equals.contains(&number)).then(|| VALUE.to_owned()));
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
/// The value is equal to what the issue shows, however it is written.
const VALUE: &str = "value";

fn text_in<'a>(outcome: &'a StatementOutcome, form: &str) -> Option<&'a str> {
    match form {
        PRINTED => Some(&outcome.printed),
        LOGGED => Some(&outcome.logged),
        form => outcome.forms.get(form).map(String::as_str),
    }
}

fn form_showing(outcome: &StatementOutcome, text: &str) -> Option<String> {
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
fn missing(check: &Check, outcomes: &[StatementOutcome]) -> Vec<Fault> {
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
            Said::Hangs | Said::Agrees => false,
        };
        if is_missing {
            found.push(Fault::Missing { claim: number });
        }
    }
    found
}

/// Finds two inputs, alike but for one word, whose outputs differ as shown, where the issue says they should not.
fn unlike(check: &Check, outcomes: &[StatementOutcome]) -> Vec<Fault> {
    let Some(claim) = check.claims.iter().position(|claim| claim.what == Said::Agrees) else {
        return Vec::new();
    };
    let is_shown_as_said = |outcome: &&StatementOutcome| {
        check.claims.iter().any(|claim| {
            let text = match &claim.what {
                Said::Prints(text) if claim.about == (About::Step(outcome.step)) => text,
                _ => return false,
            };
            form_showing(outcome, text).is_some()
        })
    };
    let shown: Vec<&StatementOutcome> = outcomes.iter().filter(is_shown_as_said).collect();
    for (at, one) in shown.iter().enumerate() {
        for other in &shown[at + 1..] {
            let sources = [one, other].map(|outcome| check.steps.get(outcome.step as usize).map_or("", String::as_str));
            if differs_in_one_word(sources) && !alike(one, other) {
                let at = (place(one), place(other));
                return vec![Fault::Unlike { claim, at }];
            }
        }
    }
    Vec::new()
}

fn differs_in_one_word([one, other]: [&str; 2]) -> bool {
    let words = |source: &str| -> Vec<String> {
        source
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    one.len() == other.len() && one.len() > 2 && one.iter().zip(&other).filter(|(a, b)| a != b).count() == 1
}

/// Returns whether two statements gave, or printed, the same.
fn alike(one: &StatementOutcome, other: &StatementOutcome) -> bool {
    one.raised == other.raised
        && normal(&one.printed) == normal(&other.printed)
        && one.forms.get("repr").map(|text| normal(text)) == other.forms.get("repr").map(|text| normal(text))
}

/// Finds a value that the prose states as the result, where all ran and no statement gives it.
fn stated(check: &Check, outcomes: &[StatementOutcome]) -> Vec<Fault> {
    let ran = outcomes.iter().all(|outcome| outcome.raised.is_none())
        && outcomes.iter().any(|outcome| !outcome.forms.is_empty());
    let is_stated = |(number, claim): &(usize, &Claim)| match &claim.what {
        Said::Prints(text) => {
            claim.stance == Stance::Right
                && claim.about == About::Any
                && is_code(check, text)
                && !outcomes.iter().any(|outcome| meets(outcome, *number, claim))
        }
        Said::Raises { .. } | Said::Hangs | Said::Agrees => false,
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
fn meets(outcome: &StatementOutcome, number: usize, claim: &Claim) -> bool {
    match &claim.what {
        Said::Prints(text) => {
            outcome.equals.contains(&number)
                || form_showing(outcome, text).is_some()
                || claim.stance == Stance::Right && outcome.forms.values().any(|shown| has_same_words(shown, text))
        }
        Said::Raises { exception, .. } => outcome.raised.as_ref().is_some_and(|raised| raised.is_like(exception)),
        Said::Hangs | Said::Agrees => false,
    }
}
