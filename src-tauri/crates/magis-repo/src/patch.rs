//! A patch in git's form, as files and hunks that a person can choose from.
//!
//! Reads and writes text; applies nothing.

use magis_core::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use thiserror::Error;

/// A patch over several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Patch {
    /// In the order of the text.
    pub files: Vec<FilePatch>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilePatch {
    /// The file; after a move, its new path.
    pub path: RepoPath,
    /// What happens to the file as such.
    pub kind: FilePatchKind,
    /// The id of the blob before, as far as the patch has it; empty for a new file.
    pub old_blob: String,
    /// Its hunks, at least one: what has no text (a mere move, a new empty file, a binary file) counts as one hunk
    /// without lines.
    pub hunks: Vec<Hunk>,
    /// The lines before the first hunk, as they stand in the text.
    #[serde(skip)]
    pub(crate) header: Vec<String>,
    /// The lines of a binary patch, as they stand in the text.
    #[serde(skip)]
    pub(crate) binary: Vec<String>,
}

/// What happens to a file as such.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FilePatchKind {
    /// Its content changes.
    Modify,
    /// It is new.
    Create,
    /// It goes.
    Delete,
    /// It moves.
    Rename {
        /// From here.
        from: RepoPath,
    },
}

/// The number of a hunk, from 1 over the whole patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HunkNumber(pub u32);

/// A run of changed lines with those around.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hunk {
    /// Its number.
    pub number: HunkNumber,
    /// The first line in the old file, from 1; 0 if it has none there.
    pub old_start: u32,
    /// How many lines of the old file.
    pub old_lines: u32,
    /// The first line in the new file.
    pub new_start: u32,
    /// How many lines of the new file.
    pub new_lines: u32,
    /// What stands behind the second `@@`.
    pub section: String,
    /// The lines with their sign (' ', '-', '+', '\'), without `\n`.
    pub lines: Vec<String>,
}

/// Which hunks of a patch are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Selection {
    /// All.
    All,
    /// These.
    Hunks {
        /// Their numbers.
        numbers: BTreeSet<HunkNumber>,
    },
}

/// Why a text is no patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the patch: {what}")]
pub struct PatchError {
    /// The line of the text, from 1.
    pub line: u32,
    /// What is wrong there.
    pub what: String,
}

impl Patch {
    /// Reads a patch in git's form.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        let _ = text;
        todo!()
    }

    /// How many hunks there are.
    pub fn hunk_count(&self) -> u32 {
        self.files.iter().map(|file| file.hunks.len() as u32).sum()
    }

    /// The patch with the selected hunks alone, which keep their numbers. A file with none of its hunks selected is
    /// left out; a move happens with any of its hunks.
    #[must_use]
    pub fn select(&self, selection: &Selection) -> Self {
        let _ = selection;
        todo!()
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
