//! One data folder in use: its store, its models, and the worker that runs them.
//!
//! What can be done with it is spread over the parts of this crate, each with its own `impl Magis`.

use crate::{DataFolder, EngineError, EngineLimits, LoadedModel, OtherEngine};
use magis_core::{RunId, model_host, model_label};
use magis_llama::{LoadRequest, WorkerCommand, WorkerModel};
use magis_llm::LanguageModel;
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
    /// None: as the setting says.
    pub(crate) other_engine: Option<OtherEngine>,
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
        Ok(WorkerModel::start(limits.worker(&self.worker), self.load_request(name, limits)?).await?)
    }

    /// Returns what the worker is told to load.
    pub(crate) fn load_request(&self, name: &str, limits: &EngineLimits) -> Result<LoadRequest, EngineError> {
        let file = self.library.named(name)?;
        let (context, _) = limits.context_of(&file)?;
        Ok(LoadRequest {
            sha256: file.sha256.to_string(),
            file: file.path.clone(),
            // A context that is not asked for may turn out smaller, where memory was taken meanwhile.
            context: limits.context.map(|_| context),
            most_context: Some(context),
            threads: limits.threads_wanted(),
            kv_type: limits.kv_type,
            gpu_layers: limits.gpu_layers,
            host_experts: limits.host_experts,
            loading: limits.loading,
            prefixes: (!limits.without_prefixes)
                .then(|| self.data.prefixes_of(file.sha256))
                .flatten(),
            without: limits.without,
        })
    }

    /// Returns this data folder in use with another engine, whatever the setting says.
    #[must_use]
    pub fn with_other_engine(self, engine: OtherEngine) -> Self {
        Self {
            other_engine: Some(engine),
            ..self
        }
    }

    /// Returns the engine that is used instead of our own; none, as it is at first: our own.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn other_engine(&self) -> Result<Option<OtherEngine>, EngineError> {
        match &self.other_engine {
            Some(engine) => Ok(Some(engine.clone())),
            None => Ok(OtherEngine::kept(&self.store)?),
        }
    }

    /// Sets the engine that is used instead of our own; none: our own.
    ///
    /// # Errors
    /// When its address is none that prompts may go to, or the database cannot be written.
    pub fn put_other_engine(&self, engine: Option<&OtherEngine>) -> Result<(), EngineError> {
        if let Some(engine) = engine {
            engine.host()?;
        }
        Ok(OtherEngine::keep(engine, &self.store)?)
    }

    /// Loads the model of this name: in a worker of our own, or from the engine that the person chose.
    ///
    /// # Errors
    /// When there is no such model, it cannot be loaded, or its engine is not the one that is chosen.
    pub async fn load(&self, name: &str, limits: &EngineLimits) -> Result<LoadedModel, EngineError> {
        if model_host(name).is_none() {
            let worker = Arc::new(self.load_named(name, limits).await?);
            return Ok(LoadedModel {
                model: Arc::clone(&worker) as Arc<dyn LanguageModel>,
                worker: Some(worker),
            });
        }
        let chosen = self.engine_of(name)?;
        let engine = OtherEngine {
            model: Some(model_label(name).to_owned()),
            context: limits.context.or(chosen.context),
            ..chosen
        };
        Ok(LoadedModel {
            model: Arc::new(engine.connect().await?.model),
            worker: None,
        })
    }

    /// Returns the chosen engine where it is the one that serves the model of this name.
    pub(crate) fn engine_of(&self, name: &str) -> Result<OtherEngine, EngineError> {
        let chosen = self.other_engine()?;
        let is_there = |engine: &OtherEngine| engine.host().is_ok_and(|host| model_host(name) == Some(&host));
        chosen.filter(is_there).ok_or_else(|| EngineError::OtherEngine {
            model: model_label(name).to_owned(),
            host: model_host(name).unwrap_or_default().to_owned(),
        })
    }
}
