//! Applying a run's patch, and taking it back.

use crate::past_run::{events, record, record_events};
use crate::support::Program;
use magis_core::{AsTestTrouble, ChangeTests, CheckAsTest, CheckId, CommitId, ProgramRun, RepoPath, RunEvent, TreeId};
use magis_testkit::FixtureRepo;

const BEFORE: &str = "def until(day, items):\n    return [item for item in items if item.day < day]\n\n";
const AFTER: &str = "def until(day, items):\n    return [item for item in items if item.day <= day]\n\n";

fn scene() -> (Program, FixtureRepo) {
    let (program, repository) = (Program::new(), FixtureRepo::new());
    repository.write("tally/filters.py", BEFORE).commit("First");
    record(&program.data(), repository.root(), usize::MAX);
    (program, repository)
}

const TEST: &str = "from tally.filters import until\n\n\ndef test_until():\n    assert until(1, []) == []\n";
const TEST_PATH: &str = "tests/test_list_until_leaves_out_that_day.py";

/// As [`scene`], with a check as a test, which is offered where it has no trouble.
fn scene_with_a_test(trouble: Option<AsTestTrouble>) -> (Program, FixtureRepo) {
    let (program, repository) = (Program::new(), FixtureRepo::new());
    let commit = repository.write("tally/filters.py", BEFORE).commit("First");
    let tree = repository.git2().revparse_single("HEAD^{tree}").unwrap().id();
    let mut events = events();
    if let Some(RunEvent::RunStarted { base, .. }) = events.first_mut() {
        base.commit = CommitId(commit);
        base.tree = TreeId(tree.to_string());
    }
    let offered = CheckAsTest {
        check: CheckId(1),
        path: RepoPath::new(TEST_PATH).unwrap(),
        text: TEST.to_owned(),
        trouble,
        run: ProgramRun::none("ended with exit code 0"),
    };
    let result = ChangeTests {
        tree: TreeId(tree.to_string()),
        checks: Vec::new(),
        tests: None,
        less_likely: false,
        rivals: 0,
        as_tests: vec![offered],
    };
    let tested = RunEvent::PatchTested {
        result: Box::new(result),
    };
    let merged = events.iter().position(|event| matches!(event, RunEvent::Merged { .. }));
    events.insert(merged.unwrap() + 1, tested);
    record_events(&program.data(), repository.root(), &events);
    (program, repository)
}

fn text(repository: &FixtureRepo) -> String {
    String::from_utf8(repository.read("tally/filters.py")).unwrap()
}

