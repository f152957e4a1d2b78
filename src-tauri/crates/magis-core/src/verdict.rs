//! What is said of a change: findings of programs, verdicts of QA Engineers.

use crate::text::count;
use crate::{QaMode, RunOutcome, TaskOutcome};
use serde::{Deserialize, Serialize};
use std::fmt;

/// P11: the QA Engineer's `review_comment` and `review_decision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Verdict {
    pub decision: Decision,
    /// The comment, which goes back to the Developer on rejection.
    pub comment: String,
}

/// The decision of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The change may be merged.
    Approved,
    /// It goes back with the comment.
    Rejected,
}

/// What the models' own reviews of a patch came to. It is an opinion: no test stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ModelReview {
    /// Each change of the patch passed.
    Passed,
    /// At least one did not.
    NotPassed,
    /// No review was asked for.
    NotRun,
}

/// What program code found out about a change, before any QA Engineer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// It parses worse than the base version.
    ParsesWorse { before: u32, after: u32 },
    /// It changes nothing, or layout alone.
    NoChange,
    /// It deletes far more than it adds: applied but unresolved changes did so in the paper (327 lines against 15).
    DeletesFarMore {
        /// Lines deleted.
        deleted: u32,
        /// Lines added.
        added: u32,
    },
    /// It changes comments or docstrings alone.
    WordsOnly,
    /// It takes code away and writes none. A fault is often gone with the code that showed it, and what that code was for, too.
    OnlyDeletes,
    /// It uses names that nothing defines.
    UndefinedNames { names: Vec<String> },
    /// It calls something with arguments that it does not take.
    MisfitCall { callee: String, why: String },
}

impl ModelReview {
    /// Returns what stands behind the patch of a run that ended like this; none where it has no patch.
    pub fn of_run(outcome: &RunOutcome, qa: QaMode) -> Option<Self> {
        match (outcome, qa) {
            (RunOutcome::Approved | RunOutcome::NotApproved, QaMode::Skip) => Some(Self::NotRun),
            (RunOutcome::Approved, QaMode::Review) => Some(Self::Passed),
            (RunOutcome::NotApproved, QaMode::Review) => Some(Self::NotPassed),
            (RunOutcome::NoChange { .. } | RunOutcome::Failed { .. }, _) => None,
        }
    }

    /// Returns what stands behind the change of a task that ended like this; none where it has no change.
    pub fn of_task(outcome: &TaskOutcome, qa: QaMode) -> Option<Self> {
        match (outcome, qa) {
            (TaskOutcome::Approved { .. } | TaskOutcome::NotApproved { .. }, QaMode::Skip) => Some(Self::NotRun),
            (TaskOutcome::Approved { .. }, QaMode::Review) => Some(Self::Passed),
            (TaskOutcome::NotApproved { .. }, QaMode::Review) => Some(Self::NotPassed),
            (TaskOutcome::SetAside { .. } | TaskOutcome::Failed { .. }, _) => None,
        }
    }

    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotPassed => "not passed",
            Self::NotRun => "not run",
        }
    }
}

/// The models' opinion.
impl fmt::Display for ModelReview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model review: {}", self.word())
    }
}

impl From<Decision> for ModelReview {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Approved => Self::Passed,
            Decision::Rejected => Self::NotPassed,
        }
    }
}

impl Finding {
    /// Returns whether the change is unusable as it is, so that no review is worth its time.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::ParsesWorse { .. }
            | Self::NoChange
            | Self::WordsOnly
            | Self::UndefinedNames { .. }
            | Self::MisfitCall { .. } => true,
            Self::DeletesFarMore { .. } | Self::OnlyDeletes => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParsesWorse { before, after } => {
                let errors = count(*after as usize, "syntax error");
                write!(f, "the file has {errors} after the change and had {before} before")
            }
            Self::NoChange => f.write_str("the change leaves the code as it was"),
            Self::WordsOnly => f.write_str("the change touches comments or docstrings alone"),
            Self::OnlyDeletes => f.write_str("the change takes code away and writes none"),
            Self::UndefinedNames { names } => {
                write!(f, "the change uses names that nothing defines: {}", names.join(", "))
            }
            Self::MisfitCall { callee, why } => write!(f, "the change calls {callee} with {why}"),
            Self::DeletesFarMore { deleted, added } => {
                write!(
                    f,
                    "the change deletes {} and adds only {added}",
                    count(*deleted as usize, "line")
                )
            }
        }
    }
}
