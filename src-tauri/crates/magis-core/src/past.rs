//! A commit of the past, as plain data: what it said and what it changed.

use crate::{CommitId, RepoPath};
use serde::{Deserialize, Serialize};

/// A commit that lies before the tree which is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCommit {
    #[serde(rename = "i")]
    pub id: CommitId,
    /// When it was made, in seconds since 1970.
    #[serde(rename = "t")]
    pub time: i64,
    /// Its message, whole or, where it is very long, its beginning.
    #[serde(rename = "m")]
    pub message: String,
    /// The files it changed, as they were called then; of a mass change, the first of them.
    #[serde(rename = "c")]
    pub changed: Vec<RepoPath>,
}
