//! The parent's side of the worker process.

use async_trait::async_trait;
use magis_llm::protocol::{Loaded, Stats};
use magis_llm::{
    ChatReply, ChatRequest, LanguageModel, LlmError, Message, ModelCard, ScoreReply, ScoreRequest, TokenSink,
};
use std::ffi::OsString;
use std::path::PathBuf;

/// How to start a worker: the program is given, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The executable; it must call [`crate::worker::run`].
    pub program: PathBuf,
    /// Its arguments, a hidden subcommand say.
    pub args: Vec<OsString>,
}

/// Which model to load, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// The GGUF file.
    pub file: PathBuf,
    /// Its SHA-256 in hexadecimal, as known to the caller; it is not verified again.
    pub sha256: String,
    /// The context in tokens; none: what the model was trained on, at most 32 768, and what the memory holds.
    pub context: Option<u32>,
    /// Threads to compute with; none: the physical cores.
    pub threads: Option<u32>,
}

/// A model in a worker process.
pub struct WorkerModel {
    card: ModelCard,
}

impl WorkerModel {
    /// Starts a worker and loads the model.
    #[expect(clippy::unused_async, reason = "not yet")]
    pub async fn start(command: WorkerCommand, load: LoadRequest) -> Result<Self, LlmError> {
        let _ = command;
        Err(LlmError::Load {
            file: load.file.display().to_string(),
            reason: "not yet".to_owned(),
        })
    }

    /// What was loaded, with its memory.
    pub fn loaded(&self) -> Loaded {
        unimplemented!()
    }

    /// What the worker did since it started.
    #[expect(clippy::unused_async, reason = "not yet")]
    pub async fn stats(&self) -> Result<Stats, LlmError> {
        unimplemented!()
    }

    /// Ends the worker.
    #[expect(clippy::unused_async, reason = "not yet")]
    pub async fn shutdown(&self) {}

    /// Makes the worker abort as a failed assertion would, for tests.
    #[expect(clippy::unused_async, reason = "not yet")]
    pub async fn abort_for_test(&self) {}
}

#[async_trait]
impl LanguageModel for WorkerModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn chat(&self, _request: &ChatRequest, _sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        unimplemented!()
    }

    async fn score(&self, _request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        unimplemented!()
    }

    async fn count_tokens(&self, _texts: &[String]) -> Result<Vec<u32>, LlmError> {
        unimplemented!()
    }

    async fn count_prompt(&self, _messages: &[Message], _answer_prefix: &str) -> Result<u32, LlmError> {
        unimplemented!()
    }
}
