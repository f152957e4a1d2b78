//! How deep the folders of a work tree may lie in one another.

use super::Opened;
use crate::RepoError;

/// So deep libgit2 goes into a work tree.
pub(super) const MAX_DEPTH: usize = 100;

/// Returns the error that folders of the work tree lie too deep in one another.
pub(super) fn too_deep(repository: &Opened) -> RepoError {
    RepoError::FoldersTooDeep {
        path: repository.root().to_owned(),
        limit: MAX_DEPTH,
    }
}
