//! The engine: one loaded model, its cache, and the calls on it, in the process that asks. Only a worker process should
//! ask, because llama.cpp ends the process it lives in when an assertion of its own fails.
//!
//! Here are prompts and the cache's cells; loading is in `loading`, answers in `generate`, likelihoods in `score`.

mod answer;
mod cache;
mod constraint;
mod departure;
mod generate;
mod header;
mod loading;
mod loops;
mod machine;
mod native;
mod prompt;
mod sampler;
mod score;
mod text;
mod thread_tuner;
mod token_edits;

#[cfg(feature = "dynamic-backends")]
pub(crate) mod variants;

use cache::Cache;
use constraint::{ConstraintError, Constraints};
use llama_cpp_2::model::LlamaModel;
use machine::Waits;
use magis_llm::chat_template::ChatTemplateError;
use magis_llm::memory::Sequences;
use magis_llm::protocol::{Loaded, Stats};
use magis_llm::{
    ChatReply, ChatRequest, GenerateRequest, LlmError, Message, ScoreReply, ScoreRequest, TokenEditReply,
    TokenEditRequest, Usage,
};
use magis_platform::memory;
use native::{CacheKind, Context, DecodeBatch, Output, Sequence, StepError, Token};
use prompt::Tokenizer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thiserror::Error;
use thread_tuner::ThreadTuner;

/// A model that is loaded, with its context, its cache and its sampler.
pub struct Engine {
    context: Context,
    cache: Cache,
    tokenizer: Tokenizer,
    constraints: Option<Constraints>,
    thread_tuner: ThreadTuner,
    waits: Waits,
    begun: Instant,
    abort: Arc<AtomicBool>,
    loaded: Loaded,
    stats: Stats,
    model: Arc<LlamaModel>,
}

/// What ends a call without an answer.
#[derive(Debug, Error)]
pub enum LlamaError {
    /// The caller can be told.
    #[error(transparent)]
    Call(#[from] LlmError),
    /// llama.cpp failed in a way that leaves its state unknown: the process should end.
    #[error("the engine cannot go on: {0}")]
    Broken(StepError),
}

impl From<StepError> for LlamaError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Cancelled => Self::Call(LlmError::Cancelled),
            StepError::Malformed(_) | StepError::NoRoom(_) | StepError::Failed(..) => Self::Broken(error),
        }
    }
}

impl From<ChatTemplateError> for LlamaError {
    fn from(error: ChatTemplateError) -> Self {
        Self::Call(LlmError::BadRequest {
            reason: error.to_string(),
        })
    }
}

impl From<ConstraintError> for LlamaError {
    fn from(error: ConstraintError) -> Self {
        Self::Call(LlmError::BadRequest {
            reason: error.to_string(),
        })
    }
}

impl Engine {
    /// Tells which model is loaded, with which context.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Continues a conversation; text goes to `sink` as it comes.
    ///
    /// # Errors
    /// When the prompt does not fit, an answer cannot keep to the form asked for, or the call is cancelled.
    pub fn chat(&mut self, request: &ChatRequest, sink: &mut dyn FnMut(&str)) -> Result<ChatReply, LlamaError> {
        let reply = generate::chat(self, request, sink)?;
        self.note(&reply.usage);
        self.stats.generated_tokens += u64::from(reply.usage.generated_tokens);
        Ok(reply)
    }

    /// Answers requests side by side, as many at a time as fit; the text of the first goes to `sink` as it comes.
    ///
    /// # Errors
    /// When one cannot be answered: as [`Engine::chat`], or the model has no tokens to fill in a text.
    pub fn generate_all(
        &mut self,
        requests: &[GenerateRequest],
        sink: &mut dyn FnMut(&str),
    ) -> Result<Vec<ChatReply>, LlamaError> {
        let replies = generate::generate_all(self, requests, sink)?;
        for reply in &replies {
            self.note(&reply.usage);
            self.stats.generated_tokens += u64::from(reply.usage.generated_tokens);
        }
        Ok(replies)
    }

    /// Returns how likely each continuation is.
    ///
    /// # Errors
    /// When the prompt does not fit, or the call is cancelled.
    pub fn score(&mut self, request: &ScoreRequest) -> Result<ScoreReply, LlamaError> {
        let reply = score::score(self, request)?;
        self.note(&reply.usage);
        self.stats.scored_tokens += u64::from(reply.usage.generated_tokens);
        Ok(reply)
    }

    /// Returns the edits of one token that a text between two others would be likelier with.
    ///
    /// # Errors
    /// When the text does not fit, the model has no tokens to fill in a text, or the call is cancelled.
    pub fn token_edits(&mut self, request: &TokenEditRequest) -> Result<TokenEditReply, LlamaError> {
        let reply = token_edits::token_edits(self, request)?;
        self.note(&reply.usage);
        self.stats.scored_tokens += u64::from(reply.usage.generated_tokens);
        Ok(reply)
    }

    /// Returns tokens of each text.
    pub fn count_tokens(&self, texts: &[String]) -> Vec<u32> {
        texts
            .iter()
            .map(|text| self.tokenizer.data(text).len() as u32)
            .collect()
    }

    /// Returns tokens of a rendered prompt.
    ///
    /// # Errors
    /// When the model's chat template cannot render the messages.
    pub fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlamaError> {
        Ok(self.tokenizer.prompt(messages, answer_prefix)?.len() as u32)
    }

    /// Returns tokens of the prompt that asks for the text between two others.
    ///
    /// # Errors
    /// When the vocabulary has no tokens for it.
    pub fn count_fill_in(&self, before: &str, after: &str) -> Result<u32, LlamaError> {
        let prompt = self.tokenizer.fill_in(before, after);
        Ok(prompt.ok_or_else(LlmError::no_fill_in)?.len() as u32)
    }

