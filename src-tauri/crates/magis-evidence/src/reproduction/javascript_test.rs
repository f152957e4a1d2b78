//! A check as a test for the project in JavaScript, in the style of Node's own runner, Jest, Vitest or Mocha, to be offered
//! to a person.

use crate::reproduction::asserted::{Asserted, asserted, bound};
use crate::reproduction::check::Check;
use crate::reproduction::notation::notation;
use crate::reproduction::record::Observation;
use crate::reproduction::verdict::Reproduction;

/// How the tests of a project are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JavaScriptStyle {
    /// `test` of `node:test`, and `node:assert`.
    Node,
    /// `test` and `expect`, which Jest defines everywhere.
    Jest,
    /// `test` and `expect`, which are imported from Vitest.
    Vitest,
    /// `describe` and `it`, which Mocha defines everywhere, and `node:assert`.
    Mocha,
}

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn javascript_test(
    check: &Check,
    base: &Observation,
    reproduction: &Reproduction,
    title: &str,
    style: JavaScriptStyle,
) -> String {
    let mut head: Vec<String> = match base {
        Observation::Steps { imports, .. } => imports.clone(),
        Observation::TimedOut | Observation::Broken(_) | Observation::Text { .. } => Vec::new(),
    };
    let is_value = |text: &str| notation(check.command.language()).parses_as_value(text);
    let mut body: Vec<String> = Vec::new();
    for (statement, outcome, what) in asserted(check, base, reproduction) {
        let compared = |comparison: Comparison, value: &str| match bound(&statement, outcome) {
            Some(name) => vec![statement.clone(), style.assertion(name, comparison, value)],
            None => vec![style.assertion(statement.trim_end_matches(';'), comparison, value)],
        };
        match what {
            _ if statement.starts_with("import ") => head.push(statement),
            Asserted::Gives(value) if is_value(value) => body.extend(compared(Comparison::Equal, value)),
            Asserted::DoesNotGive(value) if is_value(value) => body.extend(compared(Comparison::NotEqual, value)),
            Asserted::Ends(kind) => body.extend([format!("// Threw {kind} before."), statement]),
            Asserted::Shows(form) => body.extend([format!("// What is {form} here was wrong before."), statement]),
            Asserted::Gives(_) | Asserted::DoesNotGive(_) | Asserted::Nothing => body.push(statement),
        }
    }
    let is_module = head.iter().any(|line| line.starts_with("import "));
    let lines: Vec<String> = style.loads(is_module).into_iter().chain(head).collect();
    let head = if lines.is_empty() {
        String::new()
    } else {
        format!("{}\n\n", lines.join("\n"))
    };
    let is_async = body.iter().any(|line| line.contains("await "));
    let function = if is_async { "async () =>" } else { "() =>" };
    let title = title.replace('\\', "\\\\").replace('\'', "\\'");
    let body = body.iter().flat_map(|text| text.lines());
    match style {
        JavaScriptStyle::Node | JavaScriptStyle::Jest | JavaScriptStyle::Vitest => {
            let body: Vec<String> = body.map(|line| format!("  {line}")).collect();
            format!("{head}test('{title}', {function} {{\n{}\n}});\n", body.join("\n"))
        }
        JavaScriptStyle::Mocha => {
            let body: Vec<String> = body.map(|line| format!("    {line}")).collect();
            let body = body.join("\n");
            format!("{head}describe('{title}', () => {{\n  it('is fixed', {function} {{\n{body}\n  }});\n}});\n")
        }
    }
}

/// What is asserted of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
}

impl JavaScriptStyle {
    /// Returns the lines that load what every test of the style needs; in a module they are imports.
    fn loads(self, is_module: bool) -> Vec<String> {
        let load = |name: &str| {
            if is_module {
                format!("import {name} from 'node:{name}';")
            } else {
                format!("const {name} = require('node:{name}');")
            }
        };
        match self {
            Self::Node => vec![load("assert"), load("test")],
            Self::Jest => Vec::new(),
            // It cannot be loaded by `require`.
            Self::Vitest => vec!["import { expect, test } from 'vitest';".to_owned()],
            Self::Mocha => vec![load("assert")],
        }
    }

    /// Words an assertion of two expressions.
    fn assertion(self, value: &str, comparison: Comparison, expected: &str) -> String {
        match (self, comparison) {
            (Self::Node | Self::Mocha, Comparison::Equal) => format!("assert.deepStrictEqual({value}, {expected});"),
            (Self::Node | Self::Mocha, Comparison::NotEqual) => {
                format!("assert.notDeepStrictEqual({value}, {expected});")
            }
            (Self::Jest | Self::Vitest, Comparison::Equal) => format!("expect({value}).toStrictEqual({expected});"),
            (Self::Jest | Self::Vitest, Comparison::NotEqual) => {
                format!("expect({value}).not.toStrictEqual({expected});")
            }
        }
    }
}
