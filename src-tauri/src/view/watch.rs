//! How the current repository is watched, and what is done with it in advance.

use super::repository::MemoryCounts;
use crate::problem::Problem;
use magis_core::RepoId;
use magis_engine::IdleReason;
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri_specta::Event;

/// How a watched repository stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct WatchView {
    pub repo: RepoId,
    /// Why changes are looked for from time to time; none where the system tells of them.
    pub polling: Option<Problem>,
    pub index: WatchedIndex,
    /// Files that are left out of index and memory because the system does not let us read them.
    pub unreadable: Option<UnreadableFiles>,
    /// How much of the working tree memory knows; none until it was counted.
    pub memory: Option<MemoryCounts>,
    /// The describing of files in advance.
    pub summarising: Summarising,
    /// Files described in advance since it is watched.
    pub described: u32,
    /// Tokens spent on it since the budget was given.
    pub spent: u64,
    /// What could not be done for index and memory; it is tried again.
    pub problem: Option<Problem>,
}

/// Files that the system does not let us read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct UnreadableFiles {
    pub count: u32,
    /// The first of them.
    pub first: Vec<String>,
}

/// The search index of a watched repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WatchedIndex {
    /// The working tree is being looked at.
    Looking,
    /// Files are being read.
    Reading { done: u32, total: u32 },
    Right {
        files: u32,
        /// Milliseconds from the last change to this.
        took_ms: u64,
    },
}

/// The describing of files in advance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Summarising {
    /// Nobody asked for it.
    Off,
    /// A file is being described.
    Describing { path: String },
    /// Nothing is done now.
    Waiting {
        /// Why; none before it was found out.
        why: Option<WaitReason>,
        /// What went wrong, where that is why.
        #[serde(default)]
        #[specta(optional)]
        problem: Option<Problem>,
    },
}

/// Why no file is described now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// A run is under way, or its model is loaded still.
    Run,
    /// The budget of tokens is spent.
    Tokens,
    /// The budget of minutes is spent.
    Minutes,
    /// The repository has just changed.
    Changed,
    /// Nothing is left to describe.
    Done,
    /// It could not be done; it is tried again.
    Model,
}

impl From<IdleReason> for WaitReason {
    fn from(why: IdleReason) -> Self {
        match why {
            IdleReason::Off | IdleReason::RunUnderWay => Self::Run,
            IdleReason::TokensSpent => Self::Tokens,
            IdleReason::MinutesSpent => Self::Minutes,
            IdleReason::JustChanged => Self::Changed,
            IdleReason::NothingLeft => Self::Done,
            IdleReason::Failed => Self::Model,
        }
    }
}

/// The watched repository stands otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct WatchChanged {
    pub view: WatchView,
}
