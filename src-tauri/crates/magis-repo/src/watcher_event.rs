//! What a watcher is told and what it says.

use crate::WhyPolling;
use magis_core::{CommitId, RepoPath};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a repository is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchOptions {
    /// A burst is over after so long without an event.
    pub quiet: Duration,
    /// Where events do not stop, so long after the first it is said what there is.
    pub longest: Duration,
    /// While git holds its lock on the index it is waited for as long as this.
    pub locked: Duration,
    /// How often is looked where the system tells of no changes. On a large tree less often: a look may take a fifth of
    /// the time at the most.
    pub poll: Duration,
    /// The most folders that may be watched; none: as many as the system allows.
    pub most_folders: Option<usize>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(120),
            longest: Duration::from_secs(2),
            locked: Duration::from_mins(1),
            poll: Duration::from_secs(2),
            most_folders: None,
        }
    }
}

/// What a watcher says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatcherEvent {
    /// From now on no change is missed.
    Watching {
        /// How many folders are watched, git's own included.
        folders: usize,
    },
    /// From now on changes are looked for.
    Polling {
        why: WhyPolling,
    },
    Changed(RepoChange),
}

/// What changed in one burst.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoChange {
    /// In the working tree. Ignored files do not count.
    pub paths: ChangedPaths,
    /// Where `HEAD` went: another branch, another commit.
    pub head: Option<HeadMove>,
    /// What else of git's own was touched.
    pub git: Vec<GitPart>,
}

/// Which files of the working tree were touched; not all of them need differ from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "paths", rename_all = "snake_case")]
pub enum ChangedPaths {
    None,
    /// These, in the order of their paths.
    Some(Vec<RepoPath>),
    /// Too many to be named, or it is not known which.
    Many,
}

/// A part of git's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitPart {
    /// What is staged, or what git remembers of the files' times.
    Index,
    /// Branches, tags, the stash, other work trees' heads.
    Refs,
    /// Which files count: ignore rules, attributes, configuration, nested repositories.
    Rules,
}

/// A move of `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadMove {
    pub from: HeadPlace,
    pub to: HeadPlace,
}

/// The commit that `HEAD` stands on, and the branch, where it is on one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadPlace {
    /// The branch, by its short name; none where `HEAD` is detached.
    pub branch: Option<String>,
    /// The commit; none on a branch without one.
    pub commit: Option<CommitId>,
}
