//! Steps that do not depend on one another, as far as they ask: their first calls are made together, and each step then
//! finds its own on record.
//!
//! What a step makes of its answer, and in which order they are taken, stays as it is.

use super::{custodian, manager};
use crate::calls::AskError;
use crate::runs::workspace::Workspace;
use magis_flow::{Effect, Run};

/// Makes the first calls of the steps that can be carried out next: one for each file, or for each task.
pub(crate) async fn ask_ahead(work: &mut Workspace, run: &Run, pending: &[Effect]) -> Result<(), AskError> {
    let mut planned = Vec::new();
    for effect in pending {
        let call = match effect {
            Effect::Describe(path) => custodian::plan_description(work, run, path).await,
            Effect::DefineTask(path, asking) => manager::plan_task(work, run, path, *asking).await.map(Some),
            Effect::DefineRole(task) => manager::plan_role(work, run, *task).await.map(Some),
            _ => Ok(None),
        };
        match call {
            Ok(call) => planned.extend(call),
            // The step itself says what is wrong with its call.
            Err(AskError::Unusable(_)) => {}
            Err(fatal @ AskError::Fatal(_)) => return Err(fatal),
        }
    }
    if planned.len() > 1 {
        work.calls.ask_at_once(planned).await?;
    }
    Ok(())
}
