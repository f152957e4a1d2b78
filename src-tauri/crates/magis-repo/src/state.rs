//! What state a repository is in, for people to see before a run begins.
//!
//! Reads only: the index is not refreshed on the way.

use crate::{RepoError, Repository};
use magis_core::CommitId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A repository, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryState {
    /// The root of the work tree.
    pub root: PathBuf,
    /// Where `HEAD` points.
    pub head: HeadState,
    /// The commit at `HEAD`.
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// What is not committed.
    pub cleanliness: Cleanliness,
    /// What git is in the middle of.
    pub operation: Option<Operation>,
    /// History is cut off.
    pub shallow: bool,
    /// Objects may be missing.
    pub partial_clone: bool,
    /// Paths of submodules; a run leaves them alone.
    pub submodules: Vec<String>,
    /// Some files are kept by git LFS.
    pub lfs: bool,
    /// This is an additional work tree.
    pub worktree: bool,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// Where `HEAD` points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HeadState {
    /// At a branch.
    Branch {
        /// Its short name.
        name: String,
    },
    /// At a commit.
    Detached {
        /// Which.
        commit: CommitId,
    },
}

/// How many files differ from `HEAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cleanliness {
    /// Staged in the index.
    pub staged: u32,
    /// Changed in the work tree and not staged.
    pub changed: u32,
    /// Not tracked and not ignored.
    pub untracked: u32,
    /// With unresolved conflicts.
    pub conflicted: u32,
}

/// What git is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git revert`.
    Revert,
    /// `git cherry-pick`.
    CherryPick,
    /// `git bisect`.
    Bisect,
    /// `git rebase`.
    Rebase,
    /// `git am`.
    ApplyMailbox,
}

impl Cleanliness {
    /// Whether nothing differs.
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }
}

pub(crate) fn read(repository: &Repository) -> Result<RepositoryState, RepoError> {
    let _ = repository;
    todo!()
}
