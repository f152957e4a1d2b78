//! A check as a test for the project, as Cargo runs it.

use crate::reproduction::asserted::{Asserted, asserted, bound};
use crate::reproduction::check::Check;
use crate::reproduction::python_test::slug;
use crate::reproduction::record::Observation;
use crate::reproduction::standard;
use crate::reproduction::verdict::Reproduction;

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn rust_test(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    let mut head = standard::imports(&check.steps.join("\n"));
    let mut body: Vec<String> = Vec::new();
    for (statement, outcome, what) in asserted(check, base, reproduction) {
        // A value is known as it is shown.
        let compared = |how: &str, text: &str| {
            let name = bound(&statement, outcome);
            let shown = format!("{text:?}");
            let value = name.unwrap_or(statement.trim_end_matches(';'));
            let assertion = format!("assert_{how}!(format!(\"{{:?}}\", {value}), {shown});");
            if name.is_some() {
                vec![statement.clone(), assertion]
            } else {
                vec![assertion]
            }
        };
        match what {
            _ if statement.starts_with("use ") => head.push(statement),
            Asserted::Gives(value) => body.extend(compared("eq", value)),
            Asserted::DoesNotGive(value) => body.extend(compared("ne", value)),
            Asserted::Ends(_) => body.extend(["// Panicked before.".to_owned(), statement]),
            Asserted::Shows(form) => body.extend([format!("// What is {form} here was wrong before."), statement]),
            Asserted::Nothing => body.push(statement),
        }
    }
    let (returns, last) = returns_error(&body.join("\n"));
    body.extend((!last.is_empty()).then(|| last.to_owned()));
    let body = body.iter().flat_map(|text| text.lines());
    let body: Vec<String> = body.map(|line| format!("    {line}")).collect();
    let (head, name) = (head_of(&head), name_of(title));
    format!("{head}#[test]\nfn {name}(){returns} {{\n{}\n}}\n", body.join("\n"))
}

/// Returns what stands behind the parameters of a test with such a body, and its last expression: both empty where nothing in it hands an error on.
pub(super) fn returns_error(body: &str) -> (&'static str, &'static str) {
    let asks = |line: &str| line.contains(")?") || line.contains("?;") || line.trim_end().ends_with('?');
    if body.lines().any(asks) {
        (" -> Result<(), Box<dyn std::error::Error>>", "Ok(())")
    } else {
        ("", "")
    }
}

/// Returns imports as the head of a file.
pub(super) fn head_of(imports: &[String]) -> String {
    if imports.is_empty() {
        String::new()
    } else {
        format!("{}\n\n", imports.join("\n"))
    }
}

/// Returns the name of the test of an issue.
pub(super) fn name_of(title: &str) -> String {
    let slug = slug(title);
    // One word may be a keyword.
    if slug.contains('_') && !slug.starts_with(|first: char| first.is_ascii_digit()) {
        slug
    } else {
        format!("issue_{slug}")
    }
}
