//! Why a patch does not apply.

use magis_core::RepoPath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a patch does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub path: RepoPath,
    /// The line of the file as it is now, from 1.
    pub line: u32,
    pub reason: ConflictReason,
}

/// Why a patch does not apply at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictReason {
    /// The lines it changes, or those around, are no longer there.
    LinesDiffer,
    /// The file is gone.
    FileMissing,
    /// A file stands where one would be created or moved to.
    FileExists,
    /// The file to be deleted has been changed.
    ContentDiffers,
    /// It is not UTF-8 text.
    NotText,
    /// The file, or a folder on the way, is a symbolic link or no ordinary file.
    NotARegularFile,
}

impl fmt::Display for ConflictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LinesDiffer => "the lines there have changed",
            Self::FileMissing => "the file is gone",
            Self::FileExists => "a file stands there already",
            Self::ContentDiffers => "the file has changed since",
            Self::NotText => "the file is not UTF-8 text",
            Self::NotARegularFile => "it is, or lies behind, a symbolic link or no ordinary file",
        })
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.reason)
    }
}
