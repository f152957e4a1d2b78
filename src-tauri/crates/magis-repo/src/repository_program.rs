//! Programs that a repository itself names and that git would run for a commit, and what a person decided about them.
//!
//! What a person's own configuration names, `core.hooksPath` of all repositories say, is no such program.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A program that a repository names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryProgram {
    pub purpose: ProgramPurpose,
    /// A hook's name, or a key of the configuration.
    pub named_by: String,
    /// A file, or what a shell is given.
    pub program: String,
    /// The file's content, by the id that git gives it; none where the file may not be read, or it is no file.
    pub content: Option<String>,
}

impl fmt::Display for RepositoryProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ('{}')", self.named_by, self.program)
    }
}

/// What git runs a program for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramPurpose {
    /// It looks at the message of a commit.
    CommitMessage,
    /// It signs a commit.
    Signing,
}

/// What a person decided about a program. Where it has changed since, nothing is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedProgram {
    pub program: RepositoryProgram,
    pub decision: ProgramDecision,
}

/// Whether a program may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramDecision {
    Run,
    /// The commit is made without it.
    LeaveOut,
}
