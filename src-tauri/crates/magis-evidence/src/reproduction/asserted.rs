//! What a test made out of a check says of each statement.

use crate::reproduction::check::{About, Check, Said};
use crate::reproduction::programs::statements_of;
use crate::reproduction::record::{Observation, StatementOutcome};
use crate::reproduction::verdict::{Fault, FaultPlace, Reproduction};
use magis_syntax::TopStatement;

/// What a test says of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asserted<'c> {
    /// It raised this before, and has to end.
    Ends(&'c str),
    /// Its value, as the issue writes it.
    Gives(&'c str),
    /// What its value should not be.
    DoesNotGive(&'c str),
    /// Something was wrong in this way of showing it.
    Shows(&'c str),
    Nothing,
}

/// Returns the statements of a check's steps in their order, each with what is asserted of it where the base shows a fault; a step that does not parse
/// is one statement.
pub(super) fn asserted<'c>(
    check: &'c Check,
    base: &'c Observation,
    reproduction: &'c Reproduction,
) -> Vec<(String, Option<&'c StatementOutcome>, Asserted<'c>)> {
    let outcomes = match base {
        Observation::Steps { outcomes, .. } => outcomes.as_slice(),
        Observation::TimedOut | Observation::Broken(_) | Observation::Text { .. } => &[],
    };
    let mut found = Vec::new();
    for (step, source) in (0..).zip(&check.steps) {
        for (at, TopStatement { source, .. }) in (0..).zip(statements_of(check.command.language(), source)) {
            let outcome = outcomes
                .iter()
                .find(|outcome| (outcome.step, outcome.statement) == (step, at));
            let is_last = outcome.is_some() && outcome == outcomes.last();
            let what = outcome.map_or(Asserted::Nothing, |outcome| {
                of_statement(check, outcome, is_last, reproduction)
            });
            found.push((source, outcome, what));
        }
    }
    found
}

fn of_statement<'c>(
    check: &'c Check,
    outcome: &StatementOutcome,
    is_last: bool,
    reproduction: &'c Reproduction,
) -> Asserted<'c> {
    let at = FaultPlace::Statement {
        step: outcome.step,
        statement: outcome.statement,
    };
    let text_of = |claim: usize| match check.claims.get(claim).map(|claim| &claim.what) {
        Some(Said::Prints(text)) => Some(text.trim()),
        _ => None,
    };
    let stated = reproduction.expected.filter(|expected| expected.at == at);
    let stated = stated.and_then(|expected| text_of(expected.claim));
    for fault in &reproduction.faults {
        match fault {
            Fault::Raised {
                at: place, exception, ..
            } if *place == at => return Asserted::Ends(exception.name()),
            Fault::Shown { claim, at: place, form } if *place == at => {
                let is_value = !form.starts_with("printed") && form != "logged";
                return match (is_value, stated, text_of(*claim)) {
                    (true, Some(right), _) => Asserted::Gives(right),
                    (true, None, Some(wrong)) => Asserted::DoesNotGive(wrong),
                    _ => Asserted::Shows(form),
                };
            }
            Fault::Missing { claim } => {
                if let (true, Some(right)) = (is_stated_of(check, *claim, outcome, is_last), text_of(*claim)) {
                    return Asserted::Gives(right);
                }
            }
            Fault::Raised { .. }
            | Fault::Shown { .. }
            | Fault::Assertion { .. }
            | Fault::Lines { .. }
            | Fault::Unlike { .. }
            | Fault::Hung { .. } => {}
        }
    }
    Asserted::Nothing
}

/// Returns whether a claim is about a statement.
pub(super) fn is_stated_of(check: &Check, claim: usize, outcome: &StatementOutcome, is_last: bool) -> bool {
    match check.claims.get(claim).map(|claim| claim.about) {
        Some(About::Step(step)) => step == outcome.step,
        Some(About::Line { step, line }) => step == outcome.step && (outcome.line..=outcome.last_line).contains(&line),
        // Where the issue does not tell, its last statement is the one it comes to.
        Some(About::Any) => is_last,
        None => false,
    }
}

/// Returns the name that a statement binds, where the value of one was recorded.
pub(super) fn bound<'s>(statement: &'s str, outcome: Option<&StatementOutcome>) -> Option<&'s str> {
    outcome.filter(|outcome| outcome.forms.keys().any(|form| form.starts_with("bound_")))?;
    let head = statement.split(['=', ':']).next()?;
    head.split_whitespace().last()
}
