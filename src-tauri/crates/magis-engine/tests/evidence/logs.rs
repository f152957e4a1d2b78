//! A log that the person gives: the tests that it names as failed are run.

use super::{ISSUE, allow, checks, remarks, solve, with_tests};
use crate::environment::{TestEnvironment, script};
use magis_core::{BugCheck, CheckSource, Grade, Hint, HintsMode, IssueChecks, Proof, RunOutcome, TestsMode};
use magis_engine::{DriveEnd, SolveRequest};
use magis_testkit::sample;

/// The issue in words that no test has.
const IN_WORDS: &str = "list --until leaves out the last day\n\nIt should be part of it.";

/// A test that fails on the base, as the runner takes it.
const FAILING: &str = "tests/test_until.py::UntilNamesTheLastDay::test_one_day_can_be_asked_for";

/// Returns what unittest prints of failed tests where it is not verbose, among other lines.
fn log(failed: &[&str]) -> String {
    let rule = "=".repeat(70);
    let line = "-".repeat(70);
    let mut log = "$ make check\npython3 -m unittest\n..F.\n".to_owned();
    for test in failed {
        let name = test.rsplit('.').next().unwrap();
        log.push_str(&format!(
            "{rule}\nFAIL: {name} ({test})\n{line}\nAssertionError: Lists differ: [] != [1]\n\n"
        ));
    }
    log + &format!("{line}\nRan 4 tests in 0.002s\n\nFAILED (failures=1)\nmake: *** [check] Error 1\n")
}

/// Returns the sample with tests that fail on it.
fn with_failing_tests() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let check = &sample::UNTIL.check;
    std::fs::write(environment.repository().join(check.path), check.text).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("README.md", "Sums up.\n");
    environment
}

#[tokio::test]
async fn a_test_that_a_log_names_is_the_evidence_where_nothing_in_the_issue_speaks_of_it() {
    let environment = with_failing_tests();
    let (magis, wish) = with_tests(&environment, IN_WORDS, 1);
    allow(&environment, &magis);
    let named = "tests.test_until.UntilNamesTheLastDay.test_one_day_can_be_asked_for";
    let with_log = SolveRequest {
        hints: vec![Hint::FailingLog(log(&[named]))],
        ..wish.clone()
    };
    let ignored = SolveRequest {
        hints_mode: HintsMode::Ignore,
        ..with_log.clone()
    };
    for without in [wish, ignored] {
        let (run, _) = solve(&magis, without, script()).await;
        let found = checks(&magis, run);
        let is_test = |check: &BugCheck| {
            matches!(
                check.source,
                CheckSource::Given { .. } | CheckSource::FailingTests { .. }
            )
        };
        assert!(!found.iter().any(is_test), "{found:?}");
    }
    let (run, end) = solve(&magis, with_log, script()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let found = checks(&magis, run);
    let [check] = found.as_slice() else { panic!("{found:?}") };
    let test = FAILING.to_owned();
    assert_eq!(check.source, CheckSource::Given { test });
    assert!(check.on_base.stdout.text.contains("AssertionError"), "{check:?}");
    assert_eq!(
        magis.state(run).unwrap().proof(),
        Proof::ShownToWork {
            grade: Grade::ExpectedResult
        }
    );
}

#[tokio::test]
async fn what_a_log_names_stands_before_the_example_of_the_issue_and_what_does_not_fail_is_noted() {
    let environment = with_failing_tests();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let log = log(&[
        "tests.test_until.UntilNamesTheLastDay.test_one_day_can_be_asked_for",
        "tests.test_until.UntilNamesTheLastDay.test_later_days_stay_out",
        "tests.test_until.UntilNamesTheLastDay.test_of_another_version",
    ]);
    let wish = SolveRequest {
        hints: vec![Hint::FailingLog(log)],
        ..wish
    };
    let (run, _) = solve(&magis, wish, script()).await;
    let found = checks(&magis, run);
    let [given, example] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(
        matches!(&given.source, CheckSource::Given { test } if test == FAILING),
        "{given:?}"
    );
    assert!(matches!(example.source, CheckSource::Issue { .. }), "{example:?}");
    let said = remarks(&environment, run);
    let passes = "test_later_days_stay_out does not fail on the base";
    assert!(said.contains(passes), "{said}");
    let class = "tests/test_until.py::UntilNamesTheLastDay";
    let missing = format!("there is no test {class}::test_of_another_version");
    assert!(said.contains(&missing), "{said}");
}

#[tokio::test]
async fn a_test_that_is_named_by_the_person_and_by_a_log_is_one_check() {
    let environment = with_failing_tests();
    let (magis, mut wish) = with_tests(&environment, IN_WORDS, 1);
    allow(&environment, &magis);
    wish.hints = vec![Hint::FailingLog(format!("FAILED {FAILING} - AssertionError\n"))];
    if let TestsMode::Run { failing, checks, .. } = &mut wish.tests {
        failing.push("tests/test_until.py".to_owned());
        *checks = IssueChecks::Skip;
    }
    let (run, _) = solve(&magis, wish, script()).await;
    let found = checks(&magis, run);
    let [check] = found.as_slice() else { panic!("{found:?}") };
    let test = "tests/test_until.py".to_owned();
    assert_eq!(check.source, CheckSource::Given { test });
}

#[tokio::test]
async fn where_no_test_command_is_run_a_log_makes_no_checks() {
    let environment = with_failing_tests();
    let (magis, mut wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    wish.hints = vec![Hint::FailingLog(format!("FAILED {FAILING} - AssertionError\n"))];
    if let TestsMode::Run { command, .. } = &mut wish.tests {
        *command = None;
    }
    let (run, _) = solve(&magis, wish, script()).await;
    let found = checks(&magis, run);
    assert!(
        found
            .iter()
            .all(|check| matches!(check.source, CheckSource::Issue { .. })),
        "{found:?}"
    );
    assert!(!remarks(&environment, run).contains("test_until"));
}
