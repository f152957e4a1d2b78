//! A check as a test for the project, in the style of Node's own runner.

use crate::reproduction::check::{About, Check, Said};
use crate::reproduction::notation::notation;
use crate::reproduction::record::{Observation, StatementOutcome};
use crate::reproduction::verdict::{Fault, FaultPlace, Reproduction};
use magis_syntax::{SourceLanguage, top_statements};

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn node_test(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    let (outcomes, imports) = match base {
        Observation::Steps { outcomes, imports, .. } => (outcomes.as_slice(), imports.as_slice()),
        Observation::TimedOut | Observation::Broken(_) | Observation::Text(_) => (&[][..], &[][..]),
    };
    let (mut head, mut body): (Vec<String>, Vec<String>) = (imports.to_vec(), Vec::new());
    for (number, step) in (0..).zip(&check.steps) {
        let Some(statements) = top_statements(SourceLanguage::JavaScript, step) else {
            body.push(step.clone());
            continue;
        };
        for (at, statement) in (0..).zip(statements) {
            if statement.source.starts_with("import ") {
                head.push(statement.source);
                continue;
            }
            let outcome = outcomes
                .iter()
                .find(|outcome| (outcome.step, outcome.statement) == (number, at));
            let is_last = outcome.is_some() && outcome == outcomes.last();
            match outcome {
                Some(outcome) => body.extend(asserted(check, outcome, is_last, &statement.source, reproduction)),
                None => body.push(statement.source),
            }
        }
    }
    let is_module = head.iter().any(|line| line.starts_with("import "));
    let load = |name: &str, from: &str| {
        if is_module {
            format!("import {name} from '{from}';")
        } else {
            format!("const {name} = require('{from}');")
        }
    };
    let mut lines = vec![load("assert", "node:assert"), load("test", "node:test")];
    lines.append(&mut head);
    let is_async = body.iter().any(|line| line.contains("await "));
    let function = if is_async { "async () =>" } else { "() =>" };
    let title = title.replace('\\', "\\\\").replace('\'', "\\'");
    let body: Vec<String> = body
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| format!("  {line}"))
        .collect();
    format!(
        "{}\n\ntest('{title}', {function} {{\n{}\n}});\n",
        lines.join("\n"),
        body.join("\n")
    )
}

/// Returns one statement, with what is asserted of it where the base shows a fault.
fn asserted(
    check: &Check,
    outcome: &StatementOutcome,
    is_last: bool,
    statement: &str,
    reproduction: &Reproduction,
) -> Vec<String> {
    let at = FaultPlace::Statement {
        step: outcome.step,
        statement: outcome.statement,
    };
    let text_of = |claim: usize| match check.claims.get(claim).map(|claim| &claim.what) {
        Some(Said::Prints(text)) if notation(SourceLanguage::JavaScript).parses_as_value(text) => Some(text.trim()),
        _ => None,
    };
    let stated = reproduction.expected.filter(|expected| expected.at == at);
    let stated = stated.and_then(|expected| text_of(expected.claim));
    for fault in &reproduction.faults {
        match fault {
            Fault::Raised {
                at: place, exception, ..
            } if *place == at => {
                return vec![format!("// Threw {} before.", exception.name()), statement.to_owned()];
            }
            Fault::Shown { claim, at: place, form } if *place == at => {
                let right = stated.map(|right| ("deepStrictEqual", right));
                return match right.or(text_of(*claim).map(|wrong| ("notDeepStrictEqual", wrong))) {
                    Some(_) if form.starts_with("printed") || form == "logged" => printed(statement, form),
                    Some((how, value)) => compared(outcome, statement, how, value),
                    None => printed(statement, form),
                };
            }
            Fault::Missing { claim } => {
                let is_here = match check.claims.get(*claim).map(|claim| claim.about) {
                    Some(About::Step(step)) => step == outcome.step,
                    Some(About::Line { step, line }) => {
                        step == outcome.step && (outcome.line..=outcome.last_line).contains(&line)
                    }
                    // Where the issue does not tell, its last statement is the one it comes to.
                    Some(About::Any) => is_last,
                    None => false,
                };
                if let (true, Some(right)) = (is_here, text_of(*claim)) {
                    return compared(outcome, statement, "deepStrictEqual", right);
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
    vec![statement.to_owned()]
}

fn printed(statement: &str, form: &str) -> Vec<String> {
    vec![
        format!("// What is {form} here was wrong before."),
        statement.to_owned(),
    ]
}

fn compared(outcome: &StatementOutcome, statement: &str, how: &str, value: &str) -> Vec<String> {
    let is_bound = outcome.forms.keys().any(|form| form.starts_with("bound_"));
    let name = statement
        .split('=')
        .next()
        .and_then(|head| head.split_whitespace().last());
    match name.filter(|_| is_bound) {
        Some(name) => vec![statement.to_owned(), format!("assert.{how}({name}, {value});")],
        None => vec![format!("assert.{how}({}, {value});", statement.trim_end_matches(';'))],
    }
}
