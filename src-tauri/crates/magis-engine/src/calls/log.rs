//! Where model calls are recorded, and the stage whose work they are.

use super::prompt::CallContext;
use crate::Progress;
use magis_core::{RunId, Stage};
use magis_prompts::Template;
use magis_store::{CallKind, CallRecord, StoreError};
use serde_json::Value;

/// The record of model calls: a run's, or that of work outside of runs.
pub(crate) trait CallLog: Send + Sync {
    /// Returns the run that the calls belong to.
    fn run(&self) -> Option<RunId>;

    /// Returns the reply that is on record under this key.
    fn find(&self, key: &str) -> Result<Option<Value>, StoreError>;

    /// Records a call that was made.
    fn record(&self, call: CallRecord) -> Result<(), StoreError>;

    /// Says what happens to whoever follows the calls.
    fn follow(&self, progress: Progress);
}

/// What is recorded of a call beside its request and its reply.
pub(super) struct Recording<'a> {
    pub about: &'a CallContext,
    pub template: Template,
    pub kind: CallKind,
    pub left_out: &'a [String],
    pub retries: u32,
}

/// Returns the stage whose work the calls of a step are; none for a step of another version.
pub fn stage_of_step(step: &str) -> Option<Stage> {
    let template = Template::ALL.iter().find(|template| template.name() == step);
    template.map(|template| template.stage())
}
