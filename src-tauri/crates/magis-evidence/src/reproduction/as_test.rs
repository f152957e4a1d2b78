//! A check as a test for the project, to be offered to a person.

use crate::commands::{JavaScriptRunner, PythonRunner, TestRunner};
use crate::reproduction::check::{Check, CheckCommand};
use crate::reproduction::javascript_test::{JavaScriptStyle, javascript_test};
use crate::reproduction::packages::ProjectInUse;
use crate::reproduction::python_test::{PythonStyle, python_test, wrapped};
use crate::reproduction::record::Observation;
use crate::reproduction::rust_script;
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

/// Writes a Python script that asserts what it wants as a test in the style of the project's runner; none where it cannot be written as one.
pub fn script_as_test(script: &str, title: &str, runner: Option<TestRunner>) -> Option<String> {
    wrapped(script, title, python_style(runner))
}

/// Writes code in Rust that asserts what it wants of a project as a test of Cargo; none where it does not parse.
pub fn rust_script_as_test(script: &str, project: &ProjectInUse, title: &str) -> Option<String> {
    rust_script::as_test(script, project, title)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, runner: PythonRunner, expected: Option<&str>) {
        let runner = Some(TestRunner::Python(runner));
        assert_eq!(
            script_as_test(script, "Sums are wrong", runner).as_deref(),
            expected,
            "{script}"
        );
    }

    #[test]
    fn a_script_that_asserts_becomes_a_test_of_the_runner() {
        let script = "from sums import add\n\ntotal = add(1, 2)\nassert total == 3\n";
        check(
            script,
            PythonRunner::Pytest,
            Some(
                "from sums import add\n\n\ndef test_sums_are_wrong():\n    total = add(1, 2)\n    assert total == 3\n",
            ),
        );
        check(
            script,
            PythonRunner::Unittest,
            Some(
                "from sums import add\nimport unittest\n\n\nclass TestSumsAreWrong(unittest.TestCase):\n    \
                 def test_sums_are_wrong(self):\n        total = add(1, 2)\n        assert total == 3\n",
            ),
        );
        let of_pytest = "def test_add():\n    assert add(1, 2) == 3\n";
        check(of_pytest, PythonRunner::Pytest, Some(of_pytest));
        check(of_pytest, PythonRunner::Unittest, None);
        check("text = '''a\nb'''\nassert f(text)\n", PythonRunner::Pytest, None);
    }
}
