//! What is said and done about a patch that was being applied when its program was killed. That nothing is left in between is shown by `faults`.

use crate::scene::Scene;
use magis_testkit::faults::{CallFault, TracedEnd, strike, trace};
use std::path::Path;

const APPLY: [&str; 3] = ["apply", "1", "--worktree"];

/// Kills the program right before a call that changes a file; returns whether it came to that.
fn is_killed(scene: &Scene, call: usize) -> bool {
    let folders = scene.folders();
    let killed = strike(
        &scene.command(APPLY),
        &folders.each_ref().map(AsRef::<Path>::as_ref),
        CallFault::Kill,
        call,
    );
    killed.end == TracedEnd::Killed
}

#[test]
fn what_was_broken_off_is_said_once() {
    let scene = Scene::new();
    scene.keep();
    let folders = scene.folders();
    let whole = trace(&scene.command(APPLY), &folders.each_ref().map(AsRef::<Path>::as_ref));
    assert_eq!(whole.end, TracedEnd::Exited(0), "{whole:?}");
    let said = |outcome: &str| format!("note: the program ended {outcome}\n");
    let mut found = Vec::new();
    for call in 1..=whole.calls(CallFault::Kill) {
        scene.restore();
        is_killed(&scene, call);
        found.push(scene.run(["runs", "list"]).err);
        assert_eq!(scene.run(["runs", "list"]).err, "");
    }
    found.dedup();
    let nothing = "while the patch of run 1 was being applied or taken back: none of it is applied now";
    let all = "before it could note what became of the patch of run 1: all of it is applied";
    assert_eq!(found, [String::new(), said(nothing), said(all), String::new()]);
}

/// Leaves a patch applied in part.
fn half_applied() -> Scene {
    let scene = Scene::new();
    scene.keep();
    let is_half = |call: usize| {
        scene.restore();
        is_killed(&scene, call)
            && !scene.repository.exists("old/gone.py")
            && !scene.repository.exists("new/folder/made.py")
    };
    assert!(
        (1..200).any(is_half),
        "a part of the patch is applied between two calls"
    );
    scene
}

#[test]
fn what_somebody_changed_since_stays_and_is_named() {
    let scene = half_applied();
    scene.repository.write("tally/filters.py", "mine\n");
    let said = scene.run(["runs", "list"]).err;
    assert!(
        said.ends_with("none of it is applied now, but for what was changed since: tally/filters.py\n"),
        "{said}"
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), " M tally/filters.py\n");
}

#[test]
fn a_repository_that_is_away_is_settled_when_it_is_back() {
    let scene = half_applied();
    let (root, away) = (scene.repository.root().to_owned(), scene.program.beside("away"));
    std::fs::rename(&root, &away).unwrap();
    for _ in 0..2 {
        let said = scene.run(["runs", "list"]);
        assert!(
            said.err
                .starts_with("note: the patch of run 1 may be applied in part, because"),
            "{}",
            said.err
        );
        assert_eq!(said.code, Some(0));
    }
    std::fs::rename(&away, &root).unwrap();
    assert!(scene.run(["runs", "list"]).err.contains("none of it is applied now"));
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}
