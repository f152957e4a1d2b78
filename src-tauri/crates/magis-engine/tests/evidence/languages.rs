//! Examples of issues, and tests written out of them, in other languages than Python, in a run.

use super::{checks, solve, with_tests, wrong_then_right};
use crate::environment::TestEnvironment;
use magis_core::{BugCheck, CheckSource, Grade, IssueChecks, RunEvent, RunId, TestLine, TestsMode};
use magis_engine::repository::BaseChoice;
use magis_engine::tests::IsolationTerm;
use magis_engine::{Magis, SolveRequest};
use magis_llm::ScriptedModel;

/// Returns a repository that holds these files and no others; those below `node_modules` are installed there.
fn repository_of(files: &[(&str, &str)]) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.git(&["rm", "-rq", "."]);
    let ignored = (".gitignore", "/node_modules\n/target\n");
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
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..wish
    };
    let (run, _) = solve(&magis, wish, model).await;
    (magis, run)
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
    let reached: Vec<(&str, u32, &str)> = check
        .reached
        .iter()
        .map(|at| (at.path.as_str(), at.line, at.name.as_str()))
        .collect();
    assert_eq!(reached, [("index.js", 3, "add")]);
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
    let stop = tokio_util::sync::CancellationToken::new();
    let script = test.replace(", 3)", ", -1)");
    let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
    assert_eq!(tried.on_base.status, Some(0), "{tried:?}");
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
