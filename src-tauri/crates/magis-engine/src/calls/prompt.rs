//! What is asked: the variants of a prompt, how its answer is sampled, and what the call is about.

use magis_core::{AttemptNumber, RepoPath, Round, TaskId};

/// The context of a call: what it is about, for the record and for whoever watches.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallContext {
    pub task: Option<TaskId>,
    pub round: Option<Round>,
    pub attempt: Option<AttemptNumber>,
    pub path: Option<RepoPath>,
}

/// A variant of a prompt; a list of them begins with the longest.
pub(crate) struct PromptVariant<P> {
    pub prompt: P,
    /// What was shortened or left out in it, a sentence each.
    pub left_out: Vec<String>,
}

/// How the first answer is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingMode {
    Greedy,
    /// At temperature 0.8, with a seed of its own derived from this number.
    Varied(u64),
}

impl<P> PromptVariant<P> {
    /// Returns the prompt as it should be.
    pub fn whole(prompt: P) -> Self {
        Self {
            prompt,
            left_out: Vec::new(),
        }
    }

    /// Returns the prompt with something left out.
    pub fn less(prompt: P, left_out: Vec<String>) -> Self {
        Self { prompt, left_out }
    }
}

impl CallContext {
    pub fn path(path: &RepoPath) -> Self {
        Self {
            path: Some(path.clone()),
            ..Self::default()
        }
    }

    pub fn task(task: TaskId, path: &RepoPath) -> Self {
        Self {
            task: Some(task),
            path: Some(path.clone()),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn round(self, round: Round) -> Self {
        Self {
            round: Some(round),
            ..self
        }
    }

    #[must_use]
    pub fn attempt(self, attempt: AttemptNumber) -> Self {
        Self {
            attempt: Some(attempt),
            ..self
        }
    }
}
