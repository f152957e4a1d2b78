//! Examples of issues, and tests written out of them, in other languages than Python, in a run.

use super::{checks, helper, solve, with_tests, wrong_then_right};
use crate::environment::{TestEnvironment, script_after};
use magis_core::{BugCheck, CheckSource, Grade, IssueChecks, RunEvent, RunId, TestLine, TestsMode};
use magis_engine::repository::BaseChoice;
use magis_engine::sandbox::{Limits, Sandbox};
use magis_engine::tests::{IsolationTerm, TestSelection, TestStatus};
use magis_engine::{Magis, SolveRequest};
use magis_llm::ScriptedModel;
use std::ops::ControlFlow;

/// Returns a repository that holds these files and no others; those below `node_modules` are installed there.
fn repository_of(files: &[(&str, &str)]) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.git(&["rm", "-rq", "."]);
    let ignored = (".gitignore", "node_modules\n/target\n");
    for (path, text) in files.iter().chain([&ignored]) {
        let path = environment.repository().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    environment.git(&["add", "."]);
    environment.commit(ignored.0, ignored.1);
    environment
}

/// Returns the events of a run on an issue, with the tests of the project.
async fn events(environment: &TestEnvironment, issue: &str) -> Vec<RunEvent> {
    let run = run_by(environment, issue, wrong_then_right()).await.1;
    environment.events(run)
}

/// Runs an issue with the tests of the project by a model; returns the engine that can run code as well.
async fn run_by(environment: &TestEnvironment, issue: &str, model: ScriptedModel) -> (Magis, RunId) {
    run_with(environment, issue, &[], model).await
}

/// The same, for which tests are given that fail.
async fn run_with(
    environment: &TestEnvironment,
    issue: &str,
    failing: &[&str],
    model: ScriptedModel,
) -> (Magis, RunId) {
    let (magis, wish) = with_tests(environment, issue, 1);
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    magis.allow_tests(repo, &command, IsolationTerm::Required).unwrap();
    let wish = SolveRequest {
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: command.line(),
                folder: command.folder,
            }),
            failing: failing.iter().map(|path| (*path).to_owned()).collect(),
            checks: IssueChecks::Make,
        },
        ..wish
    };
    let (run, _) = solve(&magis, wish, model).await;
    (magis, run)
}

/// Returns the functions that a check enters: file, line, name, and lines that never run.
fn reached(check: &BugCheck) -> Vec<(&str, u32, &str, &[u32])> {
    let told = check.reached.iter();
    told.map(|at| (at.path.as_str(), at.line, at.name.as_str(), at.missed.as_slice()))
        .collect()
}

/// Returns the checks of a run that show the fault, and what is remarked.
async fn shown(environment: &TestEnvironment, issue: &str) -> (Vec<BugCheck>, String) {
    let shown = events(environment, issue)
        .await
        .into_iter()
        .find_map(|event| match event {
            RunEvent::FaultShown { checks, remarks } => Some((checks, remarks.join("; "))),
            _ => None,
        });
    shown.unwrap()
}

#[tokio::test]
async fn an_example_in_javascript_is_run_with_the_packages_that_are_installed() {
    let environment = repository_of(&[
        (
            "package.json",
            r#"{"name": "sums", "scripts": {"test": "node --test"}}"#,
        ),
        (
            "index.js",
            "const plus = require('plus');\n\nexports.add = function add(a, b) {\n  return plus(a, -b);\n};\n",
        ),
        ("node_modules/plus/index.js", "module.exports = (a, b) => a + b;\n"),
    ]);
    let issue =
        "Wrong sum\n\n```js\nconst { add } = require('sums');\nadd(1, 2)\n```\n\nI get `-1`, but it should be `3`.\n";
    let (checks, remarks) = shown(&environment, issue).await;
    let [check] = checks.as_slice() else {
        panic!("{remarks}")
    };
    assert_eq!(check.grade, Grade::ExpectedResult);
    assert_eq!(reached(check), [("index.js", 3, "add", &[][..])]);
    assert!(
        check
            .as_test
            .as_ref()
            .unwrap()
            .contains("assert.deepStrictEqual(add(1, 2), 3);")
    );
}

#[tokio::test]
async fn a_test_that_a_qa_engineer_writes_in_javascript_is_run_by_node() {
    let environment = repository_of(&[
        (
            "package.json",
            r#"{"name": "sums", "scripts": {"test": "node --test"}}"#,
        ),
        ("index.js", "exports.add = function add(a, b) {\n  return a - b;\n};\n"),
    ]);
    let test =
        "const assert = require('node:assert');\nconst { add } = require('sums');\nassert.strictEqual(add(1, 2), 3);\n";
    let model = wrong_then_right().when("Write the shortest JavaScript script", test);
    let issue = "index.js: add is wrong, the sum of 1 and 2 should be 3";
    let (magis, run) = run_by(&environment, issue, model).await;
    let found = checks(&magis, run);
    let [check] = found.as_slice() else {
        panic!("{:?}", environment.events(run))
    };
    assert!(
        matches!(&check.source, CheckSource::Written { path } if path.as_str() == "test_issue.cjs"),
        "{check:?}"
    );
    assert!(check.on_base.stderr.text.contains("AssertionError"), "{check:?}");
    assert_eq!(reached(check), [("index.js", 1, "add", &[][..])]);
    let stop = tokio_util::sync::CancellationToken::new();
    let script = test.replace(", 3)", ", -1)");
    let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
    assert_eq!(tried.on_base.status, Some(0), "{tried:?}");
}

