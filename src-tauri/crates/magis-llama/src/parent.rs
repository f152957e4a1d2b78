//! The parent's side: a model that is served by a worker process, which is started again when it dies.
//!
//! Retrying is done once, here, so that nobody above has to know that there is a process. What is computed how is the
//! worker's.

mod link;
mod priority;

pub use priority::{Manners, Priority};

use async_trait::async_trait;
use link::{Call, Link};
use magis_llm::memory::KvType;
use magis_llm::placement::{LARGEST_CONTEXT, Loading, SMALL_BATCH};
use magis_llm::protocol::{FromWorker, Load, Loaded, RequestId, Stats, ToWorker, Without};
use magis_llm::{
    ChatReply, ChatRequest, GenerateRequest, LanguageModel, LlmError, Message, ModelCard, PromptText, ScoreReply,
    ScoreRequest, TokenEditReply, TokenEditRequest, TokenSink, Urgency,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;
use tracing::{info, warn};

/// How to start a worker: the program is given, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The executable; it must call [`crate::worker::run`].
    pub program: PathBuf,
    /// Its arguments, a hidden subcommand say.
    pub args: Vec<OsString>,
    /// What it gets of the processor beside other programs.
    pub priority: Priority,
}

/// Which model to load, and how. What is none is chosen by the engine, so that it fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadRequest {
    pub file: PathBuf,
    /// Its SHA-256 in hexadecimal, as known to the caller; it is not verified again.
    pub sha256: String,
    /// The context in tokens; none: what the model was trained on, at most 32 768, and what the memory holds.
    pub context: Option<u32>,
    /// Threads to compute with; none: the physical cores.
    pub threads: Option<u32>,
    /// The most tokens of a context that is not asked for.
    pub most_context: Option<u32>,
    pub kv_type: Option<KvType>,
    /// Layers on the graphics device, the output counted as the first; 0: no device is looked for.
    pub gpu_layers: Option<u32>,
    /// Layers on the device whose experts stay in main memory.
    pub host_experts: Option<u32>,
    /// How weights come into main memory.
    pub loading: Option<Loading>,
    /// The folder in which prefixes of this very model are kept for later workers; none: they are lost with the worker.
    pub prefixes: Option<PathBuf>,
    pub without: Without,
}

impl LoadRequest {
    fn load(&self) -> Load {
        Load {
            path: self.file.clone(),
            context: self.context,
            threads: self.threads,
            batch: None,
            most_context: self.most_context,
            kv_type: self.kv_type,
            gpu_layers: self.gpu_layers,
            host_experts: self.host_experts,
            loading: self.loading,
            prefixes: self.prefixes.clone(),
            without: self.without,
        }
    }
}

/// A model in a worker process. Calls that are open at the same time are carried out side by side.
pub struct WorkerModel {
    worker: Arc<Worker>,
    urgency: Urgency,
}

struct Worker {
    card: ModelCard,
    loaded: Loaded,
    command: WorkerCommand,
    request: LoadRequest,
    patience: Duration,
    link: AsyncMutex<State>,
    restarts: Mutex<Vec<String>>,
    deaths: AtomicU32,
}

/// How long a worker may compute without a word. The longest step of a large model on a small machine takes less.
const PATIENCE: Duration = Duration::from_mins(5);

enum State {
    Running(Arc<Link>),
    ShutDown,
}

impl WorkerModel {
    /// Starts a worker and loads the model.
    ///
    /// # Errors
    /// When the worker cannot be started, or refuses the model.
    pub async fn start(command: WorkerCommand, load: LoadRequest) -> Result<Self, LlmError> {
        Self::start_with_patience(command, load, PATIENCE).await
    }

    /// As [`WorkerModel::start`], for tests: a worker that computes nothing for so long is ended.
    #[doc(hidden)]
    pub async fn start_with_patience(
        command: WorkerCommand,
        load: LoadRequest,
        patience: Duration,
    ) -> Result<Self, LlmError> {
        let begun = Instant::now();
        let mut restarts = Vec::new();
        let first = load.load();
        let (link, loaded) = match launch(&command, &first, patience).await {
            Err(NotLaunched::Died(reason)) => {
                warn!("worker died while it was loading; it is started again with less");
                let smaller = smaller(&first);
                let launched = launch(&command, &smaller, patience).await;
                restarts.push(format!(
                    "while the model was loaded: {reason}; it was loaded again with less"
                ));
                launched
            }
            other => other,
        }
        .map_err(|error| error.of(&load.file))?;
        restarts.extend(loaded.notes.iter().cloned());
        info!(
            context = loaded.context,
            threads = loaded.threads,
            ms = begun.elapsed().as_millis() as u64,
            "worker started"
        );
        let card = ModelCard {
            name: loaded.name.clone(),
            sha256: load.sha256.clone(),
            context: loaded.context,
            threads: loaded.threads,
            fills_in: loaded.fills_in,
        };
        let worker = Worker {
            card,
            loaded,
            command,
            request: load,
            patience,
            link: AsyncMutex::new(State::Running(link)),
            restarts: Mutex::new(restarts),
            deaths: AtomicU32::new(0),
        };
        Ok(Self {
            worker: Arc::new(worker),
            urgency: Urgency::Interactive,
        })
    }

