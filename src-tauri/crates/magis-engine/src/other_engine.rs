//! Another engine than our own, which a person named, and a model wherever it computes.
//!
//! Which engine is chosen is kept by [`crate::Magis`].

use crate::EngineError;
use magis_core::model_at;
use magis_llama::WorkerModel;
use magis_llm::{LanguageModel, LlmError};
use magis_remote::{EngineAddress, EngineKey, EngineModel, EngineOptions, KeySource, RemoteModel};
use magis_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The key of the setting.
const SETTING: &str = "other_engine";
/// How long the system's keyring may take: it may ask the person to unlock it.
const KEYRING: Duration = Duration::from_mins(1);

/// Another engine that a person named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherEngine {
    pub address: String,
    /// The model, as the server calls it; none: the only one there is.
    #[serde(default)]
    pub model: Option<String>,
    /// The context in tokens, where the server does not say it.
    #[serde(default)]
    pub context: Option<u32>,
    /// A file of certificate authorities in PEM form; none: the system's.
    #[serde(default)]
    pub authorities: Option<PathBuf>,
}

/// An engine that was connected to, with what a person should know of it.
pub struct ConnectedEngine {
    pub model: RemoteModel,
    pub key: KeySource,
}

/// A model that is loaded, wherever it computes.
#[derive(Clone)]
pub struct LoadedModel {
    pub model: Arc<dyn LanguageModel>,
    pub(crate) worker: Option<Arc<WorkerModel>>,
}

impl OtherEngine {
    /// Returns the engine that is set, if one is.
    pub(crate) fn kept(store: &Store) -> Result<Option<Self>, StoreError> {
        Ok(store.setting::<Option<Self>>(SETTING)?.flatten())
    }

    /// Sets the engine; none: our own.
    pub(crate) fn keep(engine: Option<&Self>, store: &Store) -> Result<(), StoreError> {
        store.put_setting(SETTING, &engine)
    }

    /// Returns where prompts go.
    ///
    /// # Errors
    /// When the address is none that prompts may go to.
    pub fn host(&self) -> Result<String, EngineError> {
        Ok(self.address.parse::<EngineAddress>()?.host_and_port())
    }

    /// Connects to the engine, with its key from the system's keyring or the environment.
    ///
    /// # Errors
    /// When the address is none that prompts may go to, or the engine cannot be used.
    pub async fn connect(&self) -> Result<ConnectedEngine, EngineError> {
        let (options, key) = self.options().await?;
        Ok(ConnectedEngine {
            model: RemoteModel::connect(options).await?,
            key,
        })
    }

    /// Asks the engine which models it has.
    ///
    /// # Errors
    /// When the address is none that prompts may go to, or the engine cannot be used.
    pub async fn models(&self) -> Result<Vec<EngineModel>, EngineError> {
        Ok(self.options().await?.0.models().await?)
    }

    /// Returns how the engine is connected to, with its key and where that comes from.
    async fn options(&self) -> Result<(EngineOptions, KeySource), EngineError> {
        let address: EngineAddress = self.address.parse()?;
        let asked = address.clone();
        let found = tokio::task::spawn_blocking(move || EngineKey::of(&asked));
        let (key, source) = match tokio::time::timeout(KEYRING, found).await {
            Ok(Ok(found)) => found?,
            Ok(Err(_)) => return Err(EngineError::cancelled()),
            Err(_) => {
                return Err(EngineError::Llm(LlmError::Engine {
                    host: address.host_and_port(),
                    reason: "may need a key, and the system's keyring does not answer; unlock it".to_owned(),
                }));
            }
        };
        let options = EngineOptions {
            model: self.model.clone(),
            context: self.context,
            authorities: self.authorities.clone(),
            key,
            ..EngineOptions::at(address)
        };
        Ok((options, source))
    }
}

impl ConnectedEngine {
    /// Returns the name that runs know the model by.
    pub fn name(&self) -> String {
        model_at(&self.model.card().name, &self.model.address().host_and_port())
    }

    /// Returns where prompts go, and a sentence for each thing that is done in another way there.
    pub fn notes(&self) -> Vec<String> {
        let first = format!("prompts go to {} ({})", self.model.address().host_and_port(), self.key);
        std::iter::once(first).chain(self.model.abilities().remarks()).collect()
    }
}

impl LoadedModel {
    /// Returns the same model for calls that nobody waits for; none where its engine knows no such calls.
    pub fn in_background(&self) -> Option<Arc<dyn LanguageModel>> {
        let worker = self.worker.as_ref()?;
        Some(Arc::new(worker.in_background()))
    }

    /// Ends the worker, where the model has one, and waits until it is gone.
    pub async fn shutdown(&self) {
        if let Some(worker) = &self.worker {
            worker.shutdown().await;
        }
    }
}
