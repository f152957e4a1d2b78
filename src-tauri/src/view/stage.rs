//! A stage of a run as lists and pages show it.

use magis_core::Stage;
use serde::Serialize;
use specta::Type;

/// What a stage cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct StageView {
    pub stage: Stage,
    /// Milliseconds the model worked.
    pub ms: u64,
    pub calls: u32,
    /// Tokens read, without those reused.
    pub computed_tokens: u64,
    /// Tokens that the cache held already.
    pub reused_tokens: u64,
    /// Tokens written.
    pub generated_tokens: u64,
    /// Whether it is over.
    pub done: bool,
}
