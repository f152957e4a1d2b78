//! What shows the fault, added to the change as a test of the project.

use super::reach::STARTED;
use super::{ISSUE, allow, solve, with_tests, wrong_then_right};
use crate::environment::TestEnvironment;
use magis_core::{AsTestTrouble, CheckAsTest, CheckId, RunId};
use magis_engine::repository::{Committer, Selection};
use magis_engine::{ApplyTarget, EngineError, Magis, Review};
use std::process::Command;

const PATH: &str = "tests/test_list_until_leaves_out_the_last_day.py";

/// Solves an issue.
async fn solved(environment: &TestEnvironment, issue: &str) -> (Magis, RunId) {
    let (magis, wish) = with_tests(environment, issue, 2);
    allow(environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    (magis, run)
}

/// Returns the one test that a run offers.
fn offered(magis: &Magis, run: RunId) -> CheckAsTest {
    let mut offered = magis.offered_tests(run).unwrap();
    assert_eq!(offered.len(), 1, "{offered:?}");
    offered.remove(0)
}

/// Returns the review that accepts all hunks, and adds the tests of these checks.
fn review(magis: &Magis, run: RunId, tests: &[CheckId]) -> Review {
    let mut review = magis.selected(run, &Selection::All).unwrap();
    review.tests.extend(tests);
    review
}

#[tokio::test]
async fn a_test_goes_into_the_work_tree_where_a_person_wants_it_and_comes_back() {
    let environment = TestEnvironment::new();
    let (magis, run) = solved(&environment, ISSUE).await;
    let test = offered(&magis, run);
    assert_eq!(test.path.as_str(), PATH);
    assert!(test.text.contains("(unittest.TestCase):\n"), "{}", test.text);
    assert_eq!(test.run.status, Some(0), "{:?}", test.run);
    let file = environment.repository().join(PATH);

    let without = review(&magis, run, &[]);
    magis.apply_review(run, ApplyTarget::Worktree, &without).unwrap();
    assert!(!file.exists(), "nobody asked for it");
    magis.undo(run).unwrap();

    let with = review(&magis, run, &[test.check]);
    assert!(magis.review_conflicts(run, &with).unwrap().is_empty());
    magis.apply_review(run, ApplyTarget::Worktree, &with).unwrap();
    assert_eq!(environment.read(PATH), test.text);
    let tested = Command::new("python3")
        .args(["-m", "unittest", PATH])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(environment.repository())
        .output()
        .unwrap();
    assert!(tested.status.success(), "{tested:?}");
    magis.undo(run).unwrap();
    assert!(!file.exists());
    assert_eq!(environment.git(&["status", "--porcelain"]), "");

    std::fs::write(&file, "mine\n").unwrap();
    let conflicts = magis.review_conflicts(run, &with).unwrap();
    assert_eq!(conflicts[0].path.as_str(), PATH);
}

#[tokio::test]
async fn a_test_is_part_of_the_commit_on_a_branch() {
    let environment = TestEnvironment::new();
    let (magis, run) = solved(&environment, ISSUE).await;
    let test = offered(&magis, run);
    let before = environment.git(&["for-each-ref"]);
    let target = ApplyTarget::Branch {
        name: "fix".to_owned(),
        identity: Some(Committer {
            name: "A".to_owned(),
            email: "a@example.org".to_owned(),
        }),
    };
    let with = review(&magis, run, &[test.check]);
    magis.apply_review(run, target, &with).unwrap();
    assert_eq!(environment.git(&["show", &format!("fix:{PATH}")]), test.text);
    assert!(environment.git(&["show", "fix:tally/filters.py"]).contains("<= until"));
    assert_eq!(environment.git(&["status", "--porcelain"]), "");
    magis.undo(run).unwrap();
    assert_eq!(environment.git(&["for-each-ref"]), before);
}

#[tokio::test]
async fn a_file_of_the_project_keeps_its_name_and_a_check_without_a_test_is_refused() {
    let environment = TestEnvironment::new();
    std::fs::write(environment.repository().join(PATH), "import unittest\n").unwrap();
    environment.git(&["add", PATH]);
    environment.commit("README.md", "Sums up.\n");
    let (magis, run) = solved(&environment, ISSUE).await;
    let test = offered(&magis, run);
    assert_eq!(test.path.as_str(), PATH.replace(".py", "_2.py"));

    let unknown = review(&magis, run, &[CheckId(9)]);
    let refused = magis.apply_review(run, ApplyTarget::Worktree, &unknown).unwrap_err();
    assert!(matches!(refused, EngineError::Patch { .. }), "{refused}");
    assert!(refused.to_string().contains("C9"), "{refused}");
    assert_eq!(environment.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_test_that_passes_without_the_patch_is_not_offered_and_the_run_says_why() {
    let environment = TestEnvironment::new();
    let path = "tests/__init__.py";
    let replaces = "from datetime import date\n\nfrom tally import filters\n\nas_it_is = filters.in_period\n\n\n\
                    def in_period(entry, since=date.min, until=date.max):\n    return entry.day == until or as_it_is(entry, since, until)\n\n\n\
                    filters.in_period = in_period\n";
    std::fs::write(environment.repository().join(path), replaces).unwrap();
    environment.git(&["add", path]);
    environment.commit(path, replaces);
    let (magis, run) = solved(&environment, ISSUE).await;
    let state = magis.state(run).unwrap();
    let tested = state.patch_tests().unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
    assert_eq!(tested.as_tests[0].trouble, Some(AsTestTrouble::PassesWithout));
    assert_eq!(magis.offered_tests(run).unwrap(), []);
}

#[tokio::test]
async fn a_command_line_is_a_test_that_was_seen_to_fail_and_to_pass() {
    let environment = TestEnvironment::new();
    let (magis, run) = solved(&environment, STARTED).await;
    let test = offered(&magis, run);
    assert!(test.text.contains("python3 report.py"), "{}", test.text);
    assert_eq!(test.run.status, Some(0), "{:?}", test.run);
}
