//! A check as a test for the project, in the style of pytest, to be offered to a person.

use crate::reproduction::asserted::is_stated_of;
use crate::reproduction::check::{Check, CheckCommand, Said};
use crate::reproduction::record::{Observation, StatementOutcome};
use crate::reproduction::verdict::{Fault, FaultPlace, Reproduction};

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn pytest(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    let (mut head, mut body) = (Vec::new(), Vec::new());
    match (&check.command, base) {
        (CheckCommand::Shell(lines), _) => shell(check, lines, reproduction, &mut head, &mut body),
        (_, Observation::Steps { outcomes, imports, .. }) => {
            head.extend(imports.iter().cloned());
            steps(check, outcomes, reproduction, &mut head, &mut body);
        }
        (_, Observation::TimedOut | Observation::Broken(_) | Observation::Text(_)) => {
            steps(check, &[], reproduction, &mut head, &mut body);
        }
    }
    // A star import is allowed at the top of a module alone.
    let is_star = |line: &String| line.starts_with("from ") && line.ends_with(" import *");
    head.extend(body.iter().filter(|line| is_star(line)).cloned());
    body.retain(|line| !is_star(line));
    head.sort();
    head.dedup();
    let line = |line: &String| {
        if line.is_empty() {
            String::new()
        } else {
            format!("    {line}")
        }
    };
    let body = body
        .iter()
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let body: Vec<String> = body.map(|text| line(&text)).collect();
    let head = if head.is_empty() {
        String::new()
    } else {
        format!("{}\n\n\n", head.join("\n"))
    };
    let parameter = match &check.command {
        CheckCommand::Shell(_) => "tmp_path",
        _ if body.iter().any(|line| line.contains("capsys.")) => "capsys",
        _ => "",
    };
    format!("{head}def test_{}({parameter}):\n{}\n", slug(title), body.join("\n"))
}

pub(super) fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.take(7).collect::<Vec<_>>().join("_");
    if slug.is_empty() { "issue".to_owned() } else { slug }
}

/// Writes the steps, and an assertion at each statement where the base shows a fault.
fn steps(
    check: &Check,
    outcomes: &[StatementOutcome],
    reproduction: &Reproduction,
    head: &mut Vec<String>,
    body: &mut Vec<String>,
) {
    for (number, source) in check.steps.iter().enumerate() {
        let lines: Vec<&str> = source.lines().collect();
        let mut next = 0;
        for outcome in outcomes.iter().filter(|outcome| outcome.step as usize == number) {
            let (first, end) = (
                (outcome.line as usize).saturating_sub(1),
                (outcome.last_line as usize).min(lines.len()),
            );
            body.extend(
                lines
                    .get(next..first)
                    .unwrap_or_default()
                    .iter()
                    .map(|line| (*line).to_owned()),
            );
            let statement = lines.get(first..end).unwrap_or_default().join("\n");
            let last = if outcomes.last() == Some(outcome) {
                Last::Yes
            } else {
                Last::No
            };
            body.extend(statement_of(check, outcome, last, &statement, reproduction, head));
            next = end;
        }
        body.extend(
            lines
                .get(next..)
                .unwrap_or_default()
                .iter()
                .map(|line| (*line).to_owned()),
        );
    }
}

/// Whether a statement is the last one of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

