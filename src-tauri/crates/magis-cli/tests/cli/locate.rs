//! `magis locate` from outside, without a model.

use crate::support::{Answer, Program};
use magis_testkit::FixtureRepo;
use serde_json::Value;
use std::io::Write as _;
use std::process::Stdio;

const ISSUE: &str = "total() forgets the last day\n\nWith two entries `total` gives the first one only.";

/// Three files, of which one has what the issue speaks of.
fn repository() -> FixtureRepo {
    let repository = FixtureRepo::new();
    repository
        .write(
            "ledger/totals.py",
            "class Ledger:\n    def total(self, entries):\n        return sum(entries[:-1])\n",
        )
        .write("ledger/report.py", "def render(rows):\n    return str(rows)\n")
        .write("notes.txt", "nothing to see\n")
        .commit("First");
    repository
}

fn locate(program: &Program, repository: &FixtureRepo, more: &[&str]) -> Answer {
    let issue = program.file("issue.md", ISSUE);
    let root = repository.root().to_str().unwrap();
    let arguments = ["locate", "--repo", root, "--issue", &issue];
    program.run(arguments.iter().chain(more))
}

fn json(answer: &Answer) -> Value {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    serde_json::from_str(&answer.out).expect("it prints JSON")
}

#[test]
fn the_file_and_the_function_that_an_issue_names_come_first_with_the_reason() {
    let (program, repository) = (Program::new(), repository());
    let answer = locate(&program, &repository, &["--json"]);
    let found = json(&answer);
    assert_eq!(answer.err, "");
    assert_eq!(found["files"][0]["path"], "ledger/totals.py");
    let kinds: Vec<&Value> = found["files"][0]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|why| &why["kind"])
        .collect();
    assert!(kinds.iter().any(|kind| *kind == "defines_name"), "{kinds:?}");
    let symbol = &found["symbols"][0];
    assert_eq!(
        (
            &symbol["path"],
            &symbol["name"],
            &symbol["first_line"],
            &symbol["last_line"]
        ),
        (&"ledger/totals.py".into(), &"Ledger.total".into(), &2.into(), &3.into())
    );
    assert_eq!(found["considered"], 3);
    assert!(found["files"][0]["model"].is_null(), "nobody asked a model");
}

#[test]
fn people_get_a_page_without_colour_in_a_pipe_and_with_colour_on_demand() {
    let (program, repository) = (Program::new(), repository());
    let plain = locate(&program, &repository, &["--top", "1"]);
    assert_eq!((plain.code, plain.err.as_str()), (Some(0), ""));
    for part in [
        "Files, of 3 files in HEAD",
        "ledger/totals.py",
        "defines Ledger.total",
        ":2-3 Ledger.total",
    ] {
        assert!(plain.out.contains(part), "{part:?} is missing in {}", plain.out);
    }
    assert!(
        !plain.out.contains("report.py"),
        "one file was asked for: {}",
        plain.out
    );
    assert!(!plain.out.contains('\u{1b}'), "{}", plain.out);
    let coloured = locate(&program, &repository, &["--color", "always"]);
    assert!(coloured.out.contains('\u{1b}'), "{}", coloured.out);
}

#[test]
fn an_issue_on_standard_input_is_read() {
    let (program, repository) = (Program::new(), repository());
    let root = repository.root().to_str().unwrap();
    let mut child = program
        .command(["locate", "--repo", root, "--issue", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(ISSUE.as_bytes()).unwrap();
    let found = json(&Answer::of(&child.wait_with_output().unwrap()));
    assert_eq!(found["files"][0]["path"], "ledger/totals.py");
}

#[test]
fn an_older_commit_is_looked_at_as_it_was() {
    let (program, repository) = (Program::new(), repository());
    repository.remove("ledger/totals.py").commit("Second");
    let paths = |more: &[&str]| -> Vec<String> {
        let found = json(&locate(&program, &repository, &[&["--json"], more].concat()));
        let files = found["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!paths(&[]).contains(&"ledger/totals.py".to_owned()));
    assert_eq!(paths(&["--at", "HEAD~1"])[0], "ledger/totals.py");
}

#[test]
fn what_was_changed_for_a_like_issue_before_is_evidence() {
    let (program, repository) = (Program::new(), repository());
    repository
        .write("ledger/report.py", "def render(rows):\n    return repr(rows)\n")
        .commit("Show the frobnicator properly");
    let issue = program.file("issue.md", "The frobnicator is not shown properly");
    let root = repository.root().to_str().unwrap();
    let found = json(&program.run(["locate", "--repo", root, "--issue", &issue, "--json"]));
    assert_eq!(found["files"][0]["path"], "ledger/report.py");
    assert_eq!(found["files"][0]["evidence"][0]["kind"], "past_commit");
}

#[test]
fn bad_input_is_said_with_what_to_do() {
    let (program, repository) = (Program::new(), repository());
    std::fs::create_dir(program.beside("plain")).unwrap();
    let (root, plain) = (repository.root().to_str().unwrap().to_owned(), program.beside("plain"));
    let (issue, empty) = (program.file("issue.md", ISSUE), program.file("empty.md", "\n\n"));
    let said = |repo: &str, issue: &str, more: &[&str]| {
        let answer = program.run(["locate", "--repo", repo, "--issue", issue].iter().chain(more));
        assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{answer:?}");
        program.neutral(&answer.err)
    };
    insta::assert_snapshot!(said(plain.to_str().unwrap(), &issue, &[]), @r"
    error: 'TMP/plain' is not inside a git repository
      what to do: Choose a folder of a git repository, or run 'git init' and commit once.
    ");
    insta::assert_snapshot!(said(&root, &empty, &[]), @"error: the issue is empty; paste its text");
    let unknown = said(&root, &issue, &["--at", "v99"]);
    assert!(unknown.contains("v99") && unknown.contains("what to do:"), "{unknown}");
    let model = said(&root, &issue, &["--model", "qwen2.5-coder-1.5b"]);
    assert!(model.contains("magis models fetch qwen2.5-coder-1.5b"), "{model}");
}
