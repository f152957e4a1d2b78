//! What is run where nothing isolates it: nothing, until the person says so, and then what they said alone.

use super::{allow, checks, helper, remarks, solve, with_tests, wrong_then_right};
use crate::environment::{ISSUE, TestEnvironment};
use magis_core::{CheckSource, Proof, RunId};
use magis_engine::Magis;
use magis_engine::repository::BaseChoice;
use magis_engine::sandbox::{HelperCommand, Sandbox, SandboxJob, ScratchFolder};
use magis_engine::tests::IsolationTerm;
use std::path::PathBuf;

/// Returns a helper that cannot isolate: it ends at once unless it is asked for limits alone.
fn not_isolating() -> HelperCommand {
    let script = "[ \"$1\" = inner ] && exec \"$0\" inner; exit 1";
    HelperCommand {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into(), helper().program.into()],
    }
}

/// The sample with a test, and an issue with an example, that each leave a file on the machine where nothing isolates them.
struct Marking {
    environment: TestEnvironment,
    issue: String,
}

impl Marking {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let mark = |name: &str| {
            format!(
                "open('{}', 'w').close()",
                environment.folder.path().join(name).display()
            )
        };
        let test = format!(
            "import unittest\n\n\nclass Marking(unittest.TestCase):\n    def test_it(self):\n        {}\n",
            mark("by-tests")
        );
        let example = format!("```python\n>>> {}\n", mark("by-example"));
        let path = "tests/test_marking.py";
        std::fs::write(environment.repository().join(path), &test).unwrap();
        environment.git(&["add", path]);
        environment.commit(path, &test);
        Self {
            issue: ISSUE.replacen("```python\n", &example, 1),
            environment,
        }
    }

    /// Runs the issue with what `allow_more` allows, where nothing isolates it.
    async fn solved(&self, allow_more: impl FnOnce(&Magis)) -> (Magis, RunId) {
        let (magis, wish) = with_tests(&self.environment, &self.issue, 2);
        let magis = magis.with_sandbox(not_isolating());
        allow_more(&magis);
        let (run, _) = solve(&magis, wish, wrong_then_right()).await;
        (magis, run)
    }

    fn allow_command(&self, magis: &Magis, terms: IsolationTerm) {
        let repo = magis.add_repository(&self.environment.repository()).unwrap();
        let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
        magis.allow_tests(repo, &command, terms).unwrap();
    }

    /// Returns whether the tests ran, and whether the example did.
    fn ran(&self) -> (bool, bool) {
        let is_there = |name: &str| self.environment.folder.path().join(name).exists();
        (is_there("by-tests"), is_there("by-example"))
    }
}

#[tokio::test]
async fn what_was_allowed_isolated_is_not_run_where_nothing_isolates_it() {
    let marking = Marking::new();
    let (magis, run) = marking.solved(|magis| allow(&marking.environment, magis)).await;
    let said = remarks(&marking.environment, run);
    assert!(
        said.contains("this machine cannot isolate what is run: the helper that runs commands failed"),
        "{said}"
    );
    assert_eq!(marking.ran(), (false, false));
    assert_eq!(magis.state(run).unwrap().proof(), Proof::NotRun);
}

#[tokio::test]
async fn a_command_that_is_allowed_without_isolation_is_run_so_and_what_the_issue_shows_is_not() {
    let marking = Marking::new();
    let (magis, run) = marking
        .solved(|magis| marking.allow_command(magis, IsolationTerm::Waived))
        .await;
    let said = remarks(&marking.environment, run);
    assert!(
        said.contains("what the issue shows is not run: this machine cannot isolate it"),
        "{said}"
    );
    assert_eq!(marking.ran(), (true, false), "{said}");
    let state = magis.state(run).unwrap();
    assert!(state.base_tests().unwrap().passed > 1, "{:?}", state.base_tests());
    let found = checks(&magis, run);
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn what_the_issue_shows_is_run_without_isolation_where_that_is_allowed_too() {
    let marking = Marking::new();
    let (magis, run) = marking
        .solved(|magis| {
            marking.allow_command(magis, IsolationTerm::Waived);
            let repo = magis.add_repository(&marking.environment.repository()).unwrap();
            magis.allow_issue_code(repo, IsolationTerm::Waived).unwrap();
        })
        .await;
    assert_eq!(marking.ran(), (true, true), "{}", remarks(&marking.environment, run));
    let found = checks(&magis, run);
    assert!(matches!(found[0].source, CheckSource::Issue { .. }), "{found:?}");
    let proof = magis.state(run).unwrap().proof();
    assert!(proof.is_shown(), "{proof}");
}

#[tokio::test]
async fn of_a_folder_that_was_copied_only_what_a_command_changed_is_named() {
    let environment = TestEnvironment::new();
    let project = environment.folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    for name in ["kept", "changed"] {
        std::fs::write(project.join(name), "as it was").unwrap();
    }
    std::os::unix::fs::symlink("kept", project.join("link")).unwrap();
    let mut job = SandboxJob::new(["sh", "-c", "echo new > changed; echo new > made"], &project);
    let mut scratch = ScratchFolder::create(environment.magis.data()).unwrap();
    scratch.allow_change(&mut job, &project, &project).unwrap();
    let ran = Sandbox::limits_only(not_isolating()).run_and_tell(&job).await;
    let (outcome, isolation) = ran.unwrap();
    assert!(outcome.end.success() && !isolation.overlay, "{outcome:?}");
    let changed = scratch.changed_files(&project, isolation);
    assert_eq!(changed, ["changed", "made"].map(PathBuf::from));
}
