//! The sum of the signals: which files an issue may touch, and why.

use crate::{Index, IssueQuery, SearchError};
use magis_core::{Candidate, LineSpan, RepoPath};

/// The files that may be meant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Strongest first; ties stand in the order of their paths.
    pub candidates: Vec<Candidate>,
    /// How many files were looked at.
    pub considered: usize,
    /// What was left out and why, in sentences for a person.
    pub notes: Vec<String>,
}

/// A function or type of a file, and how well it matches the issue.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredSymbol {
    /// Its name with its owners, as `magis-syntax` has it.
    pub qualified_name: String,
    /// Its lines.
    pub span: LineSpan,
    /// How well it matches; comparable within one issue.
    pub score: f64,
}

impl Index {
    /// The `k` files that `query` most likely means, strongest first.
    pub fn rank(&self, _query: &IssueQuery, _k: usize) -> Result<Ranking, SearchError> {
        Ok(Ranking::default())
    }

    /// The `n` functions of `path` that match `query` best, best first; empty where the file or its outline is unknown.
    pub fn symbols_for(
        &self,
        _query: &IssueQuery,
        _path: &RepoPath,
        _n: usize,
    ) -> Result<Vec<ScoredSymbol>, SearchError> {
        Ok(Vec::new())
    }
}
