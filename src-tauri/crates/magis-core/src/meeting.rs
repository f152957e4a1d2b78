//! The kick-off meeting's record: who said what, in order.

use crate::TaskId;
use serde::{Deserialize, Serialize};

/// One speech of the meeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Speech {
    pub speaker: Speaker,
    /// At which point of the round table.
    pub turn: Turn,
    pub text: String,
}

/// Somebody who speaks in the kick-off meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", content = "task", rename_all = "snake_case")]
pub enum Speaker {
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
