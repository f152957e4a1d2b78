//! What `magis solve` runs: what is allowed, remembered and noted before a run begins, and what shows its fault.
//!
//! A run is ended behind its second event. What shows the fault is run before anything is asked of the model, so that one of half a megabyte will do.

use crate::support::Program;
use magis_testkit::{FixtureRepo, TinyModel};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const ISSUE: &str = "total() leaves out the last entry

```python
>>> from ledger import total
>>> total([1, 2])
1
```

Expected:

```python
3
```
";

/// A library whose total is wrong, with a data folder, an issue and a model.
struct Ledger {
    program: Program,
    repository: FixtureRepo,
    issue: String,
    model: String,
}

/// How a run began.
#[derive(Debug)]
struct Begun {
    /// What it was asked to run; null where that is nothing.
    tests: Value,
    /// The event behind its start.
    next: Value,
    /// What was written to standard error.
    said: String,
}

impl Ledger {
    fn with_tests() -> Self {
        let ledger = Self::without_tests();
        ledger
            .repository
            .write("tests/__init__.py", "")
            .write(
                "tests/test_total.py",
                "import unittest\nfrom ledger import total\n\nclass Total(unittest.TestCase):\n    def test_nothing(self):\n        \
                 self.assertEqual(total([]), 0)\n",
            )
            .commit("Test it");
        ledger
    }

    fn without_tests() -> Self {
        let (program, repository) = (Program::new(), FixtureRepo::new());
        repository
            .write("ledger.py", "def total(entries):\n    return sum(entries[:-1])\n")
            .commit("First");
        Self {
            issue: program.file("issue.md", ISSUE),
            model: program.file("tiny.gguf", TinyModel::Qwen2.gguf().bytes()),
            program,
            repository,
        }
    }

    /// Begins a run and ends it behind its second event.
    fn begin(&self, more: &[&str]) -> Begun {
        Self::begun_by(self.command(more))
    }

    /// Does the same where nothing can isolate what is run.
    fn begin_without_isolation(&self, more: &[&str]) -> Begun {
        Self::begun_by(Program::without_isolation(&self.command(more)))
    }

    fn command(&self, more: &[&str]) -> Command {
        let root = self.repository.root().to_str().unwrap();
        let named = ["solve", "--repo", root, "--issue", &self.issue, "--model", &self.model];
        self.program
            .command(named.iter().chain(&["--threads", "1", "--json"]).chain(more))
    }

    fn begun_by(mut command: Command) -> Begun {
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(run.stdout.take().unwrap()).lines();
        let events: Vec<String> = lines.map_while(Result::ok).take(2).collect();
        run.kill().unwrap();
        let said = String::from_utf8(run.wait_with_output().unwrap().stderr).unwrap();
        let event = |index: usize| -> Value {
            let line = events
                .get(index)
                .unwrap_or_else(|| panic!("the run ended early: {said}"));
            serde_json::from_str::<Value>(line).unwrap()["event"].clone()
        };
        let (tests, next) = (event(0)["request"]["tests"].clone(), event(1));
        Begun { tests, next, said }
    }

    /// Returns what `magis tests list` has.
    fn listed(&self) -> Value {
        let root = self.repository.root().to_str().unwrap();
        let answer = self.program.run(["tests", "list", "--repo", root, "--json"]);
        serde_json::from_str(&answer.out).expect("it prints JSON")
    }
}

impl Begun {
    fn assert_example_was_run(&self) {
        assert_eq!(self.next["event"], "fault_shown", "{self:?}");
        assert_eq!(self.next["checks"][0]["source"]["kind"], "issue", "{self:?}");
    }

    fn assert_nothing_is_run(&self, note: &str) {
        assert_eq!(self.tests, Value::Null, "{self:?}");
        assert_eq!(self.next["event"], "issue_read", "{self:?}");
        assert!(self.said.contains(note), "{self:?}");
    }
}

#[test]
fn what_is_allowed_on_the_command_line_is_run_and_remembered() {
    let ledger = Ledger::with_tests();
    let begun = ledger.begin(&["--allow-tests"]);
    assert_eq!(begun.tests["command"]["line"], "python3 -m unittest", "{begun:?}");
    begun.assert_example_was_run();
    assert_eq!(ledger.listed()[0]["allowed"], true);
    assert_eq!(ledger.begin(&[]).tests, begun.tests);
}

