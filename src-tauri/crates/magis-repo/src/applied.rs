//! What was applied, in enough detail to take it back.

use magis_core::{CommitId, RepoPath};
use serde::{Deserialize, Serialize};

/// What was applied. Kept with the run; [`undo`](crate::undo()) needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Applied {
    /// Files of the work tree were changed.
    Worktree {
        /// Each with what it was and what it became.
        files: Vec<AppliedFile>,
        /// Stands in the names of the files that are written beside these, so that what is left of them can be told. Empty: written before there was one.
        #[serde(default)]
        mark: String,
    },
    /// A branch was made.
    Branch {
        name: String,
        commit: CommitId,
        /// What a commit by hand would have done and this one did not: hooks, signing.
        skipped: Vec<String>,
    },
}

/// A changed file of the work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    pub path: RepoPath,
    /// What it was; none: it did not exist.
    pub before: Option<FileState>,
    /// The hash of what it became, as of a git blob; none: it is gone.
    pub after: Option<String>,
}

/// A file of the work tree as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The hash of its bytes, as of a git blob.
    pub hash: String,
    /// Its bytes.
    pub content: FileContent,
    /// Its permission bits, where the system has them.
    pub permissions: Option<u32>,
}

/// The bytes of a file, stored as text where they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FileContent {
    /// UTF-8.
    Text(String),
    Bytes(Vec<u8>),
}

impl AppliedFile {
    /// Returns whether a folder stands in this file's place because of what was applied, so that it goes again.
    pub(crate) fn makes_room(&self, files: &[Self]) -> bool {
        let below = |file: &Self| {
            let rest = file.path.as_str().strip_prefix(self.path.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        files.iter().any(|file| file.after.is_some() && below(file))
    }
}

impl FileContent {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }

    /// Returns the bytes as they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
