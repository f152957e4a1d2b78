//! Objects leave the store with the last run that needed them, and no earlier.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, git, script};
use magis_core::RepoPath;
use magis_store::Erasure;
use magis_testkit::sample;
use std::fs;

#[tokio::test]
async fn what_the_remaining_runs_need_stays() {
    let environment = TestEnvironment::new();
    let (first, _) = environment.solve(environment.wish(sample::ISSUE), script()).await;
    let (second, _) = environment
        .solve(environment.wish(sample::TWO_TASK_ISSUE), script())
        .await;
    let path = RepoPath::new("tally/filters.py").unwrap();
    let texts = |run| {
        let texts = environment.magis.texts(run).unwrap();
        (texts.before(&path), texts.after(&path))
    };
    let before = texts(second);
    assert!(before.0.is_some() && before.1.is_some() && before.0 != before.1);
    fs::rename(environment.repository(), environment.folder.path().join("moved")).unwrap();
    environment.magis.delete_run(first).unwrap();
    assert_eq!(
        texts(second),
        before,
        "read without the repository, from the store alone"
    );
}

#[tokio::test]
async fn a_store_that_is_in_use_is_pruned_at_the_next_opening() {
    let environment = TestEnvironment::new();
    let (run, _) = environment.solve(environment.wish(sample::ISSUE), script()).await;
    let repo = environment.magis.run(run).unwrap().entry.repo.unwrap();
    let store = environment.magis.data().objects(repo);
    let objects = || git(&store, &["cat-file", "--batch-all-objects", "--batch-check"]);
    let reading = environment.magis.texts(run).unwrap();
    let erasure = environment.magis.delete_run(run).unwrap().erasure;
    assert!(
        matches!(&erasure, Erasure::Pending { why } if why.contains("in use")),
        "{erasure:?}"
    );
    assert_ne!(objects(), "");

    drop(reading);
    let _reopened = environment::open(environment.folder.path());
    assert_eq!(objects(), "");
}
