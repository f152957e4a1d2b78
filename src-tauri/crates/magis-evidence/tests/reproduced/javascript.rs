//! Checks of JavaScript projects, run by Node.

use crate::{SmallProject, write};
use insta::assert_snapshot;
use magis_core::RepoPath;
use magis_evidence::commands::{JavaScriptRunner, TestRunner};
use magis_evidence::reproduction::{Check, Marker, as_test, project_in_use, reproduces, tracebacks};
use magis_syntax::SourceLanguage;
use std::process::Command;

const COMMON: &str = r#"{"name": "calc", "main": "lib/index.js"}"#;
const MODULE: &str = r#"{"name": "calc", "type": "module", "exports": "./lib/index.js"}"#;

const CODE: &str = "lib/index.js";

fn project(manifest: &str, code: &str) -> SmallProject {
    SmallProject::new(&[("package.json", manifest), (CODE, code)])
}

/// What the first check of an issue says of a project, and of the same with other code.
fn check_verdict(issue: &str, manifest: &str, code: &str, changed: &str) -> String {
    project(manifest, code).verdict(issue, CODE, changed)
}

const WRONG_SUM: &str =
    "exports.add = function add(a, b) {\n  if (a === b) {\n    return 0;\n  }\n  return a - b;\n};\n";
const RIGHT_SUM: &str =
    "exports.add = function add(a, b) {\n  if (a === b) {\n    return 0;\n  }\n  return a + b;\n};\n";
const STATED: &str = "Wrong result of `add(1, 2)`\n\nWith\n\n```javascript\nvar add = require('calc').add;\nadd(1, 2)\n```\n\nI get `-1`, but it should be `3`.\n";

