//! Which contents need no description, and what has to be known of a content to say so: how long it is, or that it is no
//! text.
//!
//! That is found out once, by reading, and kept in a file beside the index, a line a content, so that a count of a large
//! tree reads a file and not the tree. Losing it costs reading the contents anew, so a damaged one is no error.

use magis_core::{BlobId, RepoPath, SkipReason};
use magis_platform::private;
use magis_repo::{ReadError, SourceText};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Why a content needs no description: none is ever asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryNotNeeded {
    /// It is shorter than a description, and read whole in its place.
    ShortEnough,
    /// It is no text, so that no run reads it.
    NoText,
}

/// What is known of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlobKind {
    /// A text of so many bytes.
    Text {
        bytes: u64,
    },
    NoText,
}

/// A text of fewer bytes is its own description: a summary may take as much.
const SHORT_FILE: u64 = 400;
/// The file is written anew when it holds more than this multiple of the contents of the tree.
const STALE: usize = 3;
/// The least number for that, where the tree is small.
const AT_LEAST: usize = 2_000;

impl BlobKind {
    /// That of a text.
    pub fn of(text: &str) -> Self {
        Self::Text {
            bytes: text.len() as u64,
        }
    }

    /// That of what was skipped; none where the reason is not in the content itself.
    pub fn skipped(reason: &SkipReason) -> Option<Self> {
        reason.is_of_content().then_some(Self::NoText)
    }

    /// Returns why it needs no description; none where it needs one. Everything that counts, shows or makes
    /// descriptions asks here.
    pub fn needs_none(self) -> Option<SummaryNotNeeded> {
        match self {
            Self::Text { bytes } if bytes < SHORT_FILE => Some(SummaryNotNeeded::ShortEnough),
            Self::Text { .. } => None,
            Self::NoText => Some(SummaryNotNeeded::NoText),
        }
    }
}

/// Returns the content of a blob that was read in git; none where that cannot be found out.
pub(crate) fn in_git(read: Result<SourceText, ReadError>) -> Option<BlobKind> {
    match read {
        Ok(source) => Some(BlobKind::of(&source.text)),
        Err(ReadError::Skipped { reason, .. }) => BlobKind::skipped(&reason),
        Err(_) => None,
    }
}

/// Returns what is known of contents by now.
pub(crate) fn known(index_folder: &Path) -> HashMap<BlobId, BlobKind> {
    let text = fs::read_to_string(file_of(index_folder)).unwrap_or_default();
    text.lines().filter_map(read_line).collect()
}

/// Returns what is known of the contents of `files`, once those that were not known are read. What `read` gives nothing
/// for is asked for again the next time.
pub(crate) fn look_into(
    index_folder: &Path,
    files: &[(RepoPath, BlobId)],
    mut read: impl FnMut(&RepoPath, &BlobId) -> Option<BlobKind>,
) -> HashMap<BlobId, BlobKind> {
    let mut known = known(index_folder);
    let mut new = Vec::new();
    for (path, blob) in files {
        if !known.contains_key(blob)
            && let Some(content) = read(path, blob)
        {
            known.insert(blob.clone(), content);
            new.push((blob.clone(), content));
        }
    }
    note(index_folder, &new);
    if known.len() > STALE * files.len().max(AT_LEAST) {
        let wanted: HashSet<&BlobId> = files.iter().map(|(_, blob)| blob).collect();
        known.retain(|blob, _| wanted.contains(blob));
        // A file that cannot be written only costs time.
        drop(fs::write(file_of(index_folder), lines(&known)));
    }
    known
}

/// Keeps what was found out while contents were read for something else.
pub(crate) fn note(index_folder: &Path, found: &[(BlobId, BlobKind)]) {
    if !found.is_empty() {
        // A file that cannot be written only costs time.
        drop(append(
            &file_of(index_folder),
            &lines(found.iter().map(|(blob, content)| (blob, content))),
        ));
    }
}

/// Deletes what is kept.
pub(crate) fn forget(index_folder: &Path) {
    drop(fs::remove_file(file_of(index_folder)));
}

/// Beside the folder, which belongs to the index alone.
fn file_of(index_folder: &Path) -> PathBuf {
    index_folder.with_extension("contents")
}

