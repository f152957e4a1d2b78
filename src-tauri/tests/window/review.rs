//! A patch under review: accepted in part, rewritten, applied, taken back.

use crate::environment::script;
use crate::support::{Window, accepted, all_of, onto, review};
use magis_app::views::{AppliedKind, ApplyRequest, FileReview};
use magis_store::{ApplyDirection, Store};
use magis_testkit::sample;
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_accepted_goes_onto_a_branch_and_comes_back() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let patch = window.app.patch(run).unwrap();
    assert_eq!(patch.files.len(), 2);
    let first = &patch.files[0];
    assert!(!first.hunks[0].tasks.is_empty(), "each hunk knows its task");
    let decided = review(vec![accepted(&first.path, &[first.hunks[0].number])]);
    window.app.save_review(run, &decided).unwrap();

    let window = window.reopened(script());
    let kept = window.app.review(run).unwrap();
    assert_eq!(kept, decided, "a review survives the window");
    assert!(window.app.conflicts(run, kept.clone()).unwrap().is_empty());

    let applied = window.app.apply(run, kept, onto(&patch.branch)).unwrap();
    assert_eq!((applied.kind, applied.undoable), (AppliedKind::Branch, true));
    let changed = window.git(&["diff", "--name-only", "main", &patch.branch]);
    assert_eq!(changed.trim(), first.path, "the other file was not accepted");
    let message = window.git(&["log", "-1", "--format=%s by %an", &patch.branch]);
    assert_eq!(message.trim(), "Compare categories whatever their case by Ana");
    assert_eq!(
        window.git(&["status", "--porcelain"]),
        "",
        "the working tree is as it was"
    );

    window.app.undo_apply(run).unwrap();
    assert_eq!(window.git(&["branch", "--format=%(refname:short)"]).trim(), "main");
    assert!(window.app.run_view(run).unwrap().applied.is_none());
    assert_eq!(window.app.undo_apply(run).unwrap_err().code, "not_applied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_that_was_half_applied_when_the_program_ended_is_taken_back_and_that_is_said() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let all = all_of(&window.app, run);
    window.app.apply(run, all, ApplyRequest::Worktree).unwrap();
    let store = Store::open(&window.folder.path().join("data")).unwrap();
    let application: serde_json::Value = store.application(run).unwrap().unwrap();
    store
        .begin_application(run, ApplyDirection::Undo, &application)
        .unwrap();
    let path = window.app.patch(run).unwrap().files[0].path.clone();
    window.git(&["checkout", "--", &path]);
    assert_ne!(
        window.git(&["status", "--porcelain"]),
        "",
        "the other file is still changed"
    );

    let window = window.reopened(script());
    assert_eq!(window.git(&["status", "--porcelain"]), "");
    assert!(window.app.run_view(run).unwrap().applied.is_none());
    let said = window.app.info().unwrap().broken_off;
    assert_eq!((said.len(), said[0].code.as_str()), (1, "broken_off_taken_back"));
    let window = window.reopened(script());
    assert_eq!(window.app.info().unwrap().broken_off, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_person_rewrote_stands_in_place_of_its_hunks() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let patch = window.app.patch(run).unwrap();
    let path = patch.files[0].path.clone();
    let texts = window.app.file_texts(run, &path).unwrap();
    let mine = format!("# looked at by hand\n{}", texts.after.unwrap());
    let decided = review(vec![FileReview {
        edited: Some(mine.clone()),
        ..accepted(&path, &[])
    }]);

    let applied = window.app.apply(run, decided.clone(), ApplyRequest::Worktree).unwrap();
    assert_eq!(fs::read_to_string(window.root().join(&path)).unwrap(), mine);
    assert!(applied.undoable);

    fs::write(window.root().join(&path), "something else\n").unwrap();
    assert!(!window.app.run_view(run).unwrap().applied.unwrap().undoable);
    assert_eq!(window.app.undo_apply(run).unwrap_err().code, "changed_since");
    let conflicts = window.app.conflicts(run, decided).unwrap();
    assert_eq!(conflicts[0].path, path);
    let nothing = window
        .app
        .apply(run, review(Vec::new()), ApplyRequest::Worktree)
        .unwrap_err();
    assert_eq!(nothing.code, "nothing_selected");
}
