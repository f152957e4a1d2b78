//! How a run ends.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunOutcome {
    /// A patch whose every task was approved.
    Approved,
    /// A patch with at least one task that QA did not approve, or that failed.
    NotApproved,
    /// No change, and why.
    NoChange {
        /// Why, in a sentence.
        reason: String,
    },
    /// The run could not be carried out.
    Failed {
        /// Why, in a sentence.
        reason: String,
    },
}
