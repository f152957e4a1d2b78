//! The log of calls outside of runs: what they cost is recorded with the memory, and nothing of what was said.

use crate::Progress;
use crate::calls::{CallLog, ModelCalls};
use magis_core::{RepoId, RunId};
use magis_llm::LanguageModel;
use magis_store::{CallKind, CallRecord, MemoryWork, Store, StoreError};
use serde_json::Value;
use std::sync::Arc;

/// Returns the model-call client for work on the memory of a repository.
pub(crate) fn calls(store: &Store, repo: RepoId, model: Arc<dyn LanguageModel>) -> ModelCalls {
    let log = MemoryLog {
        store: store.clone(),
        repo,
    };
    ModelCalls::outside_runs(model, Box::new(log), 0)
}

struct MemoryLog {
    store: Store,
    repo: RepoId,
}

impl CallLog for MemoryLog {
    fn run(&self) -> Option<RunId> {
        None
    }

    fn find(&self, _: &str) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }

    /// Records what a description cost. Scores of names are kept as such, and cost little.
    fn record(&self, call: CallRecord) -> Result<(), StoreError> {
        let (CallKind::Chat, Some(path)) = (call.kind, call.path) else {
            return Ok(());
        };
        self.store.record_memory_work(&MemoryWork {
            repo: self.repo,
            path,
            step: call.step,
            prompt_tokens: call.prompt_tokens,
            reused_tokens: call.reused_tokens,
            generated_tokens: call.generated_tokens,
            at_ms: call.at_ms,
        })
    }

    fn follow(&self, _: Progress) {}
}
