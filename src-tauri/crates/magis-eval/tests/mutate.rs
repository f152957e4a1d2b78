//! Bugs that are made out of a project with passing tests: what stands in the set, and how patches are judged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use support::{CODE, magis_eval, make_bugs, values};

/// Returns a file of a repository at a commit.
fn at(repository: &Path, commit: &Value, file: &str) -> String {
    let name = format!("{}:{file}", commit.as_str().unwrap());
    let mut git = Command::new("git");
    let output = git.current_dir(repository).args(["show", &name]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bugs_are_made_told_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_bugs(folder, 2);
    let read = |name: &str| values(&std::fs::read_to_string(folder.join(name)).unwrap());
    let (set, red) = (read("set.jsonl"), read("set.red.jsonl"));
    assert_eq!((set.len(), red.len()), (2, 2));
    let repository = folder.join("work/repos/mutated+project");
    for (bug, red) in set.iter().zip(&red) {
        let issue = bug["problem_statement"].as_str().unwrap();
        assert!(issue.contains("Actual: ") && issue.contains("Expected: "), "{issue}");
        let failing: Vec<String> = serde_json::from_str(bug["FAIL_TO_PASS"].as_str().unwrap()).unwrap();
        assert!(!failing.is_empty());
        for test in failing {
            let name = test.rsplit(":: ").next().unwrap();
            assert!(!issue.contains(name) && !issue.contains("src/lib.rs"), "{issue}");
            let holds = |row: &Value| at(&repository, &row["base_commit"], "tests/calc.rs").contains(name);
            assert!(!holds(bug), "{name} judges, and is cut out");
            assert!(holds(red), "{name} is left in the second column");
        }
        assert_ne!(at(&repository, &bug["base_commit"], "src/lib.rs"), CODE);
    }

    let answers = [&set[0]["patch"], &json!("")];
    let answer = |(bug, patch): (&Value, &Value)| json!({ "instance_id": bug["instance_id"], "model_patch": patch });
    let answers: Vec<String> = set.iter().zip(answers).map(|pair| answer(pair).to_string()).collect();
    std::fs::write(folder.join("answers.jsonl"), answers.join("\n")).unwrap();
    let judged = magis_eval(
        folder,
        "mutate --judge answers.jsonl --set set.jsonl --work work --json",
    );
    let told = values(&String::from_utf8(judged.stdout).unwrap());
    let resolved: Vec<&Value> = told.iter().map(|one| &one["resolved"]).collect();
    assert_eq!(resolved, [&json!(true), &json!(false), &json!(1)], "{told:?}");
}