#[tokio::test]
async fn what_the_tests_depend_on_is_built_once() {
    let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let builds = "use std::{env, fs, path::Path, time};\n\nfn main() {\n    let now = time::SystemTime::now().duration_since(time::UNIX_EPOCH).unwrap();\n    let file = Path::new(&env::var(\"OUT_DIR\").unwrap()).join(\"stamp.rs\");\n    fs::write(file, format!(\"pub const STAMP: u128 = {};\", now.as_nanos())).unwrap();\n    println!(\"cargo:rerun-if-changed=build.rs\");\n}\n";
    let environment = repository_of(&[
        (
            "Cargo.toml",
            &format!(
                "{}\n[dev-dependencies]\nstamp = {{ path = \"stamp\" }}\n",
                manifest("sum-up")
            ),
        ),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
        (
            "tests/adds.rs",
            "#[test]\nfn adds_nothing() {\n    assert_eq!(sum_up::add(1, 0), 1);\n}\n\n#[test]\nfn says_when() {\n    panic!(\"built at {}.\", stamp::STAMP);\n}\n",
        ),
        ("stamp/Cargo.toml", &manifest("stamp")),
        ("stamp/build.rs", builds),
        (
            "stamp/src/lib.rs",
            "include!(concat!(env!(\"OUT_DIR\"), \"/stamp.rs\"));\n",
        ),
    ]);
    let issue = "Wrong sum\n\n```rust\nuse sum_up::add;\nadd(1, 2)\n```\n\nI get `-1`, but it should be `3`.\n";
    let model = script_after(
        ScriptedModel::new("adds").when_prefixed("pub fn add", "(a: i32, b: i32) -> i32 {\n    a + b\n}\n"),
    );
    let (magis, run) = run_by(&environment, issue, model).await;
    let state = magis.state(run).unwrap();
    let on_base = state.base_tests().and_then(|tests| tests.run.clone());
    let with_patch = state.patch_tests().and_then(|tests| tests.tests.clone());
    let (Some(on_base), Some(with_patch)) = (on_base, with_patch) else {
        panic!("{:?}", environment.events(run))
    };
    let built_at = |text: &str| {
        let (_, rest) = text.split_once("built at ")?;
        rest.split('.').next().map(str::to_owned)
    };
    let first = built_at(&on_base.stdout.text);
    assert!(first.is_some(), "{on_base:?}");
    assert_eq!(built_at(&with_patch.run.stdout.text), first);
}

#[tokio::test]
async fn a_test_that_a_qa_engineer_writes_in_rust_is_run_by_cargo() {
    let manifest = "[package]\nname = \"sum-up\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let environment = repository_of(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
    ]);
    let test = "use sum_up::add;\n\nfn main() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let model = wrong_then_right().when("Write the shortest Rust script", test);
    let issue = "src/lib.rs: add is wrong, the sum of 1 and 2 should be 3";
    let (magis, run) = run_by(&environment, issue, model).await;
    let found = checks(&magis, run);
    let [check] = found.as_slice() else {
        panic!("{:?}", environment.events(run))
    };
    assert!(
        matches!(&check.source, CheckSource::Written { path } if path.as_str() == "test_issue.rs"),
        "{check:?}"
    );
    assert!(
        check.on_base.stderr.text.contains("assertion `left == right` failed"),
        "{check:?}"
    );
    let as_test = check.as_test.as_deref().unwrap();
    assert!(as_test.contains("#[test]\nfn "), "{as_test}");
    let stop = tokio_util::sync::CancellationToken::new();
    for (script, passes) in [
        (test.replace(", 3)", ", -1)"), true),
        ("assert_eq!(add(1, 2), -1);\n".to_owned(), true),
        (
            "use super::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), -1);\n}\n".to_owned(),
            true,
        ),
        ("assert_eq!(add(1, 2), 3);\n".to_owned(), false),
    ] {
        let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
        assert_eq!(tried.on_base.status == Some(0), passes, "{tried:?}");
    }
}

