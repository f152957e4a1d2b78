//! The model that describes files in advance: loaded when there is something to do, behind everything else that computes.

use crate::{EngineError, EngineLimits, Magis};
use magis_llama::{Priority, WorkerCommand, WorkerModel};
use magis_llm::LanguageModel;
use std::sync::Arc;

/// The model that describes.
#[derive(Clone)]
pub enum SummarisationModel {
    /// One of the library, by its name: loaded when needed, at the lowest priority.
    Named {
        name: String,
        /// How it is loaded.
        limits: EngineLimits,
    },
    /// One that is loaded already.
    Loaded(Arc<dyn LanguageModel>),
}

impl SummarisationModel {
    /// Returns the SHA-256 of its file: what memory knows it by.
    pub(crate) fn sha256(&self, magis: &Magis) -> Result<String, EngineError> {
        Ok(match self {
            Self::Named { name, .. } => magis.library.named(name)?.sha256.to_string(),
            Self::Loaded(model) => model.card().sha256.clone(),
        })
    }

    /// Loads the model, unless it is loaded already.
    pub(crate) async fn load(&self, magis: &Magis) -> Result<Arc<dyn LanguageModel>, EngineError> {
        let (name, limits) = match self {
            Self::Loaded(model) => return Ok(Arc::clone(model)),
            Self::Named { name, limits } => (name, limits),
        };
        let load = magis.load_request(name, limits)?;
        let worker = WorkerCommand {
            priority: Priority::Lowest,
            ..magis.worker.clone()
        };
        Ok(Arc::new(WorkerModel::start(worker, load).await?.in_background()))
    }
}
