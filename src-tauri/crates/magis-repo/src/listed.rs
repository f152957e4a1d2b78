//! What can be named of a repository for a run: its base, and the files there.

use magis_core::{BlobId, RepoPath, SkippedFile};
use serde::{Deserialize, Serialize};

/// What a run is to be based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BaseChoice {
    Head,
    /// The last commit with all uncommitted work: changed files, and new ones that are not ignored.
    HeadWithUncommitted,
    /// A branch, a tag, a commit.
    Revision {
        /// As git reads it.
        name: String,
    },
}

/// The files of a snapshot, and what is left out of it.
pub type Listed = (Vec<FileEntry>, Vec<SkippedFile>);

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub path: RepoPath,
    pub blob: BlobId,
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
