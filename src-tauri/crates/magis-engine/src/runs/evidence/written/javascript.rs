//! Tests in JavaScript: scripts for Node that assert by `node:assert`.

use super::WrittenEnd;
use super::call::arguments;
use magis_syntax::{SourceLanguage, TopStatement, TopStatementKind, top_statements};

/// What says that the test itself is at fault.
const OWN_FAULTS: [&str; 7] = [
    "SyntaxError",
    "ReferenceError",
    "TypeError",
    "MODULE_NOT_FOUND",
    "ERR_MODULE_NOT_FOUND",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    "ERR_REQUIRE_ESM",
];
/// What is said of a name that the test takes for a function.
const NOT_CALLABLE: [&str; 2] = ["is not a function", "is not a constructor"];

/// An assertion of a script, as far as it is one of a value.
struct Assertion {
    /// Its first line and its last, from 1.
    lines: (usize, usize),
    value: String,
    /// What the value is compared with; empty where it is compared with nothing.
    expected: String,
}

/// Returns what each assertion compares with, empty for one that compares nothing; none where nothing is asserted, or something else than a value.
pub(super) fn expected(script: &str) -> Option<Vec<String>> {
    let all = assertions(script)?;
    (!all.is_empty()).then(|| all.into_iter().map(|assertion| assertion.expected).collect())
}

/// Reads how a test ended that failed: Node writes the error that nothing caught, and below it the frames, the innermost first.
pub(super) fn end(stderr: &str, script: &str) -> WrittenEnd {
    let lines: Vec<&str> = stderr.lines().collect();
    let mut numbered = lines.iter().enumerate().rev();
    let head = numbered.find_map(|(at, line)| Some((at, *line, error_of(line)?)));
    let Some((at, line, (name, code))) = head else {
        return WrittenEnd::broken(stderr);
    };
    let below = || lines.iter().skip(at + 1);
    let code = code.or_else(|| below().find_map(|line| line.trim_start().strip_prefix("code: '")?.split('\'').next()));
    let kind = match (name, code) {
        ("Error", Some(code)) => code,
        // The name alone says nothing.
        ("Error", None) => line,
        ("TypeError", _) if NOT_CALLABLE.iter().any(|words| line.contains(words)) => line,
        _ => name,
    };
    let asserted = |number: usize| {
        let all = assertions(script).unwrap_or_default();
        let found = all
            .into_iter()
            .find(|assertion| (assertion.lines.0..=assertion.lines.1).contains(&number))?;
        Some(format!("{} === {}", found.value, found.expected))
    };
    let place = below().find_map(|line| line_in_script(line));
    let line = place.map(|number| {
        let line = script.lines().nth(number.saturating_sub(1)).unwrap_or_default();
        asserted(number).unwrap_or_else(|| line.trim().to_owned())
    });
    WrittenEnd::Raised {
        kind: kind.trim_end().to_owned(),
        message: String::new(),
        by_the_test: false,
        line: line.unwrap_or_default(),
        is_own_fault: OWN_FAULTS.contains(&code.filter(|_| name == "Error").unwrap_or(name)),
    }
}

/// Returns the name of the error that a line begins to show, and its code: of `TypeError [ERR_X]: …`.
fn error_of(line: &str) -> Option<(&str, Option<&str>)> {
    let head = line.split_once(": ").map_or(line, |(head, _)| head);
    let head = head.trim_end().trim_end_matches(':');
    let (name, code) = match head.split_once(" [") {
        Some((name, code)) => (name, Some(code.strip_suffix(']')?)),
        None => (head, None),
    };
    let is_kind = name.ends_with("Error") || name.ends_with("Exception");
    (is_kind && name.starts_with(char::is_alphabetic) && name.chars().all(is_of_name)).then_some((name, code))
}

/// Returns the line of the script that a frame names: of `at file:///x/test_issue.mjs:3:8`.
fn line_in_script(frame: &str) -> Option<usize> {
    let place = frame.trim_start().strip_prefix("at ")?;
    let (_, place) = place.split_once("/test_issue.")?;
    place.split(':').nth(1)?.parse().ok()
}

/// Finds the assertions of a script; none where it does not parse, or asserts something else than a value.
fn assertions(script: &str) -> Option<Vec<Assertion>> {
    let statements = top_statements(SourceLanguage::JavaScript, script)?;
    let mut found = Vec::new();
    for (at, word) in script.match_indices("assert") {
        let (before, from) = script.split_at(at);
        let is_inside = |c: char| is_of_name(c) || matches!(c, '.' | ':' | '/' | '\'' | '"' | '`');
        let Some((function, behind)) = from.split_at(word.len()).1.split_once('(') else {
            continue;
        };
        let function = function.trim_end();
        let is_call =
            (function.is_empty() || function.starts_with('.')) && function.chars().all(|c| c == '.' || is_of_name(c));
        if before.ends_with(is_inside) || !is_call {
            continue;
        }
        let (arguments, length) = arguments(behind)?;
        let first = before.matches('\n').count() + 1;
        let more = behind.split_at(length).0.matches('\n').count();
        let (value, expected) = compared(function.rsplit('.').next()?, &arguments)?;
        found.push(Assertion {
            lines: (first, first + more),
            value: value.to_owned(),
            expected: bound(&statements, expected).to_owned(),
        });
    }
    Some(found)
}

