//! How far a task is: its rounds, the attempts of each, and what came of them.

use magis_core::{AttemptNumber, Decision, FileChange, FileTask, Finding, LineSpan, Role, Round, TaskOutcome, Verdict};
use std::collections::BTreeMap;

/// One task: who has it, and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task: FileTask,
    pub role: Option<Role>,
    /// Whether the role was revised after the meeting (P6).
    pub revised: bool,
    pub reviewer: Option<Role>,
    /// The rounds so far, in order.
    pub rounds: Vec<RoundState>,
    pub outcome: Option<TaskOutcome>,
}

/// One round of algorithm 3's loop.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundState {
    pub round: Round,
    /// The symbols the lines lie in.
    pub symbols: Vec<String>,
    /// The lines to change.
    pub spans: Vec<LineSpan>,
    pub attempts: BTreeMap<AttemptNumber, Attempt>,
}

/// One answer of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub state: AttemptState,
    /// P11.
    pub verdict: Option<Verdict>,
}

/// What came of a P10.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptState {
    /// Code that was spliced.
    Written {
        /// What is wrong, in a sentence or two.
        diagnosis: String,
        /// The change against the base version.
        change: FileChange,
        findings: Vec<Finding>,
    },
    Failed {
        reason: String,
    },
}

impl Attempt {
    /// Returns the change, where there is a usable one.
    pub fn usable_change(&self) -> Option<&FileChange> {
        match &self.state {
            AttemptState::Written { change, findings, .. } if !findings.iter().any(Finding::is_fatal) => Some(change),
            AttemptState::Written { .. } | AttemptState::Failed { .. } => None,
        }
    }

    /// Returns what programs found in the code.
    pub fn findings(&self) -> &[Finding] {
        match &self.state {
            AttemptState::Written { findings, .. } => findings,
            AttemptState::Failed { .. } => &[],
        }
    }

    /// Returns whether QA approved it.
    pub fn approved(&self) -> bool {
        self.verdict
            .as_ref()
            .is_some_and(|verdict| verdict.decision == Decision::Approved)
    }

    /// Returns why it has to be done again, in words for the Developer.
    pub fn objection(&self) -> Option<String> {
        match (&self.state, &self.verdict) {
            (AttemptState::Failed { reason }, _) => Some(reason.clone()),
            (AttemptState::Written { findings, .. }, _) if findings.iter().any(Finding::is_fatal) => {
                Some(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
            (AttemptState::Written { .. }, Some(verdict)) if verdict.decision == Decision::Rejected => {
                Some(verdict.comment.clone())
            }
            (AttemptState::Written { .. }, _) => None,
        }
    }
}

impl RoundState {
    /// Returns the answer that goes to review: usable, with the fewest findings, the earliest of those.
    pub fn best(&self) -> Option<(AttemptNumber, &Attempt)> {
        self.attempts
            .iter()
            .filter(|(_, attempt)| attempt.usable_change().is_some())
            .min_by_key(|(number, attempt)| (attempt.findings().len(), **number))
            .map(|(number, attempt)| (*number, attempt))
    }
}

impl TaskState {
    /// Returns the change that goes into the merge, and its round.
    pub fn accepted_change(&self) -> Option<(Round, &FileChange)> {
        let round = match self.outcome.as_ref()? {
            TaskOutcome::Approved { round } | TaskOutcome::NotApproved { round } => *round,
            TaskOutcome::Failed { .. } => return None,
        };
        let state = self.rounds.iter().find(|state| state.round == round)?;
        state
            .best()
            .and_then(|(_, attempt)| attempt.usable_change())
            .map(|change| (round, change))
    }

    /// Returns what was said against the last round, if anything.
    pub fn last_objection(&self) -> Option<String> {
        let last = self.rounds.last()?;
        let attempt = last
            .best()
            .map(|(_, attempt)| attempt)
            .or_else(|| last.attempts.values().next_back())?;
        attempt.objection()
    }
}
