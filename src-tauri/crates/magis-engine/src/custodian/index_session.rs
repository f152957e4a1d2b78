//! The one way a repository's index and history are opened and synced to a tree: for runs, for locating outside of them,
//! and for measuring.
//!
//! What is asked of them then is for others to say.

use super::{commit_history, index_state};
use crate::EngineError;
use magis_core::{BlobId, RepoPath, SkipReason, SkippedFile};
use magis_repo::{ReadError, Snapshot, SourceText};
use magis_search::{CommitHistory, Index, Retention, Signals, Sources};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is done before the first answer, for whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparing {
    /// Somebody else writes to the index: the window, another run, another program.
    Waiting,
    /// The files of the tree are listed.
    Listing {
        /// The number so far.
        files: usize,
    },
    /// Contents that the index does not hold yet are read.
    Index {
        /// The number that is done.
        done: usize,
        total: usize,
    },
    /// Commits before the base that were not known are read.
    History {
        /// The number so far.
        read: usize,
    },
}

/// The index of a repository, standing for one tree, and what happened before it.
pub(crate) struct IndexSession {
    folder: PathBuf,
    pub index: Index,
    history: CommitHistory,
}

/// What bringing an index to a tree came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Synced {
    /// Files that are no text or could not be read, in the order of their paths.
    pub skipped: Vec<SkippedFile>,
    /// How long the index took.
    pub index: Duration,
    /// How long the history took.
    pub history: Duration,
}

impl IndexSession {
    /// Returns the index in `folder`, of no tree yet. `watch` may break the waiting for it off.
    ///
    /// # Errors
    /// When the index folder cannot be opened.
    pub fn open(
        folder: &Path,
        retention: Retention,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<Self, EngineError> {
        // An index that is being written may look damaged.
        let _lock = index_state::lock(folder, &mut || watch(Preparing::Waiting))?;
        Ok(Self {
            folder: folder.to_owned(),
            index: Index::open(folder)?.retaining(retention),
            history: CommitHistory::default(),
        })
    }

    /// Makes it stand for `files`, those of `snapshot`, and for the commits before that. `watch` may break it off, which
    /// counts as cancelled; what was read by then is kept.
    ///
    /// # Errors
    /// When the repository cannot be read, or the index cannot be written.
    pub fn sync_to(
        &mut self,
        snapshot: &Snapshot,
        files: &[(RepoPath, BlobId)],
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<Synced, EngineError> {
        let begun = Instant::now();
        let lock = index_state::lock(&self.folder, &mut || watch(Preparing::Waiting))?;
        index_state::forget(&self.folder);
        let mut texts = snapshot.read_ahead(files.iter().map(|(_, blob)| blob));
        let update = self.index.update_while(
            files,
            |_, blob| text(texts.scan(blob)),
            |done, total| watch(Preparing::Index { done, total }),
        )?;
        if update.not_reached > 0 {
            return Err(EngineError::cancelled());
        }
        index_state::note(&self.folder, &snapshot.base().commit);
        drop(lock);
        let index = begun.elapsed();
        let begun = Instant::now();
        let mut stopped = false;
        self.history = commit_history::history(&self.folder, snapshot, |read| {
            let said = watch(Preparing::History { read });
            stopped = said.is_break();
            said
        })?;
        if stopped {
            return Err(EngineError::cancelled());
        }
        Ok(Synced {
            skipped: update.skipped,
            index,
            history: begun.elapsed(),
        })
    }

    /// Returns the commits before the tree.
    pub fn history(&self) -> &CommitHistory {
        &self.history
    }

    /// Returns everything the ranking can hear, as far as `signals` go.
    pub fn sources(&self, signals: Signals) -> Sources<'_> {
        Sources {
            signals,
            history: Some(&self.history),
        }
    }
}

/// Returns the text that was read, or why there is none.
fn text(read: Result<SourceText, ReadError>) -> Result<String, SkipReason> {
    match read {
        Ok(source) => Ok(source.text),
        Err(ReadError::Skipped { reason, .. }) => Err(reason),
        Err(_) => Err(SkipReason::Unreadable),
    }
}

/// Returns two lists of skipped files as one, in the order of their paths.
pub(crate) fn joined(mut one: Vec<SkippedFile>, other: Vec<SkippedFile>) -> Vec<SkippedFile> {
    one.extend(other);
    one.sort_by(|one, other| one.path.cmp(&other.path));
    one
}
