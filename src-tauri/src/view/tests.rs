//! The test commands of a repository, as a person chooses among them, and on which terms code may be run there.

use magis_core::{ProgramRun, TestLine};
use magis_engine::sandbox::{IsolationPart, NotIsolated, SandboxError};
use magis_engine::tests::IsolationTerm;
use serde::{Deserialize, Serialize};
use specta::Type;

/// A test command of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct TestCommandRow {
    pub command: TestLine,
    /// None where nothing here knows the runner: then only the exit status counts.
    pub runner: Option<String>,
    /// What says that this is a test command.
    pub reason: String,
    /// The lines that every run of it runs before it, which are allowed with it.
    pub before: Vec<String>,
    /// On which terms the person allowed it in this repository; none where they did not.
    pub allowed: Option<CodeTerm>,
}

/// On which terms a person lets code be run in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CodeTerm {
    /// Isolated from the machine, or not at all.
    Isolated,
    /// Also where nothing isolates it.
    NotIsolated,
}

/// What stands between a repository and running the code that issues show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct CodePermission {
    /// On which terms the person allowed what issues show alone; none where they did not.
    pub issue_code: Option<CodeTerm>,
    /// Why this machine cannot isolate what is run; none where it can.
    pub not_isolated: Option<WhyNotIsolated>,
}

/// Why this machine cannot isolate what is run, with what the system said, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum WhyNotIsolated {
    /// The name spaces cannot be set up.
    NameSpaces { said: String },
    /// The files that are shown inside cannot be set up.
    Files { said: String },
    /// Limits, Landlock or seccomp cannot be set up.
    Restrictions { said: String },
    /// The process that sets isolation up did not start, or broke off.
    Helper { said: String },
    /// The system has nothing that isolates, as far as is known here.
    UnknownSystem,
    /// A command that does nothing did not end well.
    Failed,
}

impl From<CodeTerm> for IsolationTerm {
    fn from(term: CodeTerm) -> Self {
        match term {
            CodeTerm::Isolated => Self::Required,
            CodeTerm::NotIsolated => Self::Waived,
        }
    }
}

impl From<IsolationTerm> for CodeTerm {
    fn from(term: IsolationTerm) -> Self {
        match term {
            IsolationTerm::Required => Self::Isolated,
            IsolationTerm::Waived => Self::NotIsolated,
        }
    }
}

impl From<NotIsolated> for WhyNotIsolated {
    fn from(missing: NotIsolated) -> Self {
        match missing {
            NotIsolated::NotRun(error) => error.into(),
            NotIsolated::Failed(_) => Self::Failed,
        }
    }
}

impl From<SandboxError> for WhyNotIsolated {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::NoIsolation { part, reason: said, .. } => match part {
                IsolationPart::Helper => Self::Helper { said },
                IsolationPart::NameSpaces => Self::NameSpaces { said },
                IsolationPart::Files => Self::Files { said },
                IsolationPart::Restrictions => Self::Restrictions { said },
            },
            SandboxError::UnknownSystem => Self::UnknownSystem,
            SandboxError::Helper(source) => Self::Helper {
                said: source.to_string(),
            },
            SandboxError::Files(error) => Self::Helper {
                said: format!("{}: {}", error.path.display(), error.source),
            },
            SandboxError::Copy { folder, source } => Self::Helper {
                said: format!("{}: {source}", folder.display()),
            },
        }
    }
}

/// What a check shows as a person has edited it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct CheckTrial {
    pub on_base: ProgramRun,
    /// On the tree that the run came to; none where it has no patch.
    pub on_result: Option<ProgramRun>,
}
