//! The kick-off meeting's record: who said what, in order.

use crate::TaskId;
use serde::{Deserialize, Serialize};

/// One speech of the meeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Speech {
    /// Who spoke.
    pub speaker: Speaker,
    /// At which point of the round table.
    pub turn: Turn,
    /// What was said.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", content = "task", rename_all = "snake_case")]
pub enum Speaker {
    /// The Manager.
    Manager,
    /// The Developer of a task.
    Developer(TaskId),
    /// The person in front of the program.
    Person,
}

/// The points of the round table: the Manager opens, each Developer speaks, the Manager sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// The Manager opens and guides.
    Open,
    /// A Developer, or the person, speaks.
    Speak,
    /// The Manager sums up.
    SumUp,
}
