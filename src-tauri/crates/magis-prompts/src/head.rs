//! What every prompt about the issue begins with.

use serde::Serialize;

/// The head of every prompt about an issue: the same text each time, so that its computation is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The issue as the agents read it; none where a question is asked without it for comparison.
    pub issue: Option<String>,
    /// What is known beyond it.
    pub hints: Vec<String>,
}

impl Head {
    /// No issue: for the unconditional log-likelihood of an answer.
    pub fn unconditional() -> Self {
        Self {
            issue: None,
            hints: Vec::new(),
        }
    }
}
