//! Applying a patch as a commit on a new branch. Work tree, index and `HEAD` stay as they are.

use crate::{Applied, Patch, RepoError, Repository, Selection};
use magis_core::Base;
use serde::{Deserialize, Serialize};

/// The commit to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCommit {
    /// The new branch.
    pub branch: String,
    /// The commit message.
    pub message: String,
    /// Author and committer; none: from git's configuration.
    pub identity: Option<Identity>,
}

/// Who makes a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

/// Commits the selected hunks on a new branch that starts at the run's base commit.
///
/// With a base that holds uncommitted work the branch starts at the commit below it and takes the hunks that apply
/// there; if one does not, the answer is [`RepoError::NeedsUncommitted`] and nothing is written.
pub fn apply_to_branch(
    repository: &Repository,
    base: &Base,
    patch: &Patch,
    selection: &Selection,
    commit: &BranchCommit,
) -> Result<Applied, RepoError> {
    let _ = (repository, base, patch, selection, commit);
    todo!()
}