#[test]
fn a_value_that_an_issue_states_is_expected() {
    assert_snapshot!(check_verdict(STATED, COMMON, WRONG_SUM, RIGHT_SUM), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(STATED, COMMON, WRONG_SUM, "exports.add = () => 4"), @"ExpectedResult; Gone { grade: SomethingChanged, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(STATED, COMMON, RIGHT_SUM, RIGHT_SUM), @"
    the unchanged code shows nothing of what the issue says
    > var add = require('calc').add;
    > add(1, 2)
    3
    ");
}

#[test]
fn a_value_that_is_bound_and_then_shown_counts_where_it_is_shown() {
    let bound = STATED.replace("add(1, 2)\n```", "var sum = add(1, 2);\nsum\n```");
    assert_snapshot!(check_verdict(&bound, COMMON, WRONG_SUM, RIGHT_SUM), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 2, of: 2 }");
    assert_snapshot!(check_verdict(&bound, COMMON, WRONG_SUM, "exports.add = () => 4"), @"ExpectedResult; Gone { grade: SomethingChanged, gone: 2, of: 2 }");
}

#[test]
fn values_are_compared_as_values() {
    let issue = "It drops a key\n\n```js\nconst { parse } = require('calc')\nparse('a=1&b=2')\n```\n\nActual:\n\n```js\n{\"a\": \"1\"}\n```\n\nExpected:\n\n```js\n{\"a\": \"1\", \"b\": \"2\"}\n```\n";
    let parsing = |more: &str| {
        format!(
            "exports.parse = (text) => {{ const found = Object.create(null); for (const pair of text.split('&')) {{ const [key, value] = pair.split('='); {more} found[key] = value }} return found }}"
        )
    };
    assert_snapshot!(check_verdict(issue, COMMON, &parsing("if (key === 'b') continue;"), &parsing("")), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn names_that_an_example_does_not_bind_are_those_of_the_project() {
    let issue = "add() subtracts\n\n```js\nadd(1, 2) // returns -1, should be 3\ncalc.add(1, 2)\n```\n";
    assert_snapshot!(check_verdict(issue, COMMON, WRONG_SUM, RIGHT_SUM), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 2, of: 2 }");
}

#[test]
fn modules_promises_and_what_is_printed_later_are_seen() {
    let issue = "Wrong sum\n\n```mjs\nimport { add } from 'calc'\nconst sum = await Promise.resolve(add(1, 2))\nsetTimeout(() => console.log(`the sum is ${sum}`), 20)\n```\n\nThis prints:\n\n```\nthe sum is -1\n```\n\nExpected:\n\n```\nthe sum is 3\n```\n";
    let module = |code: &str| code.replace("exports.add =", "export const add =");
    assert_snapshot!(check_verdict(issue, MODULE, &module(WRONG_SUM), &module(RIGHT_SUM)), @"WrongOutputGone; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn exceptions_of_javascript_are_known_by_their_stack() {
    let issue = "Crash\n\n```js\nconst calc = require('calc')\ncalc.first(null)\n```\n\n```\nTypeError: Cannot read properties of null (reading '0')\n    at first (/home/me/calc/lib/index.js:2:14)\n    at Object.<anonymous> (/home/me/a.js:2:6)\n    at node:internal/main/run_main_module:23:47\n```\n";
    let wrong = "exports.first = function first(list) {\n  return list[0];\n};\n";
    let right = "exports.first = function first(list) {\n  return list && list[0];\n};\n";
    assert_snapshot!(check_verdict(issue, COMMON, wrong, right), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    let frames: Vec<String> = tracebacks(issue)[0]
        .frames
        .iter()
        .map(|frame| format!("{}:{} {}", frame.path, frame.line, frame.function))
        .collect();
    assert_snapshot!(frames.join("\n"), @r"
    node:internal/main/run_main_module:23 
    /home/me/a.js:2 Object.<anonymous>
    /home/me/calc/lib/index.js:2 first
    ");
    let project = project(COMMON, wrong);
    let check = project.first_check(issue);
    let session = project.run(&check).session(&check);
    let folder = project.root.path().canonicalize().unwrap();
    assert_snapshot!(session.replace(&*folder.to_string_lossy(), "ROOT"), @"
    > const calc = require('calc')
    > calc.first(null)
    Uncaught TypeError: Cannot read properties of null (reading '0')
        at Object.first (ROOT/lib/index.js:2:14)
    ");
}

#[test]
fn an_error_that_only_moves_to_the_next_statement_is_not_gone() {
    let issue = "Crash\n\n```js\nconst calc = require('calc')\nconst head = calc.first(null)\nhead.toFixed(1)\n```\n\n```\nTypeError: Cannot read properties of null (reading '0')\n    at first (/home/me/calc/lib/index.js:2:14)\n```\n";
    let wrong = "exports.first = function first(list) {\n  return list[0];\n};\n";
    let nothing = "exports.first = function first(list) {\n  return list ? list[0] : undefined;\n};\n";
    let right = "exports.first = function first(list) {\n  return list ? list[0] : 0;\n};\n";
    assert_snapshot!(check_verdict(issue, COMMON, wrong, nothing), @r#"ExceptionGone; OtherError { what: "TypeError: Cannot read properties of undefined (reading 'toFixed')" }"#);
    assert_snapshot!(check_verdict(issue, COMMON, wrong, right), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 2, of: 2 }");
}

#[test]
fn the_functions_that_an_example_enters_are_told_with_the_lines_that_never_run() {
    let project = project(COMMON, WRONG_SUM);
    let observed = project.run(&project.first_check(STATED));
    let told: Vec<String> = observed
        .reached()
        .iter()
        .map(|at| format!("{} {} {} {:?}", at.0, at.1, at.2, at.3))
        .collect();
    assert_eq!(told, ["lib/index.js 1 add [3]"]);
}

#[test]
fn a_check_is_offered_as_a_test_of_nodes_own_runner() {
    let project = project(COMMON, WRONG_SUM);
    let check = project.first_check(STATED);
    let base = project.run(&check);
    let test = as_test(&check, &base, &reproduces(&check, &base).unwrap(), "It's wrong", None);
    assert_snapshot!(test, @r"
    const assert = require('node:assert');
    const test = require('node:test');

    test('It\'s wrong', () => {
      var add = require('calc').add;
      assert.deepStrictEqual(add(1, 2), 3);
    });
    ");
    // It fails on the base, and passes with the right change.
    project.write("sum.test.js", &test.replace("'calc'", "'./lib'"));
    let passes = || project.succeeds(&["node", "--test", "sum.test.js"]);
    assert!(!passes());
    project.write(CODE, RIGHT_SUM);
    assert!(passes());
}

#[test]
fn a_check_is_offered_in_the_style_of_the_projects_runner() {
    let project = project(COMMON, WRONG_SUM);
    let check = project.first_check(STATED);
    let base = project.run(&check);
    let found = reproduces(&check, &base).unwrap();
    let test = |runner| {
        as_test(
            &check,
            &base,
            &found,
            "It's wrong",
            Some(TestRunner::JavaScript(runner)),
        )
    };
    assert_snapshot!(test(JavaScriptRunner::Jest), @r"
    test('It\'s wrong', () => {
      var add = require('calc').add;
      expect(add(1, 2)).toStrictEqual(3);
    });
    ");
    assert_snapshot!(test(JavaScriptRunner::Vitest), @r"
    import { expect, test } from 'vitest';

    test('It\'s wrong', () => {
      var add = require('calc').add;
      expect(add(1, 2)).toStrictEqual(3);
    });
    ");
    assert_snapshot!(test(JavaScriptRunner::Mocha), @r"
    const assert = require('node:assert');

    describe('It\'s wrong', () => {
      it('is fixed', () => {
        var add = require('calc').add;
        assert.deepStrictEqual(add(1, 2), 3);
      });
    });
    ");
}

#[test]
fn a_project_is_used_in_the_language_of_most_of_its_files() {
    let project = project(COMMON, WRONG_SUM);
    let found = project.in_use();
    assert_eq!(
        (found.language, found.packages),
        (SourceLanguage::JavaScript, vec!["calc".to_owned()])
    );
    let paths = ["package.json", "a.js", "calc/__init__.py", "calc/core.py"].map(|path| RepoPath::new(path).unwrap());
    let mixed = project_in_use(&paths, &|_| Some(COMMON.to_owned()));
    assert_eq!(
        (mixed.language, mixed.packages),
        (SourceLanguage::Python, vec!["calc".to_owned()])
    );
}

#[test]
fn an_example_in_another_language_is_not_run() {
    let project = project(COMMON, WRONG_SUM);
    let issue = "It fails\n\n```python\nadd(1, 2)\n```\n\n```\n>>> add(1, 2)\n-1\n```\n";
    assert!(project.checks(issue).is_empty());
}

/// Runs a script that asserts what it wants on a project; returns what Node says of what goes wrong, empty where nothing does.
fn script_ends(project: &SmallProject, script: &str) -> String {
    let check = Check::of_node_script(script, Marker::new("0123456789abcdef0123").unwrap());
    let folder = tempfile::tempdir().unwrap();
    for file in &check.files {
        write(folder.path(), &file.path, &file.text);
    }
    let words = check.command.words("python3", project.root.path());
    let mut command = Command::new(&words[0]);
    let output = command.args(&words[1..]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn a_script_finds_the_project_under_its_own_name_and_by_its_paths() {
    let requiring = |from: &str, sum: u32| {
        format!(
            "const assert = require('node:assert');\nconst {{ add }} = require('{from}');\nassert.strictEqual(add(1, 2), {sum});\n"
        )
    };
    let common = project(COMMON, RIGHT_SUM);
    for from in ["calc", "./lib/index.js"] {
        assert_eq!(script_ends(&common, &requiring(from, 3)), "");
        let said = script_ends(&common, &requiring(from, 4));
        assert!(said.contains("AssertionError [ERR_ASSERTION]: "), "{said}");
        assert!(said.contains("/test_issue.cjs:3:"), "{said}");
    }
    let importing =
        "import assert from 'node:assert';\nimport { add } from 'calc';\nassert.deepStrictEqual(add(1, 2), 4);\n";
    let module = project(MODULE, "export const add = (a, b) => a + b;\n");
    let said = script_ends(&module, importing);
    assert!(said.contains("AssertionError [ERR_ASSERTION]: "), "{said}");
    assert!(said.contains("/test_issue.mjs:3:"), "{said}");
    assert_eq!(script_ends(&module, &importing.replace('4', "3")), "");
    let missing = script_ends(&common, &requiring("calk", 3));
    assert!(missing.contains("code: 'MODULE_NOT_FOUND'"), "{missing}");
}