/// Returns the value that an assertion is about and what it compares it with; none where it asserts something else.
fn compared<'s>(function: &str, arguments: &[&'s str]) -> Option<(&'s str, &'s str)> {
    match (function, arguments) {
        ("" | "ok", [condition, ..]) => {
            let sides = condition.split_once("===").or_else(|| condition.split_once("=="));
            Some(sides.map_or((*condition, ""), |(value, expected)| (value.trim(), expected.trim())))
        }
        ("equal" | "deepEqual" | "strictEqual" | "deepStrictEqual", [value, expected, ..]) => Some((*value, *expected)),
        _ => None,
    }
}

/// Returns the value that a statement of the script binds to a name, else the text itself.
fn bound<'s>(statements: &'s [TopStatement], text: &'s str) -> &'s str {
    let binds = |statement: &&TopStatement| matches!(&statement.kind, TopStatementKind::Binding(name) if name == text);
    let value = statements
        .iter()
        .find(binds)
        .and_then(|found| found.source.split_once('='));
    value.map_or(text, |(_, value)| value.trim().trim_end_matches(';').trim_end())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "import assert from 'node:assert';\nimport { add } from 'sums';\nassert.deepStrictEqual(\n  add(1, [2, 3]),\n  '6, or so',\n);\n";
    const FAILED: &str = "node:internal/process/promises:394\n      triggerUncaughtException(err, true /* fromPromise */);\n      ^\n\nAssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n'12,3' !== '6, or so'\n\n    at file:///x/test_issue.mjs:3:8\n    at ModuleJob.run (node:internal/modules/esm/module_job:343:25) {\n  generatedMessage: true,\n  code: 'ERR_ASSERTION',\n  actual: '12,3',\n  expected: '6, or so',\n  operator: 'deepStrictEqual'\n}\n\nNode.js v20.20.2\n";

    #[test]
    fn what_is_compared_with_is_the_second_argument_or_side() {
        let check = |script: &str| expected(script).map(|all| all.join(" | "));
        assert_eq!(check(SCRIPT).as_deref(), Some("'6, or so'"));
        assert_eq!(check("assert.strictEqual(f(')'), 3, 'why');").as_deref(), Some("3"));
        assert_eq!(
            check("assert(f({ a: 1 }) === 'b');\nassert.ok(g());").as_deref(),
            Some("'b' | ")
        );
        assert_eq!(
            check("const wanted = [1, 2];\nassert.deepEqual(f(), wanted);").as_deref(),
            Some("[1, 2]"),
            "a name stands for what it is bound to"
        );
        assert_eq!(check("console.log(f());"), None, "nothing is asserted");
        assert_eq!(check("assert.throws(() => f());"), None, "no value is asserted");
        assert_eq!(check("assert.strictEqual(f() 3);"), None, "it does not parse");
    }

    /// Returns kind and line of the error, and whether the test itself is at fault.
    fn read(stderr: &str) -> (String, String, bool) {
        match end(stderr, SCRIPT) {
            WrittenEnd::Raised {
                kind,
                line,
                is_own_fault,
                ..
            } => (kind, line, is_own_fault),
            WrittenEnd::Passed | WrittenEnd::TimedOut | WrittenEnd::Broken(_) => (String::new(), String::new(), false),
        }
    }

    #[test]
    fn an_assertion_that_fails_is_told_by_what_it_compares() {
        let (kind, line, is_own_fault) = read(FAILED);
        assert_eq!(
            (kind.as_str(), line.as_str(), is_own_fault),
            ("AssertionError", "add(1, [2, 3]) === '6, or so'", false)
        );
        assert_eq!(
            end(FAILED, SCRIPT).reason("it is 12,3").as_deref(),
            Some("add(1,[2,3])===6,orso")
        );
    }

    #[test]
    fn an_error_is_told_by_its_name_or_where_that_says_nothing_by_its_code_or_words() {
        let check = |head: &str, behind: &str| {
            read(&format!(
                "/x/a.js:1\n  throw x;\n  ^\n\n{head}\n    at f (/x/a.js:1:9)\n    at Object.<anonymous> (/x/test_issue.cjs:2:1){behind}\n\nNode.js v20.20.2\n"
            ))
        };
        let line = "import { add } from 'sums';";
        let told = |kind: &str, is_own_fault| (kind.to_owned(), line.to_owned(), is_own_fault);
        assert_eq!(check("RangeError: too far: 3", ""), told("RangeError", false));
        assert_eq!(check("Error: no such unit", ""), told("Error: no such unit", false));
        assert_eq!(
            check(
                "Error: Cannot find module 'sum'\nRequire stack:\n- /x/test_issue.cjs",
                " {\n  code: 'MODULE_NOT_FOUND',\n}"
            ),
            told("MODULE_NOT_FOUND", true)
        );
        assert_eq!(
            check("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'sum'", ""),
            told("ERR_MODULE_NOT_FOUND", true)
        );
        assert_eq!(
            check("TypeError: sum is not a function", ""),
            told("TypeError: sum is not a function", true)
        );
        assert_eq!(
            check("ReferenceError: sum is not defined", ""),
            told("ReferenceError", true)
        );
    }

    #[test]
    fn a_test_that_does_not_load_what_it_needs_is_not_kept() {
        let missing = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'sum' imported from /x/test_issue.mjs\n    at f (node:internal/x:1:2)\n";
        assert_eq!(end(missing, SCRIPT).reason("An Error is thrown"), None);
        let called = "TypeError: sum is not a function\n    at file:///x/test_issue.mjs:3:1\n";
        assert_eq!(end(called, SCRIPT).reason("A TypeError is thrown"), None);
        assert!(
            end(called, SCRIPT)
                .reason("It says TypeError: sum is not a function")
                .is_some()
        );
    }
}
