//! What both looks at a working tree ask of the index: how they compare, which entry counts, what a difference is about.

use super::Opened;
use super::depth::too_deep;
use super::watch::folders::Rules;
use crate::RepoError;
use git2::{Delta, Diff, DiffDelta, DiffOptions, Index, IndexEntry};
use std::path::Path;

/// Set in an index entry's extended flags when a sparse checkout leaves its file out.
const SKIP_WORKTREE: u16 = 1 << 14;
/// And where a file is only going to be staged (`git add --intent-to-add`).
const INTENT_TO_ADD: u16 = 1 << 13;

/// Returns what of the working tree differs from the index, files that are not tracked among it. The index is not
/// refreshed.
pub(super) fn compare<'r>(
    repository: &Opened,
    handle: &'r git2::Repository,
    index: &Index,
) -> Result<Diff<'r>, RepoError> {
    Rules::check(repository)?;
    let mut options = DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_typechange(true)
        .ignore_submodules(true)
        .update_index(false);
    handle
        .diff_index_to_workdir(Some(index), Some(&mut options))
        .map_err(error(repository, "comparing the work tree with the index"))
}

/// Finds the sentence for an error of looking at the work tree.
pub(super) fn error(repository: &Opened, attempt: &'static str) -> impl FnOnce(git2::Error) -> RepoError {
    let too_deep = too_deep(repository);
    let other = repository.index_error(attempt);
    move |source| {
        if source.message().contains("directory nesting too deep") {
            too_deep
        } else {
            other(source)
        }
    }
}

/// Returns the path that a difference is about.
pub(super) fn path_of<'d>(delta: &DiffDelta<'d>) -> Option<&'d [u8]> {
    let file = if delta.status() == Delta::Deleted {
        delta.old_file()
    } else {
        delta.new_file()
    };
    file.path_bytes().or_else(|| delta.old_file().path_bytes())
}

/// Returns the index entry of `path`; in a conflict, our side's.
pub(super) fn entry(index: &Index, path: &Path) -> Option<IndexEntry> {
    index.get_path(path, 0).or_else(|| index.get_path(path, 2))
}

/// Returns whether a sparse checkout leaves the file out.
pub(super) fn is_left_out(entry: &IndexEntry) -> bool {
    entry.flags_extended & SKIP_WORKTREE != 0
}

/// Returns whether nothing of the file is staged but that it will be.
pub(super) fn is_intended(entry: &IndexEntry) -> bool {
    entry.flags_extended & INTENT_TO_ADD != 0
}
