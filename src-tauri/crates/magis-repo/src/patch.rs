//! A patch in git's form, as files and hunks that a person can choose from.
//!
//! Reads and writes text; applies nothing.

mod parse;

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
    Modify,
    Create,
    Delete,
    Rename { from: RepoPath },
}

/// The number of a hunk, from 1 over the whole patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HunkNumber(pub u32);

/// A run of changed lines with those around.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hunk {
    pub number: HunkNumber,
    /// The first line in the old file, from 1; 0 if it has none there.
    pub old_start: u32,
    /// How many lines of the old file.
    pub old_lines: u32,
    /// The first line in the new file.
    pub new_start: u32,
    /// How many lines of the new file.
    pub new_lines: u32,
    /// What stands behind the second `@@`, with its space.
    pub section: String,
    /// The lines with their sign (' ', '-', '+', '\'), without `\n`.
    pub lines: Vec<String>,
}

/// Which hunks of a patch are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Selection {
    All,
    Hunks { numbers: BTreeSet<HunkNumber> },
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
    ///
    /// # Errors
    /// When the text is no patch in git's form, or names a path that no run can name.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        parse::patch(text)
    }

    /// Returns how many hunks there are.
    pub fn hunk_count(&self) -> u32 {
        self.files.iter().map(|file| file.hunks.len() as u32).sum()
    }

    /// Returns the patch with the selected hunks alone, which keep their numbers. A file with none of its hunks
    /// selected is left out; a move happens with any of its hunks.
    #[must_use]
    pub fn select(&self, selection: &Selection) -> Self {
        let numbers = match selection {
            Selection::All => return self.clone(),
            Selection::Hunks { numbers } => numbers,
        };
        let files = self.files.iter().filter_map(|file| {
            let hunks: Vec<Hunk> = file
                .hunks
                .iter()
                .filter(|hunk| numbers.contains(&hunk.number))
                .cloned()
                .collect();
            let mut file = FilePatch { hunks, ..file.clone() };
            if file.hunks.len() < self.hunks_of(&file.path) {
                // The ids of the blobs, and how alike they are, hold for all hunks together.
                file.header
                    .retain(|line| !line.starts_with("index ") && !line.starts_with("similarity "));
                renumber_lines(&mut file.hunks);
            }
            (!file.hunks.is_empty()).then_some(file)
        });
        Self { files: files.collect() }
    }

    fn hunks_of(&self, path: &RepoPath) -> usize {
        self.files
            .iter()
            .find(|file| file.path == *path)
            .map_or(0, |file| file.hunks.len())
    }
}

impl FilePatch {
    /// Returns the path that the file had before the patch.
    pub fn old_path(&self) -> &RepoPath {
        match &self.kind {
            FilePatchKind::Rename { from } => from,
            FilePatchKind::Modify | FilePatchKind::Create | FilePatchKind::Delete => &self.path,
        }
    }

    /// Returns the hunks that have lines.
    pub(crate) fn text_hunks(&self) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().filter(|hunk| !hunk.lines.is_empty())
    }

    /// Returns whether the file is binary, so that its hunk shows nothing.
    pub fn is_binary(&self) -> bool {
        !self.binary.is_empty()
    }

    /// Returns whether the blob before was `id`; the patch may have the beginning of it only.
    pub(crate) fn was(&self, id: &str) -> bool {
        !self.old_blob.is_empty() && id.starts_with(&self.old_blob)
    }

    /// Returns whether a new file is a program.
    pub(crate) fn is_program(&self) -> bool {
        self.header.iter().any(|line| line == "new file mode 100755")
    }
}

/// Sets where hunks begin in the new file when some before them are left out.
fn renumber_lines(hunks: &mut [Hunk]) {
    let mut shift = 0_i64;
    for hunk in hunks {
        let first = i64::from(hunk.old_start) + i64::from(hunk.old_lines == 0) + shift;
        hunk.new_start = (first - i64::from(hunk.new_lines == 0)) as u32;
        shift += i64::from(hunk.new_lines) - i64::from(hunk.old_lines);
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            for line in &file.header {
                writeln!(f, "{line}")?;
            }
            for hunk in file.text_hunks() {
                let range = |start: u32, lines: u32| match lines {
                    1 => start.to_string(),
                    _ => format!("{start},{lines}"),
                };
                let (old, new) = (
                    range(hunk.old_start, hunk.old_lines),
                    range(hunk.new_start, hunk.new_lines),
                );
                writeln!(f, "@@ -{old} +{new} @@{}", hunk.section)?;
                for line in &hunk.lines {
                    writeln!(f, "{line}")?;
                }
            }
            for line in &file.binary {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}
