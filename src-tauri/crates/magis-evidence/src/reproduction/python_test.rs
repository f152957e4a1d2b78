//! A check as a test for the project in Python, in the style of pytest, unittest or Django, to be offered to a person.

use crate::reproduction::asserted::is_stated_of;
use crate::reproduction::check::{Check, CheckCommand, Said};
use crate::reproduction::record::{Observation, StatementOutcome};
use crate::reproduction::verdict::{Fault, FaultPlace, Reproduction};

/// How the tests of a project are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PythonStyle {
    /// Functions that assert and are given fixtures, as pytest runs them.
    Pytest,
    /// Methods of a `unittest.TestCase`.
    Unittest,
    /// Methods of Django's own test case without a database.
    Django,
}

/// Writes a check that reproduces as a test that fails on the base. `title` is the issue's.
pub(super) fn python_test(
    check: &Check,
    base: &Observation,
    reproduction: &Reproduction,
    title: &str,
    style: PythonStyle,
) -> String {
    let mut test = PythonTest::new(style);
    match (&check.command, base) {
        (CheckCommand::Shell(lines), _) => shell(check, lines, reproduction, &mut test),
        (_, Observation::Steps { outcomes, imports, .. }) => {
            test.head.extend(imports.iter().cloned());
            steps(check, outcomes, reproduction, &mut test);
        }
        (_, Observation::TimedOut | Observation::Broken(_) | Observation::Text { .. }) => {
            steps(check, &[], reproduction, &mut test);
        }
    }
    let parameter = match &check.command {
        CheckCommand::Shell(_) => "tmp_path",
        _ if test.body.iter().any(|line| line.contains("capsys.")) => "capsys",
        _ => "",
    };
    test.text(title, parameter)
}

/// Writes a script that asserts what it wants as a test; none where its lines cannot be indented. One that has functions of tests is a test already.
pub(super) fn wrapped(script: &str, title: &str, style: PythonStyle) -> Option<String> {
    if script.lines().any(|line| line.starts_with("def test")) {
        return (style == PythonStyle::Pytest).then(|| script.to_owned());
    }
    if script.contains("\"\"\"") || script.contains("'''") {
        return None;
    }
    let is_import =
        |line: &&str| (line.starts_with("import ") || line.starts_with("from ")) && !line.ends_with(['(', '\\']);
    let (imports, lines): (Vec<&str>, Vec<&str>) = script.trim().lines().partition(is_import);
    let lines = lines.into_iter().skip_while(|line| line.is_empty());
    let mut test = PythonTest::new(style);
    test.head.extend(imports.into_iter().map(str::to_owned));
    test.body.extend(lines.map(str::to_owned));
    Some(test.text(title, ""))
}

/// A test while it is written.
struct PythonTest {
    style: PythonStyle,
    /// Imports, in any order.
    head: Vec<String>,
    body: Vec<String>,
}

/// What is asserted of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    In,
    NotIn,
}

impl PythonStyle {
    /// Returns the import that every test of the style needs.
    fn import(self) -> Option<&'static str> {
        match self {
            Self::Pytest => None,
            Self::Unittest => Some("import unittest"),
            Self::Django => Some("from django.test import SimpleTestCase"),
        }
    }

    /// Returns what the class of a test is derived from; none where tests are functions.
    fn base(self) -> Option<&'static str> {
        match self {
            Self::Pytest => None,
            Self::Unittest => Some("unittest.TestCase"),
            Self::Django => Some("SimpleTestCase"),
        }
    }

    /// Words an assertion of two expressions.
    fn assertion(self, left: &str, comparison: Comparison, right: &str) -> String {
        let (operator, method) = match comparison {
            Comparison::Equal => ("==", "assertEqual"),
            Comparison::NotEqual => ("!=", "assertNotEqual"),
            Comparison::In => ("in", "assertIn"),
            Comparison::NotIn => ("not in", "assertNotIn"),
        };
        match self {
            Self::Pytest => format!("assert {left} {operator} {right}"),
            Self::Unittest | Self::Django => format!("self.{method}({left}, {right})"),
        }
    }
}

impl PythonTest {
    fn new(style: PythonStyle) -> Self {
        Self {
            style,
            head: style.import().map(str::to_owned).into_iter().collect(),
            body: Vec::new(),
        }
    }

    /// Returns the text of the file. `parameter` is the fixture that the test is given.
    fn text(self, title: &str, parameter: &str) -> String {
        let Self {
            style,
            mut head,
            mut body,
        } = self;
        // A star import is allowed at the top of a module alone.
        let is_star = |line: &String| line.starts_with("from ") && line.ends_with(" import *");
        head.extend(body.iter().filter(|line| is_star(line)).cloned());
        body.retain(|line| !is_star(line));
        head.sort();
        head.dedup();
        let indent = style.base().map_or("    ", |_| "        ");
        let line = |line: &str| {
            if line.is_empty() {
                String::new()
            } else {
                format!("{indent}{line}")
            }
        };
        let body: Vec<String> = body.iter().flat_map(|text| text.lines()).map(line).collect();
        let head = if head.is_empty() {
            String::new()
        } else {
            format!("{}\n\n\n", head.join("\n"))
        };
        let (slug, body) = (slug(title), body.join("\n"));
        match style.base() {
            Some(base) => {
                let name = class_name(&slug);
                format!("{head}class {name}({base}):\n    def test_{slug}(self):\n{body}\n")
            }
            None => format!("{head}def test_{slug}({parameter}):\n{body}\n"),
        }
    }

    fn add_import(&mut self, module: &str) {
        self.head.push(format!("import {module}"));
    }

