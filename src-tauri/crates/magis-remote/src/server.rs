//! What is at the other end: which kind of server, which models it has, and what it says of them.

use crate::http::Http;
use crate::trouble::Trouble;
use magis_platform::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A kind of server, as far as it makes a difference how it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    LlamaServer,
    Vllm {
        /// Whether forms of answers are told in the field `structured_outputs`; earlier versions have `guided_…`.
        structured: bool,
    },
    /// Any other with the `OpenAI` interface: Ollama, LM Studio.
    Other,
}

/// A model that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineModel {
    pub id: String,
    /// Its context in tokens, where the server says it.
    pub context: Option<u32>,
}

/// The server with the model that was chosen.
pub(crate) struct Server {
    pub http: Http,
    pub kind: ServerKind,
    pub model: String,
}

/// What a server says of itself.
pub(crate) struct Described {
    pub kind: ServerKind,
    pub models: Vec<Offered>,
}

/// A model, with all that the server says of it.
pub(crate) struct Offered {
    pub model: EngineModel,
    said: Value,
}

/// What llama.cpp's server says of how it was started.
#[derive(Default)]
pub(crate) struct LlamaProperties {
    /// The context of one slot.
    pub context: Option<u32>,
    /// How many requests it works on at once.
    pub slots: Option<u32>,
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LlamaServer => "llama-server",
            Self::Vllm { .. } => "vLLM",
            Self::Other => "a server with the OpenAI interface",
        })
    }
}

impl EngineModel {
    /// Returns the name that people read and runs keep: without the folders of the server's machine, which llama-server puts in front of a file.
    pub fn name(&self) -> &str {
        let is_path = self.id.starts_with('/') || self.id.contains('\\');
        let file = self
            .id
            .rsplit(['/', '\\'])
            .next()
            .filter(|file| is_path && !file.is_empty());
        file.unwrap_or(&self.id)
    }
}

impl Offered {
    /// Returns what memory and records know the model by: a hash of where it is and of what the server says of it that does not change while it
    /// stays the same model.
    pub fn fingerprint(&self, host: &str) -> String {
        let lasting = ["meta/n_params", "meta/size", "meta/ftype", "meta/n_vocab", "root"]
            .map(|place| self.said.pointer(&format!("/{place}")));
        hex::encode(Sha256::digest(
            json!(["engine", host, self.model.id, lasting]).to_string(),
        ))
    }
}

/// Asks a server what it is and which models it has.
pub(crate) async fn describe(http: &Http) -> Result<Described, Trouble> {
    let list = http.get("/v1/models").await?;
    let Some(data) = list["data"].as_array() else {
        return Err(Trouble::Garbage("its list of models is none".to_owned()));
    };
    let models = data
        .iter()
        .filter_map(|said| {
            let number = |place: &str| {
                said.pointer(place)?
                    .as_u64()
                    .and_then(|number| u32::try_from(number).ok())
            };
            let model = EngineModel {
                id: said["id"].as_str()?.to_owned(),
                context: number("/meta/n_ctx").or_else(|| number("/max_model_len")),
            };
            Some(Offered {
                model,
                said: said.clone(),
            })
        })
        .collect();
    let owner = data.iter().find_map(|said| said["owned_by"].as_str());
    let kind = match owner {
        Some("llamacpp") => ServerKind::LlamaServer,
        Some("vllm") => ServerKind::Vllm {
            structured: is_structured(http).await,
        },
        _ => ServerKind::Other,
    };
    Ok(Described { kind, models })
}

/// Asks llama.cpp's server how it was started; it may be told not to say.
pub(crate) async fn llama_properties(http: &Http) -> LlamaProperties {
    let Ok(said) = http.get("/props").await else {
        return LlamaProperties::default();
    };
    let number = |place: &str| {
        said.pointer(place)?
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
    };
    LlamaProperties {
        context: number("/default_generation_settings/n_ctx"),
        slots: number("/total_slots"),
    }
}

/// Returns whether a vLLM server is of version 0.11 or later; one that does not say its version counts as new.
async fn is_structured(http: &Http) -> bool {
    let Ok(said) = http.get("/version").await else {
        return true;
    };
    let mut numbers = said["version"]
        .as_str()
        .unwrap_or_default()
        .split('.')
        .map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (0, 11),
        _ => true,
    }
}