#[test]
fn a_patch_is_applied_to_the_working_tree_and_taken_back() {
    let (program, repository) = scene();
    let applied = program.run(["apply", "1", "--worktree"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(text(&repository), AFTER);
    let undone = program.run(["apply", "1", "--undo"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(text(&repository), BEFORE);
    let nothing_left = program.run(["apply", "1", "--undo"]);
    assert_eq!(nothing_left.code, Some(1), "{nothing_left:?}");
}

#[test]
fn a_conflict_is_named_with_its_place_and_nothing_is_touched() {
    let (program, repository) = scene();
    repository.write("tally/filters.py", "def until(day, items):\n    return items\n\n");
    let refused = program.run(["apply", "1", "--worktree"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.err.contains("tally/filters.py:"), "{refused:?}");
    assert!(refused.err.contains("what to do:"), "{refused:?}");
    assert_eq!(text(&repository), "def until(day, items):\n    return items\n\n");
}

#[test]
fn a_run_whose_base_was_collected_goes_into_the_working_tree_and_says_why_not_onto_a_branch() {
    // The run's base is a commit that the repository does not have.
    let (program, repository) = scene();
    let refused = program.run(["apply", "1", "--branch", "fix"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    insta::assert_snapshot!(refused.err, @r"
    error: the base commit 0123456789abcdef0123456789abcdef01234567 is no longer in the repository
      what to do: Apply it to the working tree, or save it as a patch file.
    ");
    let branches = repository.git2().branches(None).unwrap().count();
    assert_eq!(branches, 1, "no branch is made");
    assert_eq!(program.run(["apply", "1", "--worktree"]).code, Some(0));
    assert_eq!(text(&repository), AFTER);
    assert_eq!(program.run(["apply", "1", "--undo"]).code, Some(0));
    assert_eq!(text(&repository), BEFORE);
}

#[test]
fn what_has_changed_since_is_not_taken_back() {
    let (program, repository) = scene();
    assert_eq!(program.run(["apply", "1", "--worktree"]).code, Some(0));
    repository.write("tally/filters.py", "mine\n");
    let refused = program.run(["apply", "1", "--undo"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert_eq!(text(&repository), "mine\n");
}

#[test]
fn a_patch_file_is_written_once() {
    let (program, _repository) = scene();
    let file = program.beside("fix.patch");
    let file = file.to_str().unwrap();
    assert_eq!(program.run(["apply", "1", "--patch", file]).code, Some(0));
    assert_eq!(std::fs::read_to_string(file).unwrap(), crate::past_run::PATCH);
    let refused = program.run(["apply", "1", "--patch", file]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
}

#[test]
fn hunks_that_do_not_exist_are_refused() {
    let (program, repository) = scene();
    let refused = program.run(["apply", "1", "--worktree", "--hunks", "2"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("no hunk 2"), "{refused:?}");
    assert_eq!(text(&repository), BEFORE);
}

#[test]
fn a_test_for_the_fault_is_added_where_it_is_asked_for_and_taken_back() {
    let (program, repository) = scene_with_a_test(None);
    assert_eq!(program.run(["apply", "1", "--worktree"]).code, Some(0));
    assert!(!repository.exists(TEST_PATH), "nobody asked for it");
    assert_eq!(program.run(["apply", "1", "--undo"]).code, Some(0));
    let applied = program.run(["apply", "1", "--worktree", "--with-test"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(
        applied.out.starts_with(&format!("  test added: {TEST_PATH}\n")),
        "{applied:?}"
    );
    assert_eq!(text(&repository), AFTER);
    assert_eq!(repository.read(TEST_PATH), TEST.as_bytes());
    assert_eq!(program.run(["apply", "1", "--undo"]).code, Some(0));
    assert!(!repository.exists(TEST_PATH));
    let patch = program.run(["apply", "1", "--patch", "-", "--with-test"]).out;
    assert!(patch.contains(&format!("+++ b/{TEST_PATH}\n")), "{patch}");
}

#[test]
fn a_test_that_a_run_does_not_offer_is_refused() {
    let (program, repository) = scene_with_a_test(Some(AsTestTrouble::PassesWithout));
    let refused = program.run(["apply", "1", "--worktree", "--with-test"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("offers no test"), "{refused:?}");
    assert_eq!(text(&repository), BEFORE);
}

#[cfg(unix)]
#[test]
fn a_program_that_the_repository_names_is_asked_about_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let (program, repository) = scene_with_a_test(None);
    repository
        .config("user.name", "Ada")
        .config("user.email", "ada@example.com");
    let hook = repository.git_dir().join("hooks/commit-msg");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\ntouch hook-ran\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let apply = |branch: &str, more: &[&str]| {
        let mut words = vec!["apply", "1", "--branch", branch];
        words.extend(more);
        program.run(words)
    };

    let asked = apply("one", &[]);
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(asked.err.contains("commit-msg ('"), "{asked:?}");
    assert!(
        asked.err.contains("--programs run or --programs leave-out"),
        "{asked:?}"
    );

    let left_out = apply("one", &["--programs", "leave-out"]);
    assert_eq!(left_out.code, Some(0), "{left_out:?}");
    assert!(
        left_out.out.contains("'commit-msg' was not run, as decided"),
        "{left_out:?}"
    );
    assert_eq!(apply("two", &[]).code, Some(0), "the decision is remembered");
    assert!(!repository.exists("hook-ran"));

    let run = apply("three", &["--programs", "run"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(repository.exists("hook-ran"));
    std::fs::write(&hook, "#!/bin/sh\ntouch another-ran\n").unwrap();
    let again = apply("four", &[]);
    assert_eq!(again.code, Some(1), "another script is asked about anew: {again:?}");
    assert!(!repository.exists("another-ran"));
}
