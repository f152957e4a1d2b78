//! The model at the other end as a [`LanguageModel`]: connecting, and each kind of call with its checks and repetitions.

use crate::connection::Trust;
use crate::http::Http;
use crate::server::{self, LlamaProperties, Server};
use crate::trouble::Trouble;
use crate::{Abilities, Constraining, EngineAddress, EngineKey, EngineModel, Patience, Scoring, ServerKind};
use crate::{chat, constraint, count, score};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, GenerateRequest, LanguageModel, LlmError, Message, ModelCard,
    ScoreReply, ScoreRequest, TokenSink, Usage,
};
use std::path::PathBuf;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// How often an answer of the wrong form is asked for again.
const REPETITIONS: u32 = 2;
/// How many calls are under way at once where the server does not say how many it takes.
const CALLS_OF_VLLM: u32 = 16;
const CALLS_OF_OTHERS: u32 = 4;
const MOST_CALLS: u32 = 64;

/// Which engine is used, and how. [`EngineOptions::at`] gives the usual values.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    pub address: EngineAddress,
    /// The model, as the server calls it; none: the only one there is.
    pub model: Option<String>,
    /// The context in tokens, where the server does not say it, or says too much.
    pub context: Option<u32>,
    /// A file of certificate authorities in PEM form; none: the system's.
    pub authorities: Option<PathBuf>,
    pub key: Option<EngineKey>,
    pub patience: Patience,
    /// How many calls may be under way at once; none: as many as the server takes.
    pub parallel: Option<u32>,
}

/// A model that another engine serves. Up to a bound, calls are made side by side; the others wait in their order.
///
/// Dropping a call closes its connection, at which servers stop computing.
pub struct RemoteModel {
    server: Server,
    card: ModelCard,
    abilities: Abilities,
    calls: Semaphore,
}

impl EngineOptions {
    /// Returns the usual values for an address.
    pub fn at(address: EngineAddress) -> Self {
        Self {
            address,
            model: None,
            context: None,
            authorities: None,
            key: None,
            patience: Patience::default(),
            parallel: None,
        }
    }

    /// Asks the engine which models it has.
    ///
    /// # Errors
    /// When it cannot be reached, refuses the key, or is no engine.
    pub async fn models(&self) -> Result<Vec<EngineModel>, LlmError> {
        let http = self.http().await?;
        let described = server::describe(&http)
            .await
            .map_err(|trouble| trouble.at(&self.address))?;
        Ok(described.models.into_iter().map(|offered| offered.model).collect())
    }

    async fn http(&self) -> Result<Http, LlmError> {
        let (address, authorities) = (self.address.clone(), self.authorities.clone());
        let trust = match spawn_blocking(move || Trust::load(&address, authorities.as_deref())).await {
            Ok(trust) => trust.map_err(|trouble| trouble.at(&self.address))?,
            // The runtime is ending.
            Err(_) => return Err(LlmError::Cancelled),
        };
        Ok(Http::new(self.address.clone(), trust, self.key.as_ref(), self.patience))
    }

    fn refuse(&self, reason: String) -> LlmError {
        LlmError::Engine {
            host: self.address.host_and_port(),
            reason,
        }
    }
}

impl RemoteModel {
    /// Connects to an engine: finds out what it is, chooses the model, and tries what it can do.
    ///
    /// # Errors
    /// When it cannot be reached, has no such model or several to choose from, or its context is not known.
    pub async fn connect(options: EngineOptions) -> Result<Self, LlmError> {
        let http = options.http().await?;
        let described = server::describe(&http)
            .await
            .map_err(|trouble| trouble.at(&options.address))?;
        let names: Vec<&str> = described
            .models
            .iter()
            .map(|offered| offered.model.id.as_str())
            .collect();
        let chosen = match (&options.model, described.models.as_slice()) {
            (_, []) => return Err(options.refuse("has no model loaded; load one in it first".to_owned())),
            (Some(wanted), models) => models
                .iter()
                .find(|offered| [offered.model.id.as_str(), offered.model.name()].contains(&wanted.as_str()))
                .ok_or_else(|| options.refuse(format!("has no model called {wanted}; it has: {}", names.join(", "))))?,
            (None, [only]) => only,
            (None, _) => {
                return Err(options.refuse(format!("has several models; name one of: {}", names.join(", "))));
            }
        };
        let properties = match described.kind {
            ServerKind::LlamaServer => server::llama_properties(&http).await,
            ServerKind::Vllm { .. } | ServerKind::Other => LlamaProperties::default(),
        };
        let said = chosen
            .model
            .context
            .or(properties.context)
            .filter(|context| *context > 0);
        let context = match (said, options.context) {
            (Some(said), wanted) => wanted.map_or(said, |wanted| wanted.min(said)),
            (None, Some(wanted)) => wanted,
            (None, None) => {
                return Err(
                    options.refuse("does not say how many tokens its context holds; give the number".to_owned())
                );
            }
        };
        let card = ModelCard {
            name: chosen.model.name().to_owned(),
            sha256: chosen.fingerprint(&options.address.host_and_port()),
            context,
            threads: 0,
            fills_in: false,
        };
        let calls = options.parallel.unwrap_or(match described.kind {
            ServerKind::LlamaServer => properties.slots.unwrap_or(1),
            ServerKind::Vllm { .. } => CALLS_OF_VLLM,
            ServerKind::Other => CALLS_OF_OTHERS,
        });
        let server = Server {
            http,
            kind: described.kind,
            model: chosen.model.id.clone(),
        };
        let abilities = Abilities {
            kind: server.kind,
            scoring: score::ability(&server).await,
            counting: count::ability(&server).await,
            constraining: match server.kind {
                ServerKind::LlamaServer | ServerKind::Vllm { .. } => Constraining::Enforced,
                ServerKind::Other => Constraining::Asked,
            },
            continuing: chat::continuing(server.kind),
        };
        Ok(Self {
            server,
            card,
            abilities,
            calls: Semaphore::new(calls.clamp(1, MOST_CALLS) as usize),
        })
    }

