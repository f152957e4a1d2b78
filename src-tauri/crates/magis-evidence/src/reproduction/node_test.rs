//! A check as a test for the project, in the style of Node's own runner.

use crate::reproduction::asserted::{Asserted, asserted, bound};
use crate::reproduction::check::Check;
use crate::reproduction::notation::notation;
use crate::reproduction::record::Observation;
use crate::reproduction::verdict::Reproduction;

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn node_test(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    let mut head: Vec<String> = match base {
        Observation::Steps { imports, .. } => imports.clone(),
        Observation::TimedOut | Observation::Broken(_) | Observation::Text(_) => Vec::new(),
    };
    let is_value = |text: &str| notation(check.command.language()).parses_as_value(text);
    let mut body: Vec<String> = Vec::new();
    for (statement, outcome, what) in asserted(check, base, reproduction) {
        let compared = |how: &str, value: &str| match bound(&statement, outcome) {
            Some(name) => vec![statement.clone(), format!("assert.{how}({name}, {value});")],
            None => vec![format!("assert.{how}({}, {value});", statement.trim_end_matches(';'))],
        };
        match what {
            _ if statement.starts_with("import ") => head.push(statement),
            Asserted::Gives(value) if is_value(value) => body.extend(compared("deepStrictEqual", value)),
            Asserted::DoesNotGive(value) if is_value(value) => body.extend(compared("notDeepStrictEqual", value)),
            Asserted::Ends(kind) => body.extend([format!("// Threw {kind} before."), statement]),
            Asserted::Shows(form) => body.extend([format!("// What is {form} here was wrong before."), statement]),
            Asserted::Gives(_) | Asserted::DoesNotGive(_) | Asserted::Nothing => body.push(statement),
        }
    }
    let is_module = head.iter().any(|line| line.starts_with("import "));
    let load = |name: &str| {
        if is_module {
            format!("import {name} from 'node:{name}';")
        } else {
            format!("const {name} = require('node:{name}');")
        }
    };
    let lines = [load("assert"), load("test")]
        .into_iter()
        .chain(head)
        .collect::<Vec<_>>();
    let is_async = body.iter().any(|line| line.contains("await "));
    let function = if is_async { "async () =>" } else { "() =>" };
    let title = title.replace('\\', "\\\\").replace('\'', "\\'");
    let body = body.iter().flat_map(|text| text.lines());
    let body: Vec<String> = body.map(|line| format!("  {line}")).collect();
    format!(
        "{}\n\ntest('{title}', {function} {{\n{}\n}});\n",
        lines.join("\n"),
        body.join("\n")
    )
}
