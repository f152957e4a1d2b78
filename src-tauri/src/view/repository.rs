//! Repositories: how each stands, and what a run can be based on.

use crate::problem::Problem;
use magis_core::RepoId;
use magis_engine::IndexState;
use magis_engine::records::Coverage;
use magis_engine::repository::{BaseChoice, HeadState};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A repository of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct RepositoryRow {
    pub id: RepoId,
    pub name: String,
    pub root: String,
    /// When it was last used, in milliseconds since 1970.
    pub used_at_ms: i64,
    /// Where HEAD is; none where that cannot be read.
    pub head: Option<HeadView>,
    /// How many files differ from HEAD.
    pub changed_files: u32,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
    /// What is wrong with it.
    pub problem: Option<Problem>,
    /// How many files are remembered; none where that cannot be read.
    pub memory: Option<MemoryCounts>,
    /// How the search index stands to HEAD; none where that cannot be read.
    pub index: Option<IndexView>,
    /// How many runs it has.
    pub runs: u32,
}

/// How the search index of a repository stands to its HEAD. Each run brings it up to date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IndexView {
    /// There is none yet.
    None,
    /// It was made for HEAD.
    Fresh,
    /// It was made for a commit that HEAD goes on from.
    Older {
        /// By how many commits.
        commits: u32,
    },
    /// It was made for a commit that HEAD does not go on from.
    Elsewhere { commit: String },
}

impl From<IndexState> for IndexView {
    fn from(state: IndexState) -> Self {
        match state {
            IndexState::None => Self::None,
            IndexState::Fresh => Self::Fresh,
            IndexState::Older { commits } => Self::Older { commits },
            IndexState::Elsewhere { commit } => Self::Elsewhere { commit: commit.0 },
        }
    }
}

/// Where HEAD is: on a branch, on a commit, or nowhere yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HeadView {
    Branch {
        name: String,
    },
    Detached {
        commit: String,
    },
    /// At a branch without a commit.
    Unborn {
        name: String,
    },
}

impl From<HeadState> for HeadView {
    fn from(head: HeadState) -> Self {
        match head {
            HeadState::Branch { name } => Self::Branch { name },
            HeadState::Detached { commit } => Self::Detached { commit: commit.0 },
        }
    }
}

/// How many files of HEAD memory knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
pub struct MemoryCounts {
    pub fresh: u32,
    pub stale: u32,
    pub none: u32,
    /// Not as they are, and they need not be: they are short, or no text.
    pub needs_none: u32,
}

impl From<Coverage> for MemoryCounts {
    fn from(coverage: Coverage) -> Self {
        let Coverage {
            fresh,
            stale,
            none,
            needs_none,
        } = coverage;
        Self {
            fresh,
            stale,
            none,
            needs_none,
        }
    }
}

/// A local branch by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct BranchName {
    pub name: String,
    /// Whether HEAD is there.
    pub current: bool,
}

/// What a run is to be based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BaseRequest {
    Head,
    /// The last commit with all uncommitted work.
    HeadWithUncommitted,
    /// A branch, a tag, a commit.
    Revision {
        /// As git reads it.
        name: String,
    },
}

impl From<BaseRequest> for BaseChoice {
    fn from(request: BaseRequest) -> Self {
        match request {
            BaseRequest::Head => Self::Head,
            BaseRequest::HeadWithUncommitted => Self::HeadWithUncommitted,
            BaseRequest::Revision { name } => Self::Revision { name },
        }
    }
}

/// An issue of the built-in sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct SampleIssue {
    pub name: String,
    pub text: String,
}