/// Each line begins with a line break, so that one that was cut off spoils no other, and ends with a mark, so that it is
/// not taken for a whole one.
fn lines<'c>(contents: impl IntoIterator<Item = (&'c BlobId, &'c BlobKind)>) -> String {
    let mut text = String::new();
    for (blob, content) in contents {
        text.push('\n');
        text.push_str(&blob.0);
        match content {
            BlobKind::Text { bytes } => text.push_str(&format!(" {bytes} .")),
            BlobKind::NoText => text.push_str(" - ."),
        }
    }
    text
}

fn read_line(line: &str) -> Option<(BlobId, BlobKind)> {
    let mut words = line.strip_suffix(" .")?.split(' ');
    let (blob, content) = (words.next()?, words.next()?);
    let content = match content {
        "-" => BlobKind::NoText,
        bytes => BlobKind::Text {
            bytes: bytes.parse().ok()?,
        },
    };
    Some((BlobId(blob.to_owned()), content))
}

fn append(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(around) = file.parent() {
        fs::create_dir_all(around)?;
    }
    private::file_options()
        .create(true)
        .append(true)
        .open(file)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<(RepoPath, BlobId)> {
        let file = |name: &&str| (RepoPath::new(*name).unwrap(), BlobId((*name).to_owned()));
        names.iter().map(file).collect()
    }

    /// Returns what is known of `files` when `contents` can be read, and which of those had to be.
    fn look(folder: &Path, wanted: &[&str], contents: &[(&str, BlobKind)]) -> (Vec<Option<BlobKind>>, Vec<String>) {
        let mut asked = Vec::new();
        let known = look_into(folder, &files(wanted), |path, _| {
            asked.push(path.to_string());
            let found = contents.iter().find(|(name, _)| *name == path.as_str());
            found.map(|(_, content)| *content)
        });
        let of = |name: &&str| known.get(&BlobId((*name).to_owned())).copied();
        (wanted.iter().map(of).collect(), asked)
    }

    #[test]
    fn what_is_shorter_than_a_description_or_no_text_needs_none() {
        assert_eq!(BlobKind::of("").needs_none(), Some(SummaryNotNeeded::ShortEnough));
        assert_eq!(
            BlobKind::of(&"x".repeat(399)).needs_none(),
            Some(SummaryNotNeeded::ShortEnough)
        );
        assert_eq!(BlobKind::of(&"x".repeat(400)).needs_none(), None);
        assert_eq!(BlobKind::NoText.needs_none(), Some(SummaryNotNeeded::NoText));
        assert_eq!(BlobKind::skipped(&SkipReason::Binary), Some(BlobKind::NoText));
        assert_eq!(BlobKind::skipped(&SkipReason::Missing), None, "it may come");
    }

    #[test]
    fn a_content_is_read_once_and_one_that_cannot_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("1");
        let text = BlobKind::Text { bytes: 12 };
        let contents = [("a", text), ("b", BlobKind::NoText)];
        let asked = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let all = vec![Some(text), Some(BlobKind::NoText), None];
        assert_eq!(
            look(&index, &["a", "b", "c"], &contents),
            (all.clone(), asked(&["a", "b", "c"]))
        );
        assert_eq!(look(&index, &["a", "b", "c"], &contents), (all, asked(&["c"])));
        forget(&index);
        assert_eq!(look(&index, &["a"], &contents).1, asked(&["a"]));
    }

    #[test]
    fn a_line_that_was_cut_off_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("1");
        fs::write(file_of(&index), "\na 12 .\nb 1").unwrap();
        note(&index, &[(BlobId("c".to_owned()), BlobKind::NoText)]);
        let (found, _) = look(&index, &["a", "b", "c"], &[]);
        assert_eq!(
            found,
            [Some(BlobKind::Text { bytes: 12 }), None, Some(BlobKind::NoText)]
        );
    }

    #[test]
    fn what_no_tree_has_any_more_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("1");
        let old: Vec<(BlobId, BlobKind)> = (0..STALE * AT_LEAST)
            .map(|number| (BlobId(format!("old{number}")), BlobKind::NoText))
            .collect();
        note(&index, &old);
        look(&index, &["a"], &[("a", BlobKind::NoText)]);
        assert_eq!(known(&index).len(), 1);
    }
}
