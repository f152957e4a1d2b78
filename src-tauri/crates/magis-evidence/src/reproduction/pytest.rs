//! A check as a test for the project, in the style of pytest, to be offered to a person.

use crate::reproduction::check::{About, Check, Command, Said};
use crate::reproduction::record::Observation;
use crate::reproduction::verdict::{Fault, Place, Reproduction};

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub fn pytest(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    let mut body = Vec::new();
    let mut head = Vec::new();
    match (&check.command, base) {
        (Command::Shell(lines), _) => shell(check, lines, reproduction, &mut head, &mut body),
        (Command::Python(_), Observation::Steps { imports, .. }) => {
            head.extend(imports.iter().cloned());
            steps(check, reproduction, &mut body);
        }
        (Command::Python(_), Observation::TimedOut | Observation::Broken(_) | Observation::Text(_)) => {
            steps(check, reproduction, &mut body);
        }
    }
    let body: Vec<String> = body
        .iter()
        .map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("    {line}")
            }
        })
        .collect();
    let head = if head.is_empty() {
        String::new()
    } else {
        format!("{}\n\n\n", head.join("\n"))
    };
    let parameters = if matches!(check.command, Command::Shell(_)) {
        "tmp_path"
    } else {
        ""
    };
    format!("{head}def test_{}({parameters}):\n{}\n", slug(title), body.join("\n"))
}

fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.take(7).collect::<Vec<_>>().join("_");
    if slug.is_empty() { "issue".to_owned() } else { slug }
}

fn steps(check: &Check, reproduction: &Reproduction, body: &mut Vec<String>) {
    for (number, source) in check.steps.iter().enumerate() {
        let at = |place: &Place| matches!(place, Place::Statement { step, .. } if *step as usize == number);
        let lone = !source.trim().contains('\n') && !source.contains('=') || is_expression(source);
        let mut written = false;
        for fault in &reproduction.faults {
            match fault {
                Fault::Raised {
                    at: place, exception, ..
                } if at(place) => body.push(format!("# Raised {} before.", exception.name())),
                Fault::Shown { claim, at: place, form } if at(place) && lone => {
                    let Some(Said::Prints(text)) = check.claims.get(*claim).map(|claim| &claim.what) else {
                        continue;
                    };
                    let show = match form.as_str() {
                        "str" | "repr" | "pretty" | "latex" => form.as_str(),
                        _ => continue,
                    };
                    body.push(format!("assert {show}({}) != {text:?}", source.trim()));
                    written = true;
                }
                Fault::Missing { claim } => {
                    let Some(claim) = check.claims.get(*claim) else {
                        continue;
                    };
                    let here =
                        matches!(claim.about, About::Step(step) | About::Line { step, .. } if step as usize == number);
                    if let (Said::Prints(text), true, true) = (&claim.what, here, lone) {
                        body.push(format!("assert {} == {}", source.trim(), text.trim()));
                        written = true;
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
        if !written {
            body.extend(source.lines().map(str::to_owned));
        }
    }
}

fn is_expression(source: &str) -> bool {
    let source = source.trim();
    source.ends_with(')')
        && !source.contains('\n')
        && source
            .find('=')
            .is_none_or(|at| source.find('(').is_some_and(|open| open < at))
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
            Fault::Raised { exception, .. } => body.push(format!("assert {} not in output", literal(exception.name()))),
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