    /// Returns the same model for calls that nobody waits for: those of others come first.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self {
            worker: Arc::clone(&self.worker),
            urgency: Urgency::Background,
        }
    }

    /// Returns what was loaded, with its memory.
    pub fn loaded(&self) -> Loaded {
        self.worker.loaded.clone()
    }

    /// Returns what the worker did since it was started, or started again.
    ///
    /// # Errors
    /// When the worker does not answer.
    pub async fn stats(&self) -> Result<Stats, LlmError> {
        let answer = self.ask(|id| ToWorker::Stats { id }, &mut |_| ()).await?;
        if let FromWorker::Stats { stats, .. } = answer {
            Ok(stats)
        } else {
            Err(unexpected())
        }
    }

    /// Ends the worker and waits until it is gone. Calls that are open, or come later, fail.
    pub async fn shutdown(&self) {
        let state = std::mem::replace(&mut *self.worker.link.lock().await, State::ShutDown);
        if let State::Running(link) = state
            && link.send(&ToWorker::Shutdown).is_ok()
        {
            link.ended().await;
        }
    }

    /// Makes the worker abort as a failed assertion would, and waits until it has. For tests.
    #[doc(hidden)]
    pub async fn abort_for_test(&self) {
        if let State::Running(link) = &*self.worker.link.lock().await
            && link.send(&ToWorker::Abort).is_ok()
        {
            link.ended().await;
        }
    }

    async fn ask(
        &self,
        request: impl Fn(RequestId) -> ToWorker + Send + Sync,
        sink: &mut (dyn FnMut(&str) + Send),
    ) -> Result<FromWorker, LlmError> {
        self.worker.ask(request, sink).await
    }

    /// Asks for one number of tokens.
    async fn count(&self, request: impl Fn(RequestId) -> ToWorker + Send + Sync) -> Result<u32, LlmError> {
        match self.ask(request, &mut |_| ()).await? {
            FromWorker::Counts { counts, .. } => counts.first().copied().ok_or_else(unexpected),
            _ => Err(unexpected()),
        }
    }
}

impl Worker {
    /// Asks the worker; asks a new one once more when it dies of the first.
    async fn ask(
        &self,
        request: impl Fn(RequestId) -> ToWorker + Send + Sync,
        sink: &mut (dyn FnMut(&str) + Send),
    ) -> Result<FromWorker, LlmError> {
        // What was shown before the worker died is not shown again.
        let mut shown = 0;
        let mut reason = String::new();
        for _ in 0..2 {
            let link = self.living_link().await?;
            let mut call = link.call(&request).map_err(|error| LlmError::BadRequest {
                reason: error.to_string(),
            })?;
            let mut seen = 0;
            loop {
                match call.next().await {
                    Some(FromWorker::Token { text, .. }) => {
                        seen += text.len();
                        let fresh = seen.saturating_sub(shown).min(text.len());
                        let from = (text.len() - fresh..=text.len()).find(|at| text.is_char_boundary(*at));
                        shown = shown.max(seen);
                        if let Some(fresh) = from.map(|from| &text[from..]).filter(|fresh| !fresh.is_empty()) {
                            sink(fresh);
                        }
                    }
                    Some(FromWorker::Failed { error, .. }) => return Err(error),
                    Some(answer) => return Ok(answer),
                    None => break,
                }
            }
            reason = link.ended().await;
        }
        Err(LlmError::WorkerDied { reason })
    }

    /// Returns the running worker, or a new one where it died: with steps half as large, in case memory was the cause; after
    /// a second death without the graphics device, in case that was.
    async fn living_link(&self) -> Result<Arc<Link>, LlmError> {
        let mut state = self.link.lock().await;
        let State::Running(link) = &*state else {
            return Err(LlmError::WorkerDied {
                reason: "it was shut down".to_owned(),
            });
        };
        if !link.is_over() {
            return Ok(Arc::clone(link));
        }
        let reason = link.ended().await;
        warn!("worker died; it is started again");
        self.restarts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reason);
        let deaths = self.deaths.fetch_add(1, Ordering::Relaxed) + 1;
        let mut load = Load {
            context: Some(self.loaded.context),
            batch: Some(self.loaded.batch / 2),
            ..self.request.load()
        };
        if deaths > 1 && self.loaded.placed.gpu_layers > 0 {
            load.gpu_layers = Some(0);
        }
        let launched = launch(&self.command, &load, self.patience).await;
        let (link, _) = launched.map_err(|error| error.of(&self.request.file))?;
        *state = State::Running(Arc::clone(&link));
        Ok(link)
    }
}

