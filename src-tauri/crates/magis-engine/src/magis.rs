//! One data folder in use: its store, its models, and the worker that runs them.
//!
//! What can be done with it is spread over the parts of this crate, each with its own `impl Magis`.

use crate::{DataFolder, EngineError, EngineLimits};
use magis_core::RunId;
use magis_llama::{LoadRequest, WorkerCommand, WorkerModel};
use magis_models::ModelLibrary;
use magis_repo::Git;
use magis_sandbox::HelperCommand;
use magis_store::Store;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A data folder in use.
#[derive(Clone)]
pub struct Magis {
    pub(crate) data: DataFolder,
    pub(crate) store: Store,
    pub(crate) library: Arc<ModelLibrary>,
    pub(crate) worker: WorkerCommand,
    pub(crate) git: Git,
    /// None: no run runs code.
    pub(crate) sandbox: Option<HelperCommand>,
    /// Runs whose contents are logged.
    pub(crate) contents: Arc<Mutex<BTreeSet<RunId>>>,
}

impl Magis {
    /// Returns this data folder in use with the command that starts the sandbox's helper. Without one no run runs code.
    #[must_use]
    pub fn with_sandbox(self, helper: HelperCommand) -> Self {
        Self {
            sandbox: Some(helper),
            ..self
        }
    }

    /// Returns how repositories are read.
    pub fn git(&self) -> &Git {
        &self.git
    }

    pub(crate) fn sandbox_helper(&self) -> Option<HelperCommand> {
        self.sandbox.clone()
    }

    /// Logs the contents of this run's calls, its prompts and answers, until the program ends: into a file of its own, which
    /// goes with the run. Nothing else logs contents.
    pub fn log_contents(&self, run: RunId) {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    /// Returns the file of a run's contents, where they are logged.
    pub(crate) fn contents_of(&self, run: RunId) -> Option<PathBuf> {
        let wanted = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.contains(&run).then(|| self.data.contents_of(run))
    }

    /// Returns the library of models that this data folder holds.
    pub fn library(&self) -> &ModelLibrary {
        &self.library
    }

    /// Returns the data folder, with the places of everything in it.
    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// Returns the name of the model that a person means, by its id or by the path of its file. Nothing else turns a
    /// path into a model: what a run, an archive or a draft says is a name.
    ///
    /// # Errors
    /// When there is no such model, or its file cannot be loaded.
    pub fn model_name(&self, word: &str) -> Result<String, EngineError> {
        Ok(self.library.resolve(word)?.name(&self.library))
    }

    /// Starts the engine's worker with the model of this name.
    ///
    /// # Errors
    /// When there is no such model, or its file cannot be loaded.
    pub async fn load_named(&self, name: &str, limits: &EngineLimits) -> Result<WorkerModel, EngineError> {
        Ok(WorkerModel::start(self.worker.clone(), self.load_request(name, limits)?).await?)
    }

    /// Returns what the worker is told to load.
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
