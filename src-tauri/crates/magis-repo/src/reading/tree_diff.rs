//! The diff of two trees.

use super::objects::Objects;
use crate::RepoError;
use crate::diff::options;
use git2::{DiffFindOptions, DiffFormat, Oid};

/// Returns the diff of two trees in git's form, moves shown as such.
pub(super) fn of(objects: &Objects, old: Oid, new: Oid) -> Result<Vec<u8>, RepoError> {
    let joined = objects.handle();
    let compare = || {
        let (old, new) = (joined.find_tree(old)?, joined.find_tree(new)?);
        let mut options = options(3);
        options.force_text(false).show_binary(true);
        let mut diff = joined.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))?;
        diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
        let mut text = Vec::new();
        diff.print(DiffFormat::Patch, |delta, _, line| {
            // A binary file that only moves has nothing to show; git refuses the empty binary patch libgit2 writes.
            if line.origin() == 'B' && delta.old_file().id() == delta.new_file().id() {
                return true;
            }
            if let sign @ ('+' | '-' | ' ') = line.origin() {
                text.push(sign as u8);
            }
            text.extend_from_slice(line.content());
            true
        })?;
        Ok(text)
    };
    compare().map_err(RepoError::git("comparing the two trees"))
}
