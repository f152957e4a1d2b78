//! Where an issue's files are looked for: the index over a repository's texts and its history, as `magis locate` has them.

use super::super::CaseOutcome;
use super::super::git_answers::told;
use magis_core::{BlobId, Issue, RepoPath, SkipReason};
use magis_repo::{BaseChoice, ObjectStore, ReadError, Repository, Snapshot};
use magis_search::{CommitHistory, Index, IssueQuery, Signals, Sources};
use std::ops::ControlFlow;
use std::path::Path;

/// So many files and functions are asked for.
const ASKED: usize = 10;
const ISSUE: &str =
    "Traceback (most recent call last):\n  File \"a.py\", line 5, in five\n`line 5` of a.py is wrong, see gone.txt";

/// Looks for the files of an issue, once by an index that is new and once by the same one brought to uncommitted work.
pub(super) fn locate(repository: &Repository, store: &Path, outcome: &mut CaseOutcome) {
    let Some(store) = told(outcome, "store", ObjectStore::open(store, repository)) else {
        return;
    };
    let mut index = Index::in_memory().expect("an index in memory can be made");
    let query = IssueQuery::of(&Issue::new(ISSUE).expect("an issue of some words"), &[]);
    for choice in [BaseChoice::Head, BaseChoice::HeadWithUncommitted] {
        let Some(snapshot) = told(outcome, "snapshot", Snapshot::take(repository, &store, &choice)) else {
            continue;
        };
        let Some((files, _)) = told(outcome, "listed", snapshot.files()) else {
            continue;
        };
        let wanted: Vec<(RepoPath, BlobId)> = files.into_iter().map(|file| (file.path, file.blob)).collect();
        let mut texts = snapshot.read_ahead(wanted.iter().map(|(_, blob)| blob));
        let mut lost = Vec::new();
        let read = |_: &RepoPath, blob: &BlobId| match texts.scan(blob) {
            Ok(source) => Ok(source.text),
            Err(ReadError::Skipped { reason, .. }) => Err(reason),
            Err(ReadError::Repo(error)) => {
                lost.push(error);
                Err(SkipReason::Unreadable)
            }
            Err(_) => Err(SkipReason::Unreadable),
        };
        let update = index
            .update(&wanted, read, |_, _| {})
            .expect("an index in memory can be written");
        for error in lost {
            told::<()>(outcome, "read", Err(error));
        }
        outcome.say_count("added", update.added);
        outcome.say_count("skipped", update.skipped.len());
        let past = told(
            outcome,
            "past",
            snapshot.past(50, |_| false, |_| ControlFlow::Continue(())),
        );
        let history = CommitHistory::of(past.map(|walked| walked.new).unwrap_or_default());
        let sources = Sources {
            signals: Signals::default(),
            history: Some(&history),
        };
        let (ranking, symbols) = index
            .locate(&query, sources, ASKED, ASKED)
            .expect("an index in memory can be read");
        assert!(ranking.candidates.len() <= ASKED && symbols.len() <= ASKED);
        for candidate in &ranking.candidates {
            assert!(candidate.score.is_finite(), "{candidate:?}");
            assert!(wanted.iter().any(|(path, _)| *path == candidate.path), "{candidate:?}");
        }
        outcome.say_count("candidates", ranking.candidates.len());
        outcome.say_count("symbols", symbols.len());
    }
}
