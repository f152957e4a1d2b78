//! The hooks that git has for a commit.

use serde::{Deserialize, Serialize};

/// A hook of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hook {
    PreCommit,
    PrepareCommitMessage,
    CommitMessage,
    PostCommit,
}

impl Hook {
    pub const ALL: [Self; 4] = [
        Self::PreCommit,
        Self::PrepareCommitMessage,
        Self::CommitMessage,
        Self::PostCommit,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PrepareCommitMessage => "prepare-commit-msg",
            Self::CommitMessage => "commit-msg",
            Self::PostCommit => "post-commit",
        }
    }
}
