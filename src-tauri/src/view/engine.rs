//! Another engine than our own: how a person names it, what was found there, and where prompts go.

use magis_core::{model_at, model_label};
use magis_engine::model::{
    Abilities, Constraining, Continuing, Counting, EngineModel, KeySource, LanguageModel as _, Scoring, ServerKind,
};
use magis_engine::{ConnectedEngine, EngineError, OtherEngine};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Another engine, as a person fills it in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
pub struct EngineForm {
    pub address: String,
    /// The model, as the server calls it; none: the first that it offers.
    pub model: Option<String>,
    /// The context in tokens, where the server does not say it.
    pub context: Option<u32>,
    /// A file of certificate authorities; none: the system's.
    pub authorities: Option<String>,
}

impl From<EngineForm> for OtherEngine {
    fn from(form: EngineForm) -> Self {
        let filled = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Self {
            address: form.address.trim().to_owned(),
            model: form.model.and_then(filled),
            context: form.context,
            authorities: form.authorities.and_then(filled).map(Into::into),
        }
    }
}

impl From<OtherEngine> for EngineForm {
    fn from(engine: OtherEngine) -> Self {
        Self {
            address: engine.address,
            model: engine.model,
            context: engine.context,
            authorities: engine.authorities.map(|file| file.display().to_string()),
        }
    }
}

/// Where prompts go, and which other engine was named for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct EngineSetting {
    /// The engine in use; where none is, the one that was named last.
    pub form: EngineForm,
    /// None: our own engine is used, and prompts stay on this machine.
    pub used: Option<UsedEngine>,
}

/// Another engine that is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct UsedEngine {
    pub host: String,
    /// What runs name its model by.
    pub model: String,
    /// The model as people read it.
    pub label: String,
}

impl UsedEngine {
    /// Returns how an engine is used; none where nobody chose a model of it.
    ///
    /// # Errors
    /// When its address is none that prompts may go to.
    pub fn of(engine: &OtherEngine) -> Result<Option<Self>, EngineError> {
        let Some(name) = &engine.model else { return Ok(None) };
        let host = engine.host()?;
        let model = model_at(name, &host);
        Ok(Some(Self {
            label: model_label(&model).to_owned(),
            host,
            model,
        }))
    }
}

/// What was found at another engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct EngineCheck {
    pub host: String,
    pub kind: EngineKind,
    /// The model that was asked for; where none was, the first.
    pub model: String,
    /// The context in tokens.
    pub context: u32,
    pub key: EngineKeySource,
    /// All models that it offers.
    pub models: Vec<String>,
    /// What it cannot do and is done in another way.
    pub remarks: Vec<EngineRemark>,
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    LlamaServer,
    Vllm,
    /// Any other with the `OpenAI` interface.
    Other,
}

/// Where the key of an engine comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EngineKeySource {
    Keyring,
    Environment,
    /// There is none, and the engine asks for none.
    None,
}

/// Something that an engine cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EngineRemark {
    /// It offers no log-probabilities: files are compared by the order in which the model names them.
    Ranked,
    /// It does not count tokens: they are estimated, rather too many than too few.
    Estimated,
    /// It does not enforce the form of every answer: wrong ones are asked for again.
    AskedAgain,
    /// It does not go on with an answer that was begun: the model is asked to begin so.
    AskedToBegin,
}

impl EngineCheck {
    /// Returns what was found at an engine that offers these models.
    pub fn new(connected: &ConnectedEngine, models: &[EngineModel]) -> Self {
        let card = connected.model.card();
        let abilities = connected.model.abilities();
        Self {
            host: connected.model.address().host_and_port(),
            kind: abilities.kind.into(),
            model: card.name.clone(),
            context: card.context,
            key: connected.key.into(),
            models: models.iter().map(|model| model.name().to_owned()).collect(),
            remarks: remarks(abilities),
        }
    }
}

fn remarks(abilities: Abilities) -> Vec<EngineRemark> {
    let all = [
        (abilities.scoring == Scoring::Ranked, EngineRemark::Ranked),
        (abilities.counting == Counting::Estimated, EngineRemark::Estimated),
        (abilities.constraining == Constraining::Asked, EngineRemark::AskedAgain),
        (abilities.continuing == Continuing::Asked, EngineRemark::AskedToBegin),
    ];
    let made = all.into_iter().filter(|(is_so, _)| *is_so);
    made.map(|(_, remark)| remark).collect()
}

impl From<ServerKind> for EngineKind {
    fn from(kind: ServerKind) -> Self {
        match kind {
            ServerKind::LlamaServer => Self::LlamaServer,
            ServerKind::Vllm { .. } => Self::Vllm,
            ServerKind::Other => Self::Other,
        }
    }
}

impl From<KeySource> for EngineKeySource {
    fn from(source: KeySource) -> Self {
        match source {
            KeySource::Keyring => Self::Keyring,
            KeySource::Environment => Self::Environment,
            KeySource::None => Self::None,
        }
    }
}
