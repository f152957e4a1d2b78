//! The tree a run reads, and reading from it. What is read is copied into the store on the way.
//!
//! Does not change anything; see `changes` for that.

use crate::{ObjectStore, ReadError, RepoError, Repository, SourceText};
use magis_core::{Base, BlobId, RepoPath, SkippedFile};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a run is to be based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BaseChoice {
    /// The last commit.
    Head,
    /// The last commit with all uncommitted work: changed files, and new ones that are not ignored.
    HeadWithUncommitted,
    /// A branch, a tag, a commit.
    Revision {
        /// As git reads it.
        name: String,
    },
}

/// A tree, fixed at one moment.
#[derive(Clone)]
pub struct Snapshot {
    store: ObjectStore,
    base: Base,
    notes: Vec<String>,
}

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path.
    pub path: RepoPath,
    /// Its blob.
    pub blob: BlobId,
    /// Its mode.
    pub mode: FileMode,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The modes of ordinary files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// 100644.
    Regular,
    /// 100755.
    Executable,
}

impl Snapshot {
    /// Fixes the tree that `choice` names.
    pub fn take(repository: &Repository, store: &ObjectStore, choice: &BaseChoice) -> Result<Self, RepoError> {
        let _ = (repository, store, choice);
        todo!()
    }

    /// Opens the tree of an earlier run; works for the files that run read even when the repository is gone.
    pub fn reopen(folder: impl AsRef<Path>, base: &Base) -> Result<Self, RepoError> {
        let _ = (folder.as_ref(), base);
        todo!()
    }

    /// Which tree it is.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// What a person should know about how it was taken, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The store it reads from.
    pub fn store(&self) -> &ObjectStore {
        &self.store
    }

    /// All ordinary files up to [`crate::MAX_FILE_BYTES`] in the order of their paths, and what is left out, with the
    /// reason. Contents are not looked at: a binary file is found out when it is read.
    pub fn files(&self) -> Result<(Vec<FileEntry>, Vec<SkippedFile>), RepoError> {
        todo!()
    }

    /// The text of a file. It is copied into the store, with the trees on the way.
    pub fn read(&self, path: &RepoPath) -> Result<SourceText, ReadError> {
        let _ = path;
        todo!()
    }

    /// The text of a blob, which need not be in the tree (an older version, say). It is copied into the store.
    pub fn read_blob(&self, blob: &BlobId) -> Result<SourceText, ReadError> {
        let _ = blob;
        todo!()
    }
}
