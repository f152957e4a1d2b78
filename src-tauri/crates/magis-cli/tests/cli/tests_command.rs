//! `magis tests`: finding, allowing and running the tests of a repository.

use crate::past_run;
use crate::support::{Answer, Program};
use magis_core::{
    Base, BugCheck, CheckId, CheckSource, CommitId, ExcerptedOutput, Grade, IssueChecks, ProgramRun, RepoPath,
    RunEvent, RunRequest, TestLine, TestsMode, TreeId,
};
use magis_testkit::{FixtureRepo, fingerprint};
use serde_json::Value;

/// A library with a test that passes and one that fails.
fn repository() -> FixtureRepo {
    let repository = FixtureRepo::new();
    repository
        .write("ledger.py", "def total(entries):\n    return sum(entries[:-1])\n")
        .write(
            "tests/test_total.py",
            "import unittest\nfrom ledger import total\n\nclass Total(unittest.TestCase):\n    def test_nothing(self):\n        \
             self.assertEqual(total([]), 0)\n    def test_two_days(self):\n        self.assertEqual(total([1, 2]), 3)\n",
        )
        .write("tests/__init__.py", "")
        .write("tests/test_other.py", "import unittest\nclass Other(unittest.TestCase):\n    def test_it(self): pass\n")
        .commit("First");
    repository
}

fn tests(program: &Program, repository: &FixtureRepo, words: &[&str]) -> Answer {
    program.run(arguments(repository, words))
}

/// Returns the words that `magis tests` is started with.
fn arguments<'a>(repository: &'a FixtureRepo, words: &[&'a str]) -> Vec<&'a str> {
    let root = repository.root().to_str().unwrap();
    [&["tests", words[0], "--repo", root], &words[1..]].concat()
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).expect("it prints JSON")
}