#[test]
fn what_nobody_allowed_is_not_run_and_the_note_says_what_allows_it() {
    let ledger = Ledger::with_tests();
    let note = "note: nothing is run, because `python3 -m unittest` is not allowed in this repository yet; --allow-tests allows it";
    ledger.begin(&[]).assert_nothing_is_run(note);
    let begun = ledger.begin(&["--no-tests"]);
    begun.assert_nothing_is_run("");
    assert!(!begun.said.contains("note:"), "it was asked for: {begun:?}");
    assert_eq!(ledger.listed()[0]["allowed"], false);
}

#[test]
fn what_nothing_isolates_is_run_only_where_a_person_says_so() {
    let ledger = Ledger::with_tests();
    let note = "note: nothing is run, because this machine cannot isolate it";
    ledger
        .begin_without_isolation(&["--allow-tests"])
        .assert_nothing_is_run(note);
    assert_eq!(ledger.listed()[0]["allowed"], false);

    // What was allowed isolated is allowed so alone.
    ledger.begin(&["--allow-tests"]).assert_example_was_run();
    ledger.begin_without_isolation(&[]).assert_nothing_is_run(note);
    let note = "`python3 -m unittest` is not allowed in this repository yet";
    ledger
        .begin_without_isolation(&["--without-isolation"])
        .assert_nothing_is_run(note);

    let flags = ["--allow-tests", "--without-isolation"];
    ledger.begin_without_isolation(&flags).assert_example_was_run();
    assert_eq!(ledger.listed()[0]["without_isolation"], true);
    // Who said so once is not asked for it again.
    ledger.begin_without_isolation(&[]).assert_example_was_run();
}

#[test]
fn a_command_that_was_given_and_allowed_is_preferred_to_one_that_is_found() {
    let ledger = Ledger::with_tests();
    let given = "python3 -m unittest tests.test_total";
    let begun = ledger.begin(&["--test-cmd", given, "--allow-tests"]);
    assert_eq!(begun.tests["command"]["line"], given, "{begun:?}");
    assert_eq!(ledger.begin(&[]).tests, begun.tests);
    let listed = ledger.listed();
    assert_eq!(listed[0]["command"], "python3 -m unittest");
    assert_eq!(listed[0]["allowed"], false);
    assert_eq!(listed[1]["command"], given);
    assert_eq!(listed[1]["allowed"], true);
}

#[test]
fn without_a_test_command_the_example_of_the_issue_is_run_where_it_is_allowed() {
    let ledger = Ledger::without_tests();
    let begun = ledger.begin(&[]);
    begun.assert_nothing_is_run("what the issue shows is not allowed in this repository; --allow-tests allows it");
    assert!(begun.said.contains("give yours with --test-cmd"), "{begun:?}");
    let begun = ledger.begin(&["--allow-tests"]);
    assert_eq!(begun.tests["kind"], "run", "{begun:?}");
    assert_eq!(begun.tests["command"], Value::Null, "{begun:?}");
    begun.assert_example_was_run();
    ledger
        .begin(&["--no-checks"])
        .assert_nothing_is_run("note: nothing is run: no test command is found");
}

#[test]
fn a_failing_test_that_is_given_by_its_name_or_in_a_log_is_the_first_evidence() {
    let ledger = Ledger::with_tests();
    let name = "tests.test_total.Total.test_both";
    ledger
        .repository
        .write(
            "tests/test_total.py",
            "import unittest\nfrom ledger import total\n\nclass Total(unittest.TestCase):\n    def test_both(self):\n        \
             self.assertEqual(total([1, 2]), 3)\n",
        )
        .commit("Test both");
    let failed = format!(
        "FAIL: test_both ({name})\n----------------------------------------------------------------------\n\
         Traceback (most recent call last):\n  File \"tests/test_total.py\", line 6, in test_both\n    self.assertEqual(total([1, 2]), 3)\n\
         AssertionError: 1 != 3\n\n----------------------------------------------------------------------\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n"
    );
    let log = ledger.program.file("failed.log", &failed);
    for given in [["--test", name], ["--log", &log]] {
        let begun = ledger.begin(&[&["--allow-tests"], given.as_slice()].concat());
        let first = &begun.next["checks"][0];
        assert_eq!(first["source"]["kind"], "given", "{given:?}: {begun:?}");
        assert!(
            first["source"]["test"].as_str().unwrap().contains("test_both"),
            "{begun:?}"
        );
        assert_eq!(begun.next["checks"][1]["source"]["kind"], "issue", "{begun:?}");
    }
}
