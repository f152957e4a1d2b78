//! One data folder in use: its store, its models, and the worker that runs them.
//!
//! What can be done with it is spread over the parts of this crate, each with its own `impl Magis`.

use crate::{DataFolder, EngineError, EngineLimits};
use magis_llama::{LoadRequest, WorkerCommand, WorkerModel};
use magis_models::ModelLibrary;
use magis_store::Store;
use std::sync::Arc;

/// A data folder in use.
#[derive(Clone)]
pub struct Magis {
    pub(crate) data: DataFolder,
    pub(crate) store: Store,
    pub(crate) library: Arc<ModelLibrary>,
    pub(crate) worker: WorkerCommand,
}

impl Magis {
    /// The models.
    pub fn library(&self) -> &ModelLibrary {
        &self.library
    }

    /// The folder.
    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// The name of the model that a person means, by its id or by the path of its file. Nothing else turns a path into a
    /// model: what a run, an archive or a draft says is a name.
    pub fn model_name(&self, word: &str) -> Result<String, EngineError> {
        Ok(self.library.resolve(word)?.name(&self.library))
    }

    /// Starts the engine's worker with the model of this name.
    pub async fn load_named(&self, name: &str, limits: &EngineLimits) -> Result<WorkerModel, EngineError> {
        Ok(WorkerModel::start(self.worker.clone(), self.load_request(name, limits)?).await?)
    }

    /// What the worker is told to load.
    pub(crate) fn load_request(&self, name: &str, limits: &EngineLimits) -> Result<LoadRequest, EngineError> {
        let file = self.library.named(name)?;
        let (context, _) = limits.context_of(&file)?;
        Ok(LoadRequest {
            sha256: file.sha256.to_string(),
            file: file.path,
            context: Some(context),
            threads: limits.threads,
        })
    }
}
