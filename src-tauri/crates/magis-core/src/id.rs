//! Ids as newtypes, and the small closed sets everybody names: agents and stages.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(pub $inner);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(pub String);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

number_id!(
    /// A run, numbered in the order of its start within one data folder.
    RunId(i64), ""
);
number_id!(
    /// A repository known to this data folder.
    RepoId(i64), ""
);
number_id!(
    /// A file-level task within one run, from 1. Shown as `T1`.
    TaskId(u32), "T"
);
number_id!(
    /// A round of writing and review within one task, from 1.
    Round(u32), ""
);
number_id!(
    /// One of the answers asked for in a round, from 0.
    AttemptNumber(u32), ""
);
text_id!(
    /// The object id of a git blob, in hexadecimal.
    BlobId
);
text_id!(
    /// The object id of a git tree, in hexadecimal.
    TreeId
);
text_id!(
    /// The object id of a git commit, in hexadecimal.
    CommitId
);

/// The four kinds of agents of the method (MAGIS, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Finds the files an issue touches and keeps the summary memory.
    Custodian,
    /// Splits the issue into tasks, builds the team, runs the meeting, writes the plan.
    Manager,
    /// Speaks in the meeting, locates lines, writes code.
    Developer,
    /// Reviews every change of one Developer.
    QaEngineer,
}

impl Agent {
    /// Returns the name shown to people and stored with each call.
    pub fn name(self) -> &'static str {
        match self {
            Self::Custodian => "Repository Custodian",
            Self::Manager => "Manager",
            Self::Developer => "Developer",
            Self::QaEngineer => "QA Engineer",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The stages of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// What shows the fault is looked for and run on the base: a stage that the paper does not have.
    Evidence,
    /// Algorithm 1: rank, judge, describe.
    Locate,
    /// P4 and P5: a task per file, a Developer per task.
    Team,
    /// The kick-off meeting and the revised roles (P6).
    Meeting,
    /// P7: the main work plan.
    Plan,
    /// Algorithm 3: P8 to P11 for every task.
    Code,
    /// One tree, one diff, a message.
    Merge,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 7] = [
        Self::Evidence,
        Self::Locate,
        Self::Team,
        Self::Meeting,
        Self::Plan,
        Self::Code,
        Self::Merge,
    ];

    /// Returns the lower-case word used on the command line and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Locate => "locate",
            Self::Team => "team",
            Self::Meeting => "meeting",
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Merge => "merge",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