    /// Returns the lines of a statement that should not print a text any more.
    fn does_not_print(&mut self, statement: Vec<String>, wrong: &str) -> Vec<String> {
        let (before, statement, printed) = match self.style {
            PythonStyle::Pytest => ("capsys.readouterr()", statement, "capsys.readouterr().out"),
            PythonStyle::Unittest | PythonStyle::Django => {
                self.add_import("contextlib");
                self.add_import("io");
                let before = "with contextlib.redirect_stdout(io.StringIO()) as printed:";
                (before, indented(&statement), "printed.getvalue()")
            }
        };
        let printed = format!("\" \".join({printed}.split())");
        let assertion = self.style.assertion(&printed, Comparison::NotEqual, wrong);
        [vec![before.to_owned()], statement, vec![assertion]].concat()
    }

    /// Returns the lines of a statement that should raise an exception.
    fn raises(&mut self, statement: &[String], exception: &str) -> Vec<String> {
        let raises = match self.style {
            PythonStyle::Pytest => {
                self.add_import("pytest");
                "pytest.raises"
            }
            PythonStyle::Unittest | PythonStyle::Django => "self.assertRaises",
        };
        [vec![format!("with {raises}({exception}):")], indented(statement)].concat()
    }
}

fn indented(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("    {line}")).collect()
}

/// Makes `TestCrashInAdd` of `crash_in_add`.
fn class_name(slug: &str) -> String {
    let capitalised = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    let words: String = slug.split('_').map(capitalised).collect();
    format!("Test{words}")
}

/// The most characters of the name of a test.
const LONGEST_NAME: usize = 60;

/// Makes the name of a test out of the title of an issue, of seven words at the most: `crash_in_add`.
pub fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut slug = words.take(7).collect::<Vec<_>>().join("_");
    slug.truncate(LONGEST_NAME);
    if slug.is_empty() { "issue".to_owned() } else { slug }
}

/// Writes the steps, and an assertion at each statement where the base shows a fault.
fn steps(check: &Check, outcomes: &[StatementOutcome], reproduction: &Reproduction, test: &mut PythonTest) {
    for (number, source) in check.steps.iter().enumerate() {
        let lines: Vec<&str> = source.lines().collect();
        let mut next = 0;
        for outcome in outcomes.iter().filter(|outcome| outcome.step as usize == number) {
            let (first, end) = (
                (outcome.line as usize).saturating_sub(1),
                (outcome.last_line as usize).min(lines.len()),
            );
            test.body.extend(
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
            let written = statement_of(check, outcome, last, &statement, reproduction, test);
            test.body.extend(written);
            next = end;
        }
        test.body.extend(
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
    test: &mut PythonTest,
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
                    test.add_import(package);
                }
                let call = if how == "repr" || how == "str" || how.contains('.') {
                    how
                } else {
                    "str"
                };
                let style = test.style;
                let assertion = |value: &str| {
                    let shown = format!("\" \".join({call}({value}).split())");
                    style.assertion(&shown, Comparison::NotEqual, &wrong)
                };
                return match (bound, form.starts_with("printed")) {
                    (Some(_), _) => {
                        let name = statement.split('=').next().unwrap_or_default().trim().to_owned();
                        [plain, vec![assertion(&name)]].concat()
                    }
                    (None, true) => test.does_not_print(plain, &wrong),
                    (None, false) => vec![assertion(value)],
                };
            }
            Fault::Missing { claim } => {
                let is_here = is_stated_of(check, *claim, outcome, last == Last::Yes);
                if let (true, Some(Said::Raises { exception, .. })) =
                    (is_here, check.claims.get(*claim).map(|claim| &claim.what))
                {
                    let kind = if exception.kind.is_empty() {
                        "Exception"
                    } else {
                        exception.name()
                    };
                    return test.raises(&plain, kind);
                }
                if is_here && !outcome.forms.is_empty() {
                    return vec![test.style.assertion(value, Comparison::Equal, &text_of(*claim))];
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

/// Writes lines of a shell, and what their output should and should not have.
fn shell(check: &Check, lines: &str, reproduction: &Reproduction, test: &mut PythonTest) {
    for module in ["os", "subprocess", "sys"] {
        test.add_import(module);
    }
    if test.style.base().is_some() {
        test.add_import("pathlib");
        test.add_import("tempfile");
        test.body.extend(
            [
                "folder = tempfile.TemporaryDirectory()",
                "self.addCleanup(folder.cleanup)",
                "tmp_path = pathlib.Path(folder.name)",
            ]
            .map(str::to_owned),
        );
    }
    let style = test.style;
    let lacks = |text: &str| style.assertion(&literal(text), Comparison::NotIn, "output");
    let body = &mut test.body;
    for file in &check.files {
        body.push(format!("path = tmp_path / {:?}", file.path));
        body.push("path.parent.mkdir(parents=True, exist_ok=True)".to_owned());
        body.push(format!("path.write_text({})", literal(&file.text)));
    }
    // In the folder of the test the project is found only where it is installed.
    body.push("env = {**os.environ, \"PYTHONPATH\": os.pathsep.join(sys.path)}".to_owned());
    body.push(format!(
        "run = subprocess.run({}, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)",
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
                body.push(lacks(sign));
            }
            Fault::Lines { lines, .. } => body.extend(lines.iter().map(|line| lacks(line))),
            Fault::Missing { claim } => {
                if let Some(Said::Prints(text)) = check.claims.get(*claim).map(|claim| &claim.what) {
                    body.extend(
                        text.lines()
                            .filter(|line| !line.trim().is_empty())
                            .map(|line| style.assertion(&literal(line.trim()), Comparison::In, "output")),
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
