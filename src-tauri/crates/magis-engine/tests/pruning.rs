//! Objects leave the store with the last run that needed them, and no earlier.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod ground;

use ground::{Ground, git, script};
use magis_core::RepoPath;
use magis_store::Erasure;
use magis_testkit::sample;
use std::fs;

#[tokio::test]
async fn what_the_remaining_runs_need_stays() {
    let ground = Ground::new();
    let (first, _) = ground.solve(ground.wish(sample::ISSUE), script()).await;
    let (second, _) = ground.solve(ground.wish(sample::TWO_TASK_ISSUE), script()).await;
    let path = RepoPath::new("tally/filters.py").unwrap();
    let texts = |run| {
        let texts = ground.magis.texts(run).unwrap();
        (texts.before(&path), texts.after(&path))
    };
    let before = texts(second);
    assert!(before.0.is_some() && before.1.is_some() && before.0 != before.1);
    fs::rename(ground.repository(), ground.folder.path().join("moved")).unwrap();
    ground.magis.delete_run(first).unwrap();
    assert_eq!(
        texts(second),
        before,
        "read without the repository, from the store alone"
    );
}

#[tokio::test]
async fn a_store_that_is_in_use_is_pruned_at_the_next_opening() {
    let ground = Ground::new();
    let (run, _) = ground.solve(ground.wish(sample::ISSUE), script()).await;
    let repo = ground.magis.run(run).unwrap().entry.repo.unwrap();
    let store = ground.magis.data().objects(repo);
    let objects = || git(&store, &["cat-file", "--batch-all-objects", "--batch-check"]);
    let reading = ground.magis.texts(run).unwrap();
    let erasure = ground.magis.delete_run(run).unwrap().erasure;
    assert!(
        matches!(&erasure, Erasure::Pending { why } if why.contains("in use")),
        "{erasure:?}"
    );
    assert_ne!(objects(), "");

    drop(reading);
    let _reopened = ground::open(ground.folder.path());
    assert_eq!(objects(), "");
}