    /// Returns what the engine can do, and what is done in another way.
    pub fn abilities(&self) -> Abilities {
        self.abilities
    }

    /// Returns where prompts go.
    pub fn address(&self) -> &EngineAddress {
        &self.server.http.address
    }

    fn failed(&self, trouble: Trouble) -> LlmError {
        trouble.at(self.address())
    }

    /// Asks once, when it is this call's turn.
    async fn once(&self, request: &ChatRequest, attempt: u32, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        // The semaphore is never closed; it would only mean that nothing is asked any more.
        let _turn = self.calls.acquire().await.map_err(|_| LlmError::Cancelled)?;
        chat::once(&self.server, request, attempt, sink)
            .await
            .map_err(|trouble| self.failed(trouble))
    }

    /// Scores by the order in which the model chooses among the texts.
    async fn rank(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        if request.by_line {
            return Err(LlmError::BadRequest {
                reason: "the engine offers no log-probabilities of lines".to_owned(),
            });
        }
        let mut left: Vec<usize> = (0..request.continuations.len()).collect();
        let mut chosen = Vec::new();
        let mut usage = Usage::default();
        for _ in 0..score::choices(left.len()) {
            let reply = self.chat(&score::choice(request, &left), &mut |_| ()).await?;
            usage = score::sum(usage, reply.usage);
            let number: usize = reply.text.parse().unwrap_or(1);
            chosen.push(left.remove(number - 1));
        }
        Ok(ScoreReply {
            scores: score::ranked(request, &chosen),
            lines: Vec::new(),
            usage,
        })
    }
}

#[async_trait]
impl LanguageModel for RemoteModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    /// Continues a conversation. An answer of a certain form is checked first and shown as a whole.
    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        constraint::check_possible(&request.constraint)?;
        if !request.tools.is_empty() || !request.thinking.is_off() {
            let reason = "tools and thinking are not asked of another engine; use a model of this machine".to_owned();
            return Err(LlmError::BadRequest { reason });
        }
        if request.constraint == Constraint::None {
            return self.once(request, 0, sink).await;
        }
        let mut usage = Usage::default();
        let mut reason = String::new();
        for attempt in 0..=REPETITIONS {
            let reply = self.once(request, attempt, &mut |_| ()).await?;
            usage = score::sum(usage, reply.usage);
            match constraint::read(&request.constraint, &reply.text) {
                Ok(text) => {
                    sink(&text);
                    return Ok(ChatReply::new(text, FinishReason::Complete, usage));
                }
                Err(why) => reason = why,
            }
        }
        Err(LlmError::WrongForm { reason })
    }

    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        if request.continuations.is_empty() || request.continuations.iter().any(String::is_empty) {
            let reason = "there is no continuation to score, or one is empty".to_owned();
            return Err(LlmError::BadRequest { reason });
        }
        match self.abilities.scoring {
            Scoring::Exact => {
                let _turn = self.calls.acquire().await.map_err(|_| LlmError::Cancelled)?;
                score::exact(&self.server, request)
                    .await
                    .map_err(|trouble| self.failed(trouble))
            }
            Scoring::Ranked => self.rank(request).await,
        }
    }

    async fn generate_all(
        &self,
        requests: &[GenerateRequest],
        sink: TokenSink<'_>,
    ) -> Result<Vec<ChatReply>, LlmError> {
        let mut sink = Some(sink);
        let mut calls = Vec::with_capacity(requests.len());
        for request in requests {
            let GenerateRequest::Chat(request) = request else {
                return Err(LlmError::no_fill_in());
            };
            let sink = sink.take();
            calls.push(async move {
                match sink {
                    Some(sink) => self.chat(request, sink).await,
                    None => self.chat(request, &mut |_| ()).await,
                }
            });
        }
        try_join_all(calls).await
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        let counting = self.abilities.counting;
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            let counted = count::text(&self.server, counting, text).await;
            counts.push(counted.map_err(|trouble| self.failed(trouble))?);
        }
        Ok(counts)
    }

    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        count::prompt(&self.server, self.abilities.counting, messages, answer_prefix)
            .await
            .map_err(|trouble| self.failed(trouble))
    }
}