/// Returns the lines of one statement, with what is asserted of it.
fn statement_of(
    check: &Check,
    outcome: &StatementOutcome,
    last: Last,
    statement: &str,
    reproduction: &Reproduction,
    head: &mut Vec<String>,
) -> Vec<String> {
    let at = FaultPlace::Statement {
        step: outcome.step,
        statement: outcome.statement,
    };
    let text_of = |claim: usize| match check.claims.get(claim).map(|claim| &claim.what) {
        Some(Said::Prints(text)) => text.trim().to_owned(),
        _ => String::new(),
    };
    let plain: Vec<String> = statement.lines().map(str::to_owned).collect();
    let value = statement.split("  #").next().unwrap_or(statement).trim();
    for fault in &reproduction.faults {
        match fault {
            Fault::Raised {
                at: place, exception, ..
            } if *place == at => {
                return [vec![format!("# Raised {} before.", exception.name())], plain].concat();
            }
            Fault::Shown { claim, at: place, form } if *place == at => {
                let wrong = literal(&squeezed(&text_of(*claim)));
                let bound = form.strip_prefix("bound_");
                let how = bound.unwrap_or(form).trim_end_matches("_ascii");
                if let Some((package, _)) = how.split_once('.') {
                    head.push(format!("import {package}"));
                }
                let call = if how == "repr" || how == "str" || how.contains('.') {
                    how
                } else {
                    "str"
                };
                let assertion = |value: &str| format!("assert \" \".join({call}({value}).split()) != {wrong}");
                return match (bound, form.starts_with("printed")) {
                    (Some(_), _) => {
                        let name = statement.split('=').next().unwrap_or_default().trim().to_owned();
                        [plain, vec![assertion(&name)]].concat()
                    }
                    (None, true) => {
                        let printed = format!("assert \" \".join(capsys.readouterr().out.split()) != {wrong}");
                        [vec!["capsys.readouterr()".to_owned()], plain, vec![printed]].concat()
                    }
                    (None, false) => vec![assertion(value)],
                };
            }
            Fault::Missing { claim } => {
                let is_here = is_stated_of(check, *claim, outcome, last == Last::Yes);
                if let (true, Some(Said::Raises { exception, .. })) =
                    (is_here, check.claims.get(*claim).map(|claim| &claim.what))
                {
                    head.push("import pytest".to_owned());
                    let kind = if exception.kind.is_empty() {
                        "Exception"
                    } else {
                        exception.name()
                    };
                    let inside = plain.iter().map(|line| format!("    {line}"));
                    return [vec![format!("with pytest.raises({kind}):")], inside.collect()].concat();
                }
                if is_here && !outcome.forms.is_empty() {
                    return vec![format!("assert {value} == {}", text_of(*claim))];
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
    plain
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shell(check: &Check, lines: &str, reproduction: &Reproduction, head: &mut Vec<String>, body: &mut Vec<String>) {
    head.push("import subprocess".to_owned());
    for file in &check.files {
        body.push(format!("path = tmp_path / {:?}", file.path));
        body.push("path.parent.mkdir(parents=True, exist_ok=True)".to_owned());
        body.push(format!("path.write_text({})", literal(&file.text)));
    }
    body.push(format!(
        "run = subprocess.run({}, shell=True, cwd=tmp_path, capture_output=True, text=True)",
        literal(lines)
    ));
    body.push("output = run.stdout + run.stderr".to_owned());
    for fault in &reproduction.faults {
        match fault {
            Fault::Raised { claim, exception, .. } => {
                let sign = match check.claims.get(*claim).map(|claim| &claim.what) {
                    Some(Said::Raises { prefix, .. }) if !prefix.is_empty() && prefix != "E" => prefix,
                    _ => exception.name(),
                };
                body.push(format!("assert {} not in output", literal(sign)));
            }
            Fault::Lines { lines, .. } => body.extend(
                lines
                    .iter()
                    .map(|line| format!("assert {} not in output", literal(line))),
            ),
            Fault::Missing { claim } => {
                if let Some(Said::Prints(text)) = check.claims.get(*claim).map(|claim| &claim.what) {
                    body.extend(
                        text.lines()
                            .filter(|line| !line.trim().is_empty())
                            .map(|line| format!("assert {} in output", literal(line.trim()))),
                    );
                }
            }
            Fault::Shown { .. } | Fault::Assertion { .. } | Fault::Hung { .. } | Fault::Unlike { .. } => {}
        }
    }
}

/// A string of JSON is one of Python.
fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
