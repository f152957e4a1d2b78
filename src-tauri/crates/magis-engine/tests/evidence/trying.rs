//! A check of a run that is run again: as it is, or as a person has edited it.

use super::{ISSUE, allow, checks, solve, with_tests, wrong_then_right};
use crate::environment::{TestEnvironment, script};
use magis_core::{CheckId, CheckSource, RunOutcome, TestsMode};
use magis_engine::DriveEnd;
use magis_testkit::sample;

#[tokio::test]
async fn an_edited_check_is_run_on_the_base_and_on_the_result_and_the_run_stays_as_it_is() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let check = checks(&magis, run).remove(0);
    let before = environment.events(run).len();
    let script = check.script.replace("31", "30");
    assert_ne!(script, check.script);
    let stop = tokio_util::sync::CancellationToken::new();
    let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
    assert!(tried.on_base.stdout.text.contains("False"), "{tried:?}");
    let on_result = tried.on_result.unwrap();
    assert!(on_result.stdout.text.contains("True"), "{on_result:?}");
    assert_eq!(environment.events(run).len(), before);
    magis.forbid_tests(magis.run(run).unwrap().entry.repo.unwrap()).unwrap();
    let refused = magis.try_check(run, check.id, &script, &stop).await.unwrap_err();
    assert!(
        refused.to_string().contains("is not allowed in this repository"),
        "{refused}"
    );
    assert!(refused.remedy().starts_with("allow the test command"), "{refused}");
    let missing = magis.try_check(run, CheckId(9), &script, &stop).await.unwrap_err();
    assert!(missing.to_string().contains("it has no check C9"), "{missing}");
    assert_eq!(missing.remedy(), "choose one of the checks that the run has");
}

/// Solves an issue of the sample with a test that fails, and runs the check that stands on that test again: as it is, and edited.
async fn run_test_again(given: &[&str]) {
    let environment = TestEnvironment::new();
    let test = &sample::UNTIL.check;
    std::fs::write(environment.repository().join(test.path), test.text).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("README.md", "Sums up.\n");
    let issue = "select() leaves out the last day\n\nIt should be part of it.";
    let (magis, mut wish) = with_tests(&environment, issue, 1);
    allow(&environment, &magis);
    if let TestsMode::Run { failing, .. } = &mut wish.tests {
        failing.extend(given.iter().map(|test| (*test).to_owned()));
    }
    let (run, end) = solve(&magis, wish, script()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let check = checks(&magis, run).remove(0);
    assert_eq!(
        matches!(check.source, CheckSource::Given { .. }),
        !given.is_empty(),
        "{check:?}"
    );
    let before = environment.events(run).len();
    let stop = tokio_util::sync::CancellationToken::new();
    let tried = magis.try_check(run, check.id, &check.script, &stop).await.unwrap();
    let named = "test_one_day_can_be_asked_for";
    let on_base = &tried.on_base;
    assert!(
        on_base.stdout.text.contains(&format!("{named} fails:\n")),
        "{on_base:?}"
    );
    assert!(on_base.stdout.text.contains("AssertionError"), "{on_base:?}");
    let on_result = tried.on_result.unwrap();
    assert!(
        on_result.stdout.text.contains(&format!("{named} passes")),
        "{on_result:?}"
    );
    assert!(!on_result.stdout.text.contains("fails"), "{on_result:?}");
    let edited = format!("{} -f", check.script);
    let refused = magis.try_check(run, check.id, &edited, &stop).await.unwrap_err();
    assert!(refused.to_string().contains("is edited in the project"), "{refused}");
    assert!(refused.remedy().starts_with("run the check as it is"), "{refused}");
    assert_eq!(environment.events(run).len(), before);
}

#[tokio::test]
async fn a_given_test_is_run_again_on_the_base_and_on_the_result() {
    run_test_again(&["tests/test_until.py"]).await;
}

#[tokio::test]
async fn failing_tests_of_the_project_are_run_again_on_the_base_and_on_the_result() {
    run_test_again(&[]).await;
}
