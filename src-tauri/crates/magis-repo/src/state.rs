//! What state a repository is in, for people to see before a run begins.

use magis_core::CommitId;
use magis_core::text::count;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// A repository, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each shown by itself"
)]
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

/// Where `HEAD` points: to a branch, to a commit, or to a branch without a commit yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HeadState {
    Branch { name: String },
    Detached { commit: CommitId },
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

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Revert => "revert",
            Self::CherryPick => "cherry-pick",
            Self::Bisect => "bisect",
            Self::Rebase => "rebase",
            Self::ApplyMailbox => "git am",
        })
    }
}

impl Cleanliness {
    /// Returns whether nothing differs from `HEAD`.
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }
}

/// Returns what a person should know about a repository in this state.
pub(crate) fn notes(state: &RepositoryState) -> Vec<String> {
    let mut notes = Vec::new();
    if let HeadState::Detached { commit } = &state.head {
        notes.push(format!(
            "HEAD is detached at {commit}; a result can go to a new branch."
        ));
    }
    if let Some(operation) = state.operation {
        notes.push(format!(
            "A {operation} is in progress; finish or abort it before you apply a result."
        ));
    }
    if state.cleanliness.conflicted > 0 {
        notes.push(format!(
            "Unresolved conflicts in {}.",
            count(state.cleanliness.conflicted as usize, "file")
        ));
    }
    if state.shallow {
        notes.push("This is a shallow clone; older revisions come with 'git fetch --unshallow'.".to_owned());
    }
    if state.partial_clone {
        notes.push("This is a partial clone; files that were never fetched are skipped.".to_owned());
    }
    if !state.submodules.is_empty() {
        notes.push(format!(
            "Submodules are left alone: {}. Open one by itself.",
            state.submodules.join(", ")
        ));
    }
    if state.lfs {
        notes.push("Files kept by git LFS are skipped.".to_owned());
    }
    notes
}
