//! Which files are described next, read from the working tree, the index, the history and earlier runs.
//!
//! How these count is `candidates`' business. A file with uncommitted work is left out: it is about to change again.

use super::Watched;
use super::summary_candidates::{Kind, SummaryCandidate, in_order};
use crate::EngineError;
use crate::custodian::commit_history;
use crate::custodian::describing::{FileVersion, is_ready};
use magis_core::{BlobId, CommitId, RepoPath, RunEvent, RunId};
use magis_repo::{BaseChoice, Snapshot};
use magis_store::{CreationOrder, RunFilter};
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many commits of history count.
const COMMITS: usize = 500;
/// A commit that changes more files than this is a renaming or a formatting.
const MASS_CHANGE: usize = 100;
/// How many of the last runs are looked at.
const RUNS: u32 = 30;

/// The files of the last commit that are to be described next.
pub(crate) struct Batch {
    pub snapshot: Snapshot,
    /// The likeliest to matter first.
    pub files: Vec<Chosen>,
}

/// A file that was chosen to be summarised next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub path: RepoPath,
    pub blob: BlobId,
    pub text: String,
}

/// Chooses files, and remembers which need nothing.
pub(crate) struct Choosing {
    watched: Watched,
    /// Versions that memory knows.
    settled: HashSet<(RepoPath, BlobId)>,
    /// Versions of which the model made nothing: it would again.
    unusable: HashSet<(RepoPath, BlobId)>,
    /// What others had changed in memory when that was found out.
    memory_changes: u32,
    changes: Option<(CommitId, Changes)>,
    mentions: Option<(Option<RunId>, Arc<Mentions>)>,
}

/// In how many of the last runs each file was described.
type Mentions = BTreeMap<RepoPath, u32>;

/// By file: how many commits ago it was changed, each time.
type Changes = BTreeMap<RepoPath, Vec<u32>>;

impl Choosing {
    pub fn new(watched: Watched) -> Self {
        Self {
            watched,
            settled: HashSet::new(),
            unusable: HashSet::new(),
            memory_changes: 0,
            changes: None,
            mentions: None,
        }
    }

    /// Returns the next files, `most` at the most; none where everything is described that could be, or where there is
    /// no commit. May take seconds: a history that was never read is.
    pub fn next(
        &mut self,
        most: usize,
        model_sha: &str,
        stop: &CancellationToken,
    ) -> Result<Option<Batch>, EngineError> {
        let (work, connections, memory_changes) = {
            let held = self.watched.held();
            (held.work.clone(), Arc::clone(&held.connections), held.memory_changes)
        };
        if std::mem::replace(&mut self.memory_changes, memory_changes) != memory_changes {
            self.settled.clear();
            self.mentions = None;
        }
        let (magis, repo) = (self.watched.magis.clone(), self.watched.repo);
        let Some(work) = work else { return Ok(None) };
        if magis.open_repository(repo)?.head_place()?.commit.is_none() {
            return Ok(None);
        }
        let snapshot = magis.snapshot_of(repo, &BaseChoice::Head)?;
        let mentions = self.mentions()?;
        let changes = self.changes(&snapshot, stop)?;
        let candidate = |(path, connections): &(RepoPath, usize)| {
            let blob = work.files().get(path)?;
            (!work.uncommitted().contains(path)).then(|| SummaryCandidate {
                changes: changes.get(path).cloned().unwrap_or_default(),
                connections: *connections,
                mentions: mentions.get(path).copied().unwrap_or(0),
                kind: SourceLanguage::of(path).map_or(Kind::Other, |_| Kind::Code),
                path: path.clone(),
                blob: blob.clone(),
            })
        };
        let mut files = Vec::new();
        for one in in_order(connections.iter().filter_map(candidate).collect()) {
            if files.len() == most || stop.is_cancelled() {
                break;
            }
            let version = (one.path, one.blob);
            if self.settled.contains(&version) || self.unusable.contains(&version) {
                continue;
            }
            // What is staged and not committed is of another version than the last commit.
            let committed = snapshot.blob(&version.0).is_ok_and(|blob| blob == version.1);
            let Some(source) = committed.then(|| snapshot.read(&version.0).ok()).flatten() else {
                continue;
            };
            let file = FileVersion {
                repo,
                path: &version.0,
                blob: &version.1,
                text: &source.text,
            };
            if is_ready(&magis.store, &snapshot, file, model_sha)? {
                self.settled.insert(version);
                continue;
            }
            let (path, blob) = version;
            files.push(Chosen {
                path,
                blob,
                text: source.text,
            });
        }
        Ok((!files.is_empty()).then_some(Batch { snapshot, files }))
    }

    /// This version is described.
    pub fn settle(&mut self, one: &Chosen) {
        self.settled.insert((one.path.clone(), one.blob.clone()));
    }

    /// This version is left alone.
    pub fn leave(&mut self, one: &Chosen) {
        self.unusable.insert((one.path.clone(), one.blob.clone()));
    }

    /// Forgets what needs nothing: another program may have changed memory.
    pub fn look_anew(&mut self) {
        self.settled.clear();
    }

    /// Returns what history says, read once for each commit at `HEAD`.
    fn changes(&mut self, snapshot: &Snapshot, stop: &CancellationToken) -> Result<Changes, EngineError> {
        let head = &snapshot.base().commit;
        if let Some((known, changes)) = &self.changes
            && known == head
        {
            return Ok(changes.clone());
        }
        let folder = self.watched.magis.data.index(self.watched.repo);
        let commits = commit_history::commits(&folder, snapshot, |_| {
            if stop.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let mut changes = Changes::new();
        for (ago, commit) in (0..).zip(commits.into_iter().take(COMMITS)) {
            if commit.changed.len() <= MASS_CHANGE {
                for path in commit.changed {
                    changes.entry(path).or_default().push(ago);
                }
            }
        }
        self.changes = Some((head.clone(), changes.clone()));
        Ok(changes)
    }

    /// Returns what the last runs described, read once for each new run.
    fn mentions(&mut self) -> Result<Arc<Mentions>, EngineError> {
        let store = &self.watched.magis.store;
        let filter = RunFilter {
            repo: Some(self.watched.repo),
            status: None,
            limit: RUNS,
            order: CreationOrder::NewestFirst,
            after: None,
        };
        let runs = store.runs(&filter)?;
        let newest = runs.first().map(|run| run.id);
        if let Some((known, mentions)) = &self.mentions
            && *known == newest
        {
            return Ok(Arc::clone(mentions));
        }
        let mut mentions = Mentions::new();
        for run in runs {
            for stored in store.events(run.id)? {
                if let RunEvent::FileDescribed { description } = stored.event {
                    *mentions.entry(description.path).or_insert(0) += 1;
                }
            }
        }
        let mentions = Arc::new(mentions);
        self.mentions = Some((newest, Arc::clone(&mentions)));
        Ok(mentions)
    }
}
