//! File-level tasks and the roles made for them (P4, P5, P6, P8).

use crate::{RepoPath, Round, TaskId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file-level task `t_i`: what has to happen in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FileTask {
    /// Its id within the run.
    pub id: TaskId,
    /// The file; for a new file, where it will be.
    pub path: RepoPath,
    /// The candidate whose P4 gave this task: the file itself, or the one next to which a new file is to stand.
    pub candidate: RepoPath,
    /// What happens to the file as such.
    pub action: FileAction,
    /// What has to be done, in the Manager's words.
    pub description: String,
}

/// What happens to a file as such.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileAction {
    Modify,
    /// It does not exist yet.
    Create,
    Delete,
    /// It moves, and may change on the way.
    Rename {
        to: RepoPath,
    },
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modify => f.write_str("modify"),
            Self::Create => f.write_str("create"),
            Self::Delete => f.write_str("delete"),
            Self::Rename { to } => write!(f, "rename to {to}"),
        }
    }
}

/// A role description made for one task: a Developer's `r_i` or a QA Engineer's `a_i`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Role {
    /// A short professional name.
    pub name: String,
    /// What this person pays attention to.
    pub focus: String,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskOutcome {
    /// QA approved the change of this round, or no QA was asked for.
    Approved { round: Round },
    /// No round was approved; this round's change is the best and is kept, marked.
    NotApproved { round: Round },
    /// Its change is left out of the patch: another task's alone does it, or came nearer.
    SetAside {
        /// Why, in a sentence.
        reason: String,
    },
    /// No usable change came about.
    Failed {
        /// Why, in a sentence.
        reason: String,
    },
}