    /// Returns what was done so far.
    pub fn stats(&self) -> Stats {
        let cached_tokens = self.cache.used() as u32;
        Stats {
            cached_tokens,
            resident_bytes: memory::resident().unwrap_or(0),
            ..self.stats
        }
    }

    fn note(&mut self, usage: &Usage) {
        self.stats.computed_tokens += u64::from(usage.prompt_tokens);
        self.stats.reused_tokens += u64::from(usage.reused_tokens);
        self.stats.prompt_ms += usage.prompt_ms;
        self.stats.generate_ms += usage.generate_ms;
    }

    fn constraints(&mut self) -> Result<&Constraints, LlamaError> {
        if self.constraints.is_none() {
            self.constraints = Some(Constraints::of_model(&self.model)?);
        }
        let missing = || LlmError::BadRequest {
            reason: "the vocabulary allows no constraints".to_owned(),
        };
        self.constraints.as_ref().ok_or_else(|| missing().into())
    }

    fn check_room(&self, prompt: usize, answer: usize) -> Result<(), LlamaError> {
        let context = self.loaded.context;
        if prompt.saturating_add(answer) > context as usize {
            let (prompt, answer) = (prompt as u32, answer as u32);
            return Err(LlmError::OverContext {
                prompt,
                answer,
                context,
            }
            .into());
        }
        Ok(())
    }

    fn check_cancelled(&self) -> Result<(), LlamaError> {
        if self.abort.load(Ordering::Relaxed) {
            Err(LlmError::Cancelled.into())
        } else {
            Ok(())
        }
    }

    /// Computes what is missing of a prompt. Afterwards the logits behind it are there.
    fn prefill(&mut self, prompt: &[Token]) -> Result<Prefilled, LlamaError> {
        let begun = Instant::now();
        let placement = self.cache.place(prompt, self.context.memory());
        let sequence = placement.sequence;
        let mut reused = placement.reused;
        if let Some(from) = placement.shared_from {
            self.context.clear(sequence);
            self.context.share(from, sequence, reused);
            if !self.context.holds(sequence, reused) {
                self.forget(sequence);
                reused = 0;
            }
        } else if reused == 0 {
            self.context.clear(sequence);
        } else if !self.cut(sequence, reused) {
            reused = 0;
        }
        let mut last = 0;
        for tokens in prompt[reused..].chunks(self.loaded.batch as usize) {
            self.check_cancelled()?;
            last = self.extend(sequence, tokens)?;
        }
        let usage = Usage {
            prompt_tokens: (prompt.len() - reused) as u32,
            reused_tokens: reused as u32,
            prompt_ms: milliseconds(begun),
            ..Usage::default()
        };
        Ok(Prefilled { sequence, last, usage })
    }

    /// Computes tokens at the end of a kept sequence; gives the index of the last one's logits.
    fn extend(&mut self, sequence: Sequence, tokens: &[Token]) -> Result<usize, LlamaError> {
        self.make_room(tokens.len(), sequence);
        let held = self.cache.len(sequence);
        let mut step = DecodeBatch::default();
        let mut last = 0;
        for (number, token) in tokens.iter().enumerate() {
            let output = if number + 1 == tokens.len() {
                Output::Logits
            } else {
                Output::Nothing
            };
            last = step.push(*token, held + number, &[sequence], output);
        }
        if let Err(error) = self.compute(&mut step) {
            if held > 0 && self.cache.len(sequence) == held {
                self.cut(sequence, held);
            } else {
                self.forget(sequence);
            }
            return Err(error.into());
        }
        self.cache.append(sequence, tokens);
        Ok(last)
    }

    /// Computes a step, with as many threads as go well at the moment.
    fn compute(&mut self, step: &mut DecodeBatch) -> Result<(), StepError> {
        let rows = step.len();
        let begun = self.begun.elapsed();
        let result = self.context.compute(step);
        if result.is_err() {
            // Which states a step had changed when it ended nobody can say.
            if self.context.memory() == CacheKind::Recurrent {
                self.context.clear_all();
                self.cache.forget_all();
            }
            return result;
        }
        let ended = self.begun.elapsed();
        let waited = self.waits.since_last();
        if let Some(threads) = self.thread_tuner.after(rows, begun, ended, waited) {
            self.context.use_threads(threads);
        }
        result
    }

    /// Shortens a kept sequence to `length` tokens. False where what is left would not be whole: it is then empty.
    fn cut(&mut self, sequence: Sequence, length: usize) -> bool {
        let whole = self.context.cut(sequence, length) && self.context.holds(sequence, length);
        if !whole {
            self.forget(sequence);
        }
        whole
    }

    fn forget(&mut self, sequence: Sequence) {
        self.context.clear(sequence);
        self.cache.forget(sequence);
    }

    fn sequences(&self) -> Sequences {
        self.context.shape().sequences
    }

    fn branch_sequence(&self, branch: usize) -> Sequence {
        Sequence((self.sequences().kept as usize + branch) as i32)
    }

    fn make_room(&mut self, cells: usize, held: Sequence) {
        while let Some(evicted) = self.cache.evict_for(cells, held) {
            self.context.clear(evicted);
        }
    }

    fn logits(&self, index: usize) -> Result<&[f32], LlamaError> {
        self.context
            .logits(index)
            .ok_or(LlamaError::Broken(StepError::Malformed("it asked for no logits there")))
    }
}

/// A prompt that lies in the cache.
struct Prefilled {
    sequence: Sequence,
    last: usize,
    usage: Usage,
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}
