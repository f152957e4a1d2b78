//! The Custodian's memory: summaries, messages of changes, what they cover.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_store::{Coverage, Maker, RunFilter, StoreError, StoredChangeMessage, UnconditionalScore};
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

const MAKER: Maker<'static> = Maker {
    model_sha: "s1",
    template_hash: "t1",
};

#[test]
fn a_summary_is_known_to_the_model_and_the_prompt_that_made_it() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "a.py", "b1", "Adds numbers.", 10))
        .unwrap();
    let known = |model_sha, template_hash| {
        let maker = Maker {
            model_sha,
            template_hash,
        };
        let found = data.store.known_summary(data.repo, &path("a.py"), &blob("b1"), maker);
        found.unwrap().map(|summary| summary.kept.text)
    };
    assert_eq!(known("s1", "t1").as_deref(), Some("Adds numbers."));
    assert_eq!(known("s2", "t1"), None);
    assert_eq!(known("s1", "t2"), None);
}

#[test]
fn a_moved_file_keeps_its_summary() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "old.py", "b1", "Adds numbers.", 10))
        .unwrap();
    let moved = path("new.py");
    let known = data.store.known_summary(data.repo, &moved, &blob("b1"), MAKER).unwrap();
    assert_eq!(known.unwrap().kept.text, "Adds numbers.");
    let coverage = data
        .store
        .coverage(data.repo, &[(moved, blob("b1"))], |_| false)
        .unwrap();
    assert_eq!((coverage.fresh, coverage.none), (1, 0));
}

#[test]
fn a_correction_is_read_whatever_the_model_and_the_prompt_until_the_file_changes() {
    let data = Data::new();
    data.store
        .put_summary(&summary(data.repo, "a.py", "b1", "Adds numbers.", 10))
        .unwrap();
    let corrected = data
        .store
        .correct_summary(data.repo, &path("a.py"), &blob("b1"), "Adds money.", 20)
        .unwrap()
        .unwrap();
    assert_eq!((corrected.corrected_at, corrected.kept.made_at), (Some(20), 10));
    // Another model's summary of the same blob is kept beside it, and a new one of the same model does not replace it.
    for (model_sha, text) in [("s2", "Sums."), ("s1", "Sums up.")] {
        let again = magis_store::NewSummary {
            model_sha: model_sha.to_owned(),
            ..summary(data.repo, "a.py", "b1", text, 30)
        };
        data.store.put_summary(&again).unwrap();
    }
    for model_sha in ["s1", "s2", "s3"] {
        let maker = Maker {
            model_sha,
            template_hash: "t9",
        };
        let known = |id| {
            data.store
                .known_summary(data.repo, &path("a.py"), &blob(id), maker)
                .unwrap()
        };
        assert_eq!(known("b1"), Some(corrected.clone()));
        assert_eq!(known("b2"), None);
        let versions = data.store.versions_of(data.repo, &path("a.py"), maker, 8).unwrap();
        assert!(versions.contains(&corrected), "an older version to build upon");
    }
    let shown = data.store.summary_of(data.repo, &path("a.py"), &blob("b1")).unwrap();
    assert_eq!(shown, Some(corrected));
}

#[test]
fn a_summary_made_anew_takes_the_place_of_all_that_was_there_a_persons_words_too() {
    let data = Data::new();
    for (id, text) in [("b1", "Of old."), ("b2", "A model's.")] {
        data.store
            .put_summary(&summary(data.repo, "a.py", id, text, 10))
            .unwrap();
    }
    let corrected = data
        .store
        .correct_summary(data.repo, &path("a.py"), &blob("b2"), "Mine.", 20);
    assert!(corrected.unwrap().unwrap().is_corrected());
    let anew = summary(data.repo, "a.py", "b2", "Made anew.", 30);
    data.store.replace_summaries(&anew).unwrap();
    let all = data.store.all_summaries(data.repo).unwrap();
    assert_eq!(all.into_iter().map(|one| one.kept).collect::<Vec<_>>(), [anew]);
}

