//! The test commands of a repository, as a person chooses among them.

use magis_core::{ProgramRun, TestLine};
use serde::Serialize;
use specta::Type;

/// A test command of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct TestCommandRow {
    pub command: TestLine,
    /// None where nothing here knows the runner: then only the exit status counts.
    pub runner: Option<String>,
    /// What says that this is a test command.
    pub reason: String,
    /// Whether the person allowed it in this repository.
    pub allowed: bool,
}

/// What a check shows as a person has edited it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct CheckTrial {
    pub on_base: ProgramRun,
    /// On the tree that the run came to; none where it has no patch.
    pub on_result: Option<ProgramRun>,
}
