//! The events of a watched repository.

use super::IdleReason;
use crate::EngineError;
use magis_core::text::variant_name;
use magis_core::{RepoId, RepoPath};
use magis_repo::{RepoChange, WatcherEvent, WhyPolling};
use serde::Serialize;
use std::sync::Arc;
use tracing::{info, warn};

/// Something that happened in a watched repository; sent in the order in which it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// From now on the system tells of every change.
    Watching {
        /// How many folders are watched.
        folders: usize,
    },
    /// From now on changes are looked for from time to time.
    Polling { why: WhyPolling },
    /// Something changed in the repository.
    Changed { change: RepoChange },
    /// Files are being read into the index.
    Indexing { done: usize, total: usize },
    /// The index was brought up to date with the working tree.
    Indexed {
        /// Files it holds now.
        files: usize,
        /// Files read into it.
        added: usize,
        /// Versions taken out of it.
        removed: usize,
        /// Milliseconds from the word of the change to the searchable index.
        took_ms: u64,
    },
    /// How much of the working tree memory knows.
    Memory {
        /// Files remembered as they are.
        fresh: u32,
        /// Files remembered in another version.
        stale: u32,
        none: u32,
        /// Files that need no description.
        needs_none: u32,
    },
    /// Which files the system does not let us read, whenever that changes; they are in no index.
    Unreadable { files: Vec<RepoPath> },
    /// A file is being described now.
    Summarising { path: RepoPath },
    Summarised {
        path: RepoPath,
        /// Tokens it cost.
        tokens: u64,
        /// Milliseconds it took.
        took_ms: u64,
        /// Tokens that all background summarisation cost since the budget was set.
        spent: u64,
    },
    /// It could not be described; it is left alone until it changes.
    NotSummarised { path: RepoPath, why: String },
    /// Nothing is being described now.
    Idle { why: IdleReason },
    /// The index or the count could not be brought up to date; it is said once and tried again.
    Failed(WatchFailure),
    /// No file can be described; it is said once and tried again.
    SummarisingFailed(WatchFailure),
}

/// Something that could not be done.
#[derive(Debug, Clone, Serialize)]
pub struct WatchFailure {
    pub sentence: String,
    /// What a person can do about it at a command line.
    pub remedy: String,
    /// What went wrong, for who says it in other words.
    #[serde(skip)]
    pub error: Arc<EngineError>,
}

impl PartialEq for WatchFailure {
    fn eq(&self, other: &Self) -> bool {
        (&self.sentence, &self.remedy) == (&other.sentence, &other.remedy)
    }
}

impl WatchEvent {
    /// Logs what happened, without the names of files.
    pub(crate) fn log(&self, repo: RepoId) {
        let (repo, event) = (repo.0, variant_name(self));
        match self {
            Self::Indexed {
                files,
                added,
                removed,
                took_ms,
            } => info!(repo, files, added, removed, took_ms, "{event}"),
            Self::Summarised { tokens, took_ms, .. } => info!(repo, tokens, took_ms, "{event}"),
            Self::Idle { why } => info!(repo, why = variant_name(why), "{event}"),
            Self::Failed(failure) | Self::SummarisingFailed(failure) => {
                warn!(repo, error = variant_name(&*failure.error), "{event}");
            }
            Self::Watching { .. }
            | Self::Polling { .. }
            | Self::Unreadable { .. }
            | Self::Summarising { .. }
            | Self::NotSummarised { .. } => info!(repo, "{event}"),
            // Each comes with one that is logged, or many times a second.
            Self::Changed { .. } | Self::Indexing { .. } | Self::Memory { .. } => {}
        }
    }
}

impl From<&WatcherEvent> for WatchEvent {
    fn from(event: &WatcherEvent) -> Self {
        match event {
            WatcherEvent::Watching { folders } => Self::Watching { folders: *folders },
            WatcherEvent::Polling { why } => Self::Polling { why: why.clone() },
            WatcherEvent::Changed(change) => Self::Changed { change: change.clone() },
        }
    }
}

impl WatchFailure {
    pub(crate) fn of(error: EngineError) -> Self {
        Self {
            sentence: error.to_string(),
            remedy: error.remedy(),
            error: Arc::new(error),
        }
    }
}
