//! A check as a test for the project, to be offered to a person.

use crate::commands::{JavaScriptRunner, PythonRunner, TestRunner};
use crate::reproduction::check::{Check, CheckCommand};
use crate::reproduction::javascript_test::{JavaScriptStyle, javascript_test};
use crate::reproduction::python_test::{PythonStyle, python_test};
use crate::reproduction::record::Observation;
use crate::reproduction::rust_test::rust_test;
use crate::reproduction::verdict::Reproduction;

/// Writes a check that reproduces as a test that fails on the base, in the style of the project's runner. Where that is not
/// known or is one of another language, it is a test of pytest, of Node's own runner, or of Cargo. `title` is the issue's.
pub fn as_test(
    check: &Check,
    base: &Observation,
    reproduction: &Reproduction,
    title: &str,
    runner: Option<TestRunner>,
) -> String {
    match check.command {
        CheckCommand::JavaScript(_) => javascript_test(check, base, reproduction, title, javascript_style(runner)),
        CheckCommand::Rust => rust_test(check, base, reproduction, title),
        CheckCommand::Python(_) | CheckCommand::Shell(_) => {
            python_test(check, base, reproduction, title, python_style(runner))
        }
    }
}

fn python_style(runner: Option<TestRunner>) -> PythonStyle {
    let Some(TestRunner::Python(runner)) = runner else {
        return PythonStyle::Pytest;
    };
    match runner {
        PythonRunner::Unittest => PythonStyle::Unittest,
        PythonRunner::DjangoSuite | PythonRunner::DjangoProject => PythonStyle::Django,
        // sympy's program runs functions, too; what tox and nox start is not known.
        PythonRunner::Pytest | PythonRunner::SympyTest | PythonRunner::Tox | PythonRunner::Nox => PythonStyle::Pytest,
    }
}

fn javascript_style(runner: Option<TestRunner>) -> JavaScriptStyle {
    let Some(TestRunner::JavaScript(runner)) = runner else {
        return JavaScriptStyle::Node;
    };
    match runner {
        JavaScriptRunner::Jest => JavaScriptStyle::Jest,
        JavaScriptRunner::Vitest => JavaScriptStyle::Vitest,
        JavaScriptRunner::Mocha => JavaScriptStyle::Mocha,
        // tape runs files of any kind; what a script starts is not known.
        JavaScriptRunner::Node | JavaScriptRunner::Tape | JavaScriptRunner::Script => JavaScriptStyle::Node,
    }
}
