//! The Custodian's memory: summaries, messages of changes, what they cover.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_store::{ChangeMessage, Coverage, RunFilter, StoreError};
use support::{Data, blob, path, repository, summary};

#[test]
fn the_summary_of_a_blob_and_the_latest_of_a_file_are_told_apart() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "src/url.py", "b1", "Parses addresses.", 10))
        .unwrap();
    data.store
        .put_summary(&summary(
            data.repo,
            "src/url.py",
            "b2",
            "Parses and joins addresses.",
            20,
        ))
        .unwrap();
    let of = |id: &str| {
        data.store
            .summary_of(data.repo, &path("src/url.py"), &blob(id))
            .unwrap()
    };
    assert_eq!(of("b1").unwrap().kept.text, "Parses addresses.");
    assert_eq!(of("b3"), None);
    let latest = data
        .store
        .latest_summary(data.repo, &path("src/url.py"))
        .unwrap()
        .unwrap();
    assert_eq!(
        latest.kept,
        summary(data.repo, "src/url.py", "b2", "Parses and joins addresses.", 20)
    );
    assert_eq!(data.store.summaries(data.repo).unwrap(), [latest]);
}

#[test]
fn a_blob_has_one_summary() {
    let data = Data::new();
    for (text, made_at) in [("first", 10), ("second", 20)] {
        data.store
            .put_summary(&summary(data.repo, "a.py", "b1", text, made_at))
            .unwrap();
    }
    assert_eq!(data.store.drop_summaries_of(data.repo, &path("a.py")).unwrap(), 1);
}

#[test]
fn coverage_counts_fresh_stale_and_none() {
    let data = Data::new();
    let other = data.store.upsert_repository(&repository("/projects/other"), 2).unwrap();
    for (repo, file, id) in [
        (data.repo, "a.py", "a1"),
        (data.repo, "a.py", "a2"),
        (data.repo, "b.py", "b1"),
        (other, "c.py", "c1"),
    ] {
        data.store.put_summary(&summary(repo, file, id, "text", 10)).unwrap();
    }
    let files =
        [("a.py", "a1"), ("b.py", "b2"), ("c.py", "c1"), ("d.py", "d1")].map(|(file, id)| (path(file), blob(id)));
    assert_eq!(
        data.store.coverage(data.repo, &files).unwrap(),
        Coverage {
            fresh: 1,
            stale: 1,
            none: 2
        }
    );
}

#[test]
fn a_message_of_a_change_is_kept_for_that_change_alone() {
    let data = Data::new();
    let message = ChangeMessage {
        repo: data.repo,
        path: path("a.py"),
        from: blob("a1"),
        to: blob("a2"),
        message: "Adds a port".to_owned(),
        model: "small".to_owned(),
        model_sha: "s1".to_owned(),
        template_hash: "t1".to_owned(),
        made_at: 10,
        made_in: None,
    };
    data.store.put_change_message(&message).unwrap();
    let found = |from: &str, to: &str| {
        data.store
            .change_message(data.repo, &path("a.py"), &blob(from), &blob(to))
            .unwrap()
    };
    assert_eq!(found("a1", "a2"), Some(message));
    assert_eq!(found("a2", "a1"), None);
}

#[test]
fn a_removed_repository_comes_back_with_its_memory_until_it_is_deleted() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "a.py", "a1", "text", 10))
        .unwrap();
    let run = data.run("Port is lost");
    let repo_of = || data.store.run(run).unwrap().entry.repo;
    data.store.remove_repository(data.repo, 100).unwrap();
    assert_eq!(data.store.repositories().unwrap(), []);
    assert!(matches!(
        data.store.repository(data.repo),
        Err(StoreError::NoRepository(_))
    ));
    assert_eq!(repo_of(), None);
    let listed = data.store.runs(&RunFilter::default()).unwrap();
    assert_eq!((listed[0].id, listed[0].repo), (run, None));
    assert_eq!(data.store.removed_repositories(99).unwrap(), []);
    assert_eq!(data.store.removed_repositories(100).unwrap(), [data.repo]);

    data.store.restore_repository(data.repo).unwrap();
    assert_eq!(repo_of(), Some(data.repo));
    data.store.remove_repository(data.repo, 200).unwrap();
    let again = data.store.upsert_repository(&repository("/projects/url"), 300).unwrap();
    assert_eq!((again, repo_of()), (data.repo, Some(data.repo)));
    assert_eq!(data.store.summaries(data.repo).unwrap().len(), 1);

    data.store.remove_repository(data.repo, 400).unwrap();
    data.store.delete_repository(data.repo, 500).unwrap();
    let gone = data.store.restore_repository(data.repo);
    assert!(matches!(gone, Err(StoreError::NoRepository(_))));
    assert_eq!(data.store.removed_repositories(i64::MAX).unwrap(), []);
}

#[test]
fn a_deleted_repository_takes_its_memory_along_and_leaves_its_runs() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "a.py", "a1", "text", 10))
        .unwrap();
    let run = data.run("Port is lost");
    let removed = data.store.delete_repository(data.repo, 100).unwrap();
    assert_eq!((removed.summaries, removed.runs_kept), (1, 1));
    assert_eq!(data.store.repositories().unwrap(), []);
    let entry = data.store.run(run).unwrap().entry;
    assert_eq!((entry.repo, entry.repository.as_str()), (None, "url"));
    // Opened again, it has its runs again.
    let again = data.store.upsert_repository(&repository("/projects/url"), 200).unwrap();
    assert_eq!(data.store.run(run).unwrap().entry.repo, Some(again));
}

#[test]
fn a_repository_used_again_is_the_same_and_comes_first() {
    let data = Data::new();
    let other = data.store.upsert_repository(&repository("/projects/other"), 2).unwrap();
    assert_eq!(
        data.store.upsert_repository(&repository("/projects/url"), 3).unwrap(),
        data.repo
    );
    let order: Vec<_> = data
        .store
        .repositories()
        .unwrap()
        .iter()
        .map(|repository| repository.id)
        .collect();
    assert_eq!(order, [data.repo, other]);
}