#[test]
fn a_failing_test_is_told_with_its_text_and_the_repository_stays_as_it_is() {
    let (program, repository) = (Program::new(), repository());
    let before = fingerprint(repository.root());
    let answer = tests(&program, &repository, &["run", "--yes"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.out.contains("test_two_days"), "{answer:?}");
    assert!(answer.out.contains("AssertionError: 1 != 3"), "{answer:?}");
    assert!(
        answer.out.contains("2 passed, 1 failed, 0 errored, 0 skipped"),
        "{answer:?}"
    );
    assert!(answer.err.contains("python3 -m unittest"), "{answer:?}");
    assert_eq!(fingerprint(repository.root()), before);
    assert_eq!(std::fs::read_dir(program.data().join("scratch")).unwrap().count(), 0);
}

#[test]
fn a_command_is_shown_and_not_run_unless_it_is_allowed() {
    let (program, repository) = (Program::new(), repository());
    let answer = tests(&program, &repository, &["run"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("python3 -m unittest"), "{answer:?}");
    assert!(
        answer.err.contains("no network, none of your other files"),
        "{answer:?}"
    );
    assert!(answer.err.contains("give --yes"), "{answer:?}");
    assert_eq!(answer.out, "");
}

#[test]
fn what_was_allowed_is_remembered_for_this_command_until_it_is_forgotten() {
    let (program, repository) = (Program::new(), repository());
    let allowed = || json(&tests(&program, &repository, &["list", "--json"]))[0]["allowed"].clone();
    assert_eq!(allowed(), false);
    tests(&program, &repository, &["run", "--yes"]);
    assert_eq!(allowed(), true);
    assert_eq!(
        tests(&program, &repository, &["run", "tests/test_other.py"]).code,
        Some(0)
    );
    let other = tests(&program, &repository, &["run", "--test-cmd", "true"]);
    assert_eq!(other.code, Some(2), "another command is asked about: {other:?}");
    let forgotten = tests(&program, &repository, &["forget"]);
    assert!(forgotten.out.starts_with("1 permission forgotten"), "{forgotten:?}");
    assert_eq!(allowed(), false);
}

#[test]
fn tests_that_nothing_isolates_are_run_only_where_a_person_says_so() {
    let (program, repository) = (Program::new(), repository());
    let not_isolated = |words: &[&str]| program.run_without_isolation(arguments(&repository, words));
    let command = || json(&tests(&program, &repository, &["list", "--json"]))[0].clone();
    let refused = not_isolated(&["run", "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains("commands cannot be isolated from this machine"),
        "{refused:?}"
    );
    assert_eq!(refused.out, "");
    assert_eq!(command()["allowed"], false);

    // What was allowed isolated is allowed so alone.
    tests(&program, &repository, &["run", "--yes"]);
    let asked = not_isolated(&["run", "--without-isolation"]);
    assert_eq!(asked.code, Some(2), "{asked:?}");
    assert!(
        asked
            .err
            .contains("it can read and change all that you can, and use the network"),
        "{asked:?}"
    );
    assert_eq!(command()["without_isolation"], false);

    let agreed = not_isolated(&["run", "--without-isolation", "--yes"]);
    assert!(
        agreed.out.contains("2 passed, 1 failed, 0 errored, 0 skipped"),
        "{agreed:?}"
    );
    assert_eq!(command()["without_isolation"], true);
    let again = not_isolated(&["run", "--without-isolation", "tests/test_other.py"]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn results_are_told_test_by_test_as_json() {
    let (program, repository) = (Program::new(), repository());
    let answer = tests(
        &program,
        &repository,
        &["run", "--yes", "--json", "tests/test_total.py"],
    );
    let told = json(&answer);
    let status = |name: &str| {
        let tests = told["tests"].as_array().unwrap();
        let test = tests.iter().find(|test| test["test"].as_str().unwrap().ends_with(name));
        test.map(|test| test["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(status("test_two_days").as_deref(), Some("failed"), "{told:#}");
    assert_eq!(status("test_nothing").as_deref(), Some("passed"));
    assert_eq!(status("test_it"), None);
    assert_eq!(told["refused"], serde_json::json!([]));
}

#[test]
fn uncommitted_work_is_tested_where_it_is_asked_for() {
    let (program, repository) = (Program::new(), repository());
    repository.write("ledger.py", "def total(entries):\n    return sum(entries)\n");
    assert_eq!(tests(&program, &repository, &["run", "--yes"]).code, Some(1));
    assert_eq!(
        tests(&program, &repository, &["run", "--include-uncommitted"]).code,
        Some(0)
    );
}

#[test]
fn a_command_of_ones_own_is_run_and_its_output_shown() {
    let (program, repository) = (Program::new(), repository());
    let answer = tests(
        &program,
        &repository,
        &["run", "--yes", "--test-cmd", "ls | head -1; exit 7"],
    );
    assert_eq!(answer.code, Some(7), "{answer:?}");
    assert_eq!(answer.out, "ledger.py\n");
    assert!(answer.err.contains("ended with exit code 7"), "{answer:?}");
}

#[test]
fn tests_that_hang_or_want_a_network_say_so() {
    let (program, repository) = (Program::new(), repository());
    let hanging = tests(
        &program,
        &repository,
        &["run", "--yes", "--time", "1", "--test-cmd", "sleep 60"],
    );
    assert_eq!(hanging.code, Some(125), "{hanging:?}");
    assert!(hanging.err.contains("stopped after 1 s"), "{hanging:?}");
    let script = "python3 -c 'import socket; socket.create_connection((\"192.0.2.7\", 80))'";
    let calling = tests(&program, &repository, &["run", "--yes", "--test-cmd", script]);
    assert!(
        calling.err.contains("note: it tried to reach the network"),
        "{calling:?}"
    );
}

#[test]
fn a_repository_without_tests_says_what_to_do() {
    let program = Program::new();
    let repository = FixtureRepo::new();
    repository.write("notes.txt", "nothing\n").commit("First");
    let answer = tests(&program, &repository, &["run"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(
        answer.err.contains("no test command is found in this repository"),
        "{answer:?}"
    );
    assert!(answer.err.contains("--test-cmd"), "{answer:?}");
    let listed = tests(&program, &repository, &["list"]);
    assert!(listed.out.contains("give yours with --test-cmd"), "{listed:?}");
}

#[test]
fn a_file_that_is_no_test_is_refused() {
    let (program, repository) = (Program::new(), repository());
    let answer = tests(&program, &repository, &["run", "--yes", "README"]);
    assert_ne!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("README"), "{answer:?}");
}

#[test]
fn a_check_of_a_run_is_run_again_as_it_is_and_as_it_was_edited() {
    let (program, repository) = (Program::new(), repository());
    let source = CheckSource::Written {
        path: RepoPath::new("tests/test_issue.py").unwrap(),
    };
    let script = "from ledger import total\nassert total([1, 2]) == 3\n";
    let run = run_with_check(&program, &repository, source, script);
    let check = |more: &[&str]| program.run(["tests", "check", &run].iter().chain(more));
    let shown = check(&["--show"]);
    assert_eq!(
        shown.out, "from ledger import total\nassert total([1, 2]) == 3\n",
        "{shown:?}"
    );
    let refused = check(&[]);
    assert_ne!(refused.code, Some(0), "nothing was allowed yet: {refused:?}");

    tests(&program, &repository, &["run", "--yes"]);
    let as_it_is = check(&[]);
    assert_eq!(as_it_is.code, Some(1), "{as_it_is:?}");
    assert!(as_it_is.out.starts_with("on the base, `python3"), "{as_it_is:?}");
    assert!(as_it_is.out.contains("AssertionError"), "{as_it_is:?}");
    let edited = program.file("edited.py", "from ledger import total\nassert total([1, 2]) == 1\n");
    let edited = check(&["--script", &edited, "--json"]);
    assert_eq!(edited.code, Some(0), "{edited:?}");
    assert_eq!(json(&edited)[0]["tree"], "on the base");
    let none = check(&["--check", "2"]);
    assert!(none.err.contains("has no check C2"), "{none:?}");
}

#[test]
fn a_test_of_the_project_is_run_again_as_it_is_and_edited_in_the_project_alone() {
    let (program, repository) = (Program::new(), repository());
    let source = CheckSource::Given {
        test: "tests/test_total.py::Total::test_two_days".to_owned(),
    };
    let run = run_with_check(&program, &repository, source, "python3 -m unittest");
    let check = |more: &[&str]| program.run(["tests", "check", &run].iter().chain(more));
    let advice = "allow the test command";
    let refused = check(&[]);
    assert!(refused.err.contains(advice), "nothing was allowed yet: {refused:?}");

    tests(&program, &repository, &["run", "--yes"]);
    let as_it_is = check(&[]);
    assert_eq!(as_it_is.code, Some(1), "{as_it_is:?}");
    assert!(as_it_is.out.starts_with("on the base, `python3"), "{as_it_is:?}");
    assert!(as_it_is.out.contains("test_two_days fails:"), "{as_it_is:?}");
    assert!(as_it_is.out.contains("AssertionError: 1 != 3"), "{as_it_is:?}");
    let edited = program.file("edited.txt", "python3 -m unittest -f\n");
    let edited = check(&["--script", &edited]);
    assert!(edited.err.contains("edited in the project"), "{edited:?}");
    assert!(!edited.err.contains(advice), "{edited:?}");
}

/// Returns the number of a run on the repository's newest commit that has one check.
fn run_with_check(program: &Program, repository: &FixtureRepo, source: CheckSource, script: &str) -> String {
    let commit = repository.git2().head().unwrap().peel_to_commit().unwrap();
    let base = Base {
        commit: CommitId(commit.id().to_string()),
        tree: TreeId(commit.tree_id().to_string()),
        ..past_run::base()
    };
    let command = TestLine {
        line: "python3 -m unittest".to_owned(),
        folder: String::new(),
    };
    let request = RunRequest {
        tests: TestsMode::Run {
            command: Some(command),
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..past_run::request()
    };
    let output = ExcerptedOutput::default();
    let check = BugCheck {
        id: CheckId(1),
        source,
        grade: Grade::ExpectedResult,
        script: script.to_owned(),
        as_test: None,
        on_base: ProgramRun {
            command: "python3 test_issue.py".to_owned(),
            folder: String::new(),
            end: "ended with exit code 1".to_owned(),
            status: Some(1),
            took_ms: 60,
            stdout: output.clone(),
            stderr: output,
            refused: Vec::new(),
        },
        reached: Vec::new(),
        warnings: Vec::new(),
    };
    let events = [
        RunEvent::RunStarted {
            request: Box::new(request),
            base,
        },
        RunEvent::FaultShown {
            checks: vec![check],
            remarks: Vec::new(),
        },
    ];
    past_run::record_events(&program.data(), repository.root(), &events).to_string()
}

#[test]
fn a_check_of_no_run_is_refused_by_name() {
    let answer = Program::new().run(["tests", "check", "7"]);
    assert_ne!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("there is no run 7"), "{answer:?}");
}