#[test]
fn a_dropped_file_does_not_come_back_under_another_name() {
    let data = Data::new();
    for (name, id) in [("old.py", "b1"), ("new.py", "b1"), ("new.py", "b2"), ("other.py", "c1")] {
        data.store
            .put_summary(&summary(data.repo, name, id, "Text.", 10))
            .unwrap();
    }
    assert_eq!(data.store.drop_summaries_of(data.repo, &path("new.py")).unwrap(), 3);
    let left = data.store.all_summaries(data.repo).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].kept.path, path("other.py"));
}

#[test]
fn work_outside_of_runs_counts_among_the_costs() {
    let data = Data::new();
    for (at_ms, prompt_tokens) in [(1_000, 900), (2_000, 700)] {
        let work = magis_store::MemoryWork {
            repo: data.repo,
            path: path("a.py"),
            step: "P2".to_owned(),
            prompt_tokens,
            reused_tokens: 40,
            generated_tokens: 60,
            at_ms,
        };
        data.store.record_memory_work(&work).unwrap();
    }
    let days = data.store.memory_work_by_day(data.repo).unwrap();
    assert_eq!(days.iter().map(|day| day.tokens).collect::<Vec<_>>(), [1_720]);
    assert_eq!(data.store.summary_costs(data.repo).unwrap(), [(path("a.py"), 800)]);
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
        data.store.coverage(data.repo, &files, |_| false).unwrap(),
        Coverage {
            fresh: 1,
            stale: 1,
            none: 2,
            needs_none: 0
        }
    );
    let needs_none = |one: &magis_core::BlobId| ["a1", "b2", "d1"].contains(&one.0.as_str());
    assert_eq!(
        data.store.coverage(data.repo, &files, needs_none).unwrap(),
        Coverage {
            fresh: 1,
            stale: 0,
            none: 1,
            needs_none: 2
        },
        "what has a summary of its very blob is known"
    );
}

#[test]
fn a_message_of_a_change_is_kept_for_that_change_alone() {
    let data = Data::new();
    let message = StoredChangeMessage {
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
    let found = |from: &str, model_sha: &str| {
        let maker = Maker {
            model_sha,
            template_hash: "t1",
        };
        data.store.changes_from(data.repo, &blob(from), maker).unwrap()
    };
    assert_eq!(found("a1", "s1"), std::slice::from_ref(&message));
    assert_eq!(found("a2", "s1"), []);
    assert_eq!(found("a1", "s2"), [], "another model would have said something else");
    assert_eq!(data.store.all_change_messages(data.repo).unwrap(), [message]);
}

#[test]
fn the_score_of_a_name_is_known_for_its_repository_its_model_and_its_prompt_alone() {
    let data = Data::new();
    let other = data.store.upsert_repository(&repository("/projects/other"), 2).unwrap();
    let score = |logprob| UnconditionalScore { logprob, tokens: 3 };
    let put = |logprob| {
        let scores = [("a.py`", score(logprob)), ("b.py`", score(-7.5))];
        data.store.put_unconditional_scores(data.repo, MAKER, scores).unwrap();
    };
    let known = |repo, model_sha, template_hash| {
        let maker = Maker {
            model_sha,
            template_hash,
        };
        data.store
            .unconditional_scores(repo, maker, ["c.py`", "a.py`"])
            .unwrap()
    };
    put(-4.0);
    put(-4.25);
    assert_eq!(
        known(data.repo, "s1", "t1"),
        [None, Some(score(-4.25))],
        "the last stays"
    );
    assert_eq!(known(data.repo, "s2", "t1"), [None, None]);
    assert_eq!(known(data.repo, "s1", "t2"), [None, None]);
    assert_eq!(known(other, "s1", "t1"), [None, None]);
    data.store.delete_repository(data.repo, 100).unwrap();
    assert_eq!(
        known(data.repo, "s1", "t1"),
        [None, None],
        "it goes with its repository"
    );
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