#[async_trait]
impl LanguageModel for WorkerModel {
    fn card(&self) -> &ModelCard {
        &self.worker.card
    }

    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        let answer = self
            .ask(
                |id| ToWorker::Chat {
                    id,
                    urgency: self.urgency,
                    request: request.clone(),
                },
                sink,
            )
            .await?;
        if let FromWorker::Chat { reply, .. } = answer {
            Ok(reply)
        } else {
            Err(unexpected())
        }
    }

    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        let answer = self
            .ask(
                |id| ToWorker::Score {
                    id,
                    urgency: self.urgency,
                    request: request.clone(),
                },
                &mut |_| (),
            )
            .await?;
        if let FromWorker::Score { reply, .. } = answer {
            Ok(reply)
        } else {
            Err(unexpected())
        }
    }

    async fn generate_all(
        &self,
        requests: &[GenerateRequest],
        sink: TokenSink<'_>,
    ) -> Result<Vec<ChatReply>, LlmError> {
        let request = |id| ToWorker::GenerateAll {
            id,
            urgency: self.urgency,
            requests: requests.to_vec(),
        };
        match self.ask(request, sink).await? {
            FromWorker::GeneratedAll { replies, .. } if replies.len() == requests.len() => Ok(replies),
            _ => Err(unexpected()),
        }
    }

    async fn token_edits(&self, request: &TokenEditRequest) -> Result<TokenEditReply, LlmError> {
        let asked = |id| ToWorker::TokenEdits {
            id,
            urgency: self.urgency,
            request: request.clone(),
        };
        match self.ask(asked, &mut |_| ()).await? {
            FromWorker::TokenEdits { reply, .. } => Ok(reply),
            _ => Err(unexpected()),
        }
    }

    async fn count_fill_in(&self, before: &str, after: &str) -> Result<u32, LlmError> {
        let request = |id| ToWorker::CountFillIn {
            id,
            before: before.to_owned(),
            after: after.to_owned(),
        };
        self.count(request).await
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        let answer = self
            .ask(
                |id| ToWorker::CountTokens {
                    id,
                    texts: texts.to_vec(),
                },
                &mut |_| (),
            )
            .await?;
        if let FromWorker::Counts { counts, .. } = answer {
            Ok(counts)
        } else {
            Err(unexpected())
        }
    }

    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        let request = |id| ToWorker::CountPrompt {
            id,
            messages: messages.to_vec(),
            answer_prefix: answer_prefix.to_owned(),
        };
        self.count(request).await
    }

    async fn tokenize(&self, texts: &[PromptText]) -> Result<Vec<Vec<u32>>, LlmError> {
        let request = |id| ToWorker::Tokenize {
            id,
            texts: texts.to_vec(),
        };
        match self.ask(request, &mut |_| ()).await? {
            FromWorker::Tokens { tokens, .. } if tokens.len() == texts.len() => Ok(tokens),
            _ => Err(unexpected()),
        }
    }

    fn take_restarts(&self) -> Vec<String> {
        std::mem::take(&mut *self.worker.restarts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why a worker with a model was not started.
enum NotLaunched {
    Failed(LlmError),
    /// The system does not start it.
    NotStarted(String),
    /// Its process ended while it was loading.
    Died(String),
}

impl NotLaunched {
    fn of(self, file: &Path) -> LlmError {
        let reason = match self {
            Self::Failed(error) => return error,
            Self::NotStarted(reason) => reason,
            Self::Died(reason) => format!("the worker ended while it was read, also with less: {reason}"),
        };
        LlmError::Load {
            file: file.display().to_string(),
            reason,
        }
    }
}

/// Returns what to try after a worker died while it was loading: memory or the graphics device may have been the cause.
fn smaller(load: &Load) -> Load {
    Load {
        batch: Some(SMALL_BATCH),
        most_context: Some(load.most_context.unwrap_or(LARGEST_CONTEXT) / 2),
        gpu_layers: Some(0),
        ..load.clone()
    }
}

/// Starts a worker and loads the model in it.
async fn launch(command: &WorkerCommand, load: &Load, patience: Duration) -> Result<(Arc<Link>, Loaded), NotLaunched> {
    let link = Link::start(command, patience).map_err(|error| {
        NotLaunched::NotStarted(format!(
            "its worker {} does not start: {error}",
            command.program.display()
        ))
    })?;
    let link = Arc::new(link);
    let load = load.clone();
    let mut call: Call = link
        .call(|id| ToWorker::Load { id, load })
        .map_err(|error| NotLaunched::NotStarted(format!("its path is odd: {error}")))?;
    match call.next().await {
        Some(FromWorker::Loaded { loaded, .. }) => Ok((link, loaded)),
        Some(FromWorker::Failed { error, .. }) => Err(NotLaunched::Failed(error)),
        Some(_) => Err(NotLaunched::Failed(unexpected())),
        None => Err(NotLaunched::Died(link.ended().await)),
    }
}

fn unexpected() -> LlmError {
    LlmError::WorkerDied {
        reason: "it answered something else than was asked".to_owned(),
    }
}