#[tokio::test]
async fn packages_of_a_workspace_have_what_each_has_installed_for_itself() {
    let test = |package: &str| {
        format!(
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst plus = require('{package}');\n\n\
             test('{package}', () => {{\n  assert.strictEqual(plus(1, 2), 3);\n}});\n"
        )
    };
    let (of_one, of_two) = (test("plus"), test("sum"));
    let installed = "module.exports = (a, b) => a + b;\n";
    let environment = repository_of(&[
        (
            "package.json",
            r#"{"name": "sums", "private": true, "workspaces": ["packages/*"], "scripts": {"test": "node --test"}}"#,
        ),
        ("packages/one/package.json", r#"{"name": "one"}"#),
        ("packages/one/test/plus.test.js", of_one.as_str()),
        ("packages/one/node_modules/plus/index.js", installed),
        ("packages/two/package.json", r#"{"name": "two"}"#),
        ("packages/two/test/sum.test.js", of_two.as_str()),
        ("packages/two/node_modules/sum/index.js", installed),
    ]);
    let magis = &environment.magis;
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    assert_eq!(command.folder, "");
    let sandbox = Sandbox::confined(helper()).await.unwrap();
    let mut progress = |_: usize| ControlFlow::<()>::Continue(());
    let checkout = magis.check_out(repo, &BaseChoice::Head, sandbox, &mut progress);
    let checkout = checkout.unwrap().unwrap();
    let run = checkout.run_tests(&command, TestSelection::Whole, &[], Limits::default());
    let results = run.await.unwrap().results.unwrap();
    let is_passed = |name: &str| {
        let mut tests = results.tests.iter();
        tests.any(|(test, outcome)| test.name == name && outcome.status == TestStatus::Passed)
    };
    assert!(is_passed("plus") && is_passed("sum"), "{results:?}");
}

/// Runs failing tests of a small project in JavaScript, and returns what they are seen to enter.
async fn reached_by_tests(code: (&str, &str), test: &str) -> Vec<String> {
    let manifest = r#"{"name": "sums", "scripts": {"test": "node --test"}}"#;
    let path = "test/add.test.js";
    let environment = repository_of(&[("package.json", manifest), code, (path, test)]);
    let (magis, run) = run_with(&environment, "add is wrong", &[path], wrong_then_right()).await;
    let found = checks(&magis, run);
    let [check] = found.as_slice() else {
        panic!("{:?}", environment.events(run))
    };
    assert!(matches!(check.source, CheckSource::Given { .. }), "{check:?}");
    reached(check).iter().map(|at| format!("{at:?}")).collect()
}

#[tokio::test]
async fn failing_tests_in_javascript_are_seen_to_enter_functions_and_to_pass_by_lines() {
    let code = "exports.add = function add(a, b) {\n  if (a === 0) {\n    return b;\n  }\n  return a - b;\n};\n\nexports.other = function other() {\n  return 1;\n};\n";
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('..');\n\ntest('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n";
    let reached = reached_by_tests(("index.js", code), test).await;
    assert_eq!(reached, [r#"("index.js", 1, "add", [3])"#]);
}

#[tokio::test]
async fn of_javascript_that_is_made_out_of_other_files_it_is_not_told_what_is_entered() {
    let code = "exports.add = (a, b) => a - b;\n";
    let compiled = "const test = require('node:test');\nconst assert = require('node:assert');\nconst fs = require('node:fs');\nconst Module = require('node:module');\nconst index = require.resolve('..');\n\ntest('adds', () => {\n  const made = new Module(index);\n  made._compile('/* made */ ' + fs.readFileSync(index, 'utf8').replace('=>', '=> 0 +'), index);\n  assert.strictEqual(made.exports.add(1, 2), 3);\n});\n";
    assert_eq!(
        reached_by_tests(("index.js", code), compiled).await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn what_an_example_runs_through_is_kept_and_files_that_only_look_like_it_are_not() {
    let looks_alike = "// add plus minus sum\nconst add = require('..').add;\nadd(1, 2);\n";
    let environment = repository_of(&[
        (
            "package.json",
            r#"{"name": "sums", "main": "q.js", "scripts": {"test": "node --test"}}"#,
        ),
        (
            "q.js",
            "exports[['a', 'dd'].join('')] = function (a, b) {\n  return a - b;\n};\n",
        ),
        ("add.js", looks_alike),
        ("plus.js", looks_alike),
        ("minus.js", looks_alike),
        ("sum.js", looks_alike),
    ]);
    let issue = "Wrong sum: add, plus, minus\n\n```js\nconst { add } = require('sums');\nvar sum = add(1, 2);\nsum\n```\n\nI get `-1`, but it should be `3`.\n";
    let judged = events(&environment, issue)
        .await
        .into_iter()
        .find_map(|event| match event {
            RunEvent::RelevanceJudged { judgements } => Some(judgements),
            _ => None,
        });
    let judged = judged.unwrap();
    assert!(judged.len() > 1, "others are ranked, too");
    let kept: Vec<&str> = judged
        .iter()
        .filter(|file| file.kept)
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(kept, ["q.js"]);
}

#[tokio::test]
async fn an_example_in_rust_is_run_by_cargo() {
    let environment = repository_of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"sum-up\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
    ]);
    let issue = "Wrong sum\n\n```rust\nuse sum_up::add;\nadd(1, 2)\n```\n\nI get `-1`, but it should be `3`.\n";
    let (checks, remarks) = shown(&environment, issue).await;
    let [check] = checks.as_slice() else {
        panic!("{remarks}")
    };
    assert_eq!(check.grade, Grade::ExpectedResult);
    assert!(
        check
            .as_test
            .as_ref()
            .unwrap()
            .contains(r#"assert_eq!(format!("{:?}", add(1, 2)), "3");"#)
    );
}
