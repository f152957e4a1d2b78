//! From the changes of single files to the repository-level change: the result tree and its patch.
//!
//! Works on trees in memory and writes into our own store only.

use crate::{RepoError, Snapshot};
use magis_core::{FileChange, RepoPath, TreeId};

/// Applies `changes` to the snapshot's tree and gives the result tree and the diff of the two in git's form.
pub fn apply_changes(snapshot: &Snapshot, changes: &[(RepoPath, FileChange)]) -> Result<(TreeId, String), RepoError> {
    let _ = (snapshot, changes);
    todo!()
}
