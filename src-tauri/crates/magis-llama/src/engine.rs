//! The engine: one loaded model, its cache, and the calls on it, in the process that asks. Only a worker process should
//! ask, because llama.cpp ends the process it lives in when an assertion of its own fails.
//!
//! Here are loading, prompts and the cache's cells; answers are in `chat`, likelihoods in `score`.

mod cache;
mod chat;
mod constraint;
mod header;
mod loops;
mod machine;
mod native;
mod prompt;
mod sampler;
mod score;
mod template;
mod text;
mod thread_tuner;
#[cfg(feature = "dynamic-backends")]
mod variants;

use cache::Cache;
use constraint::{ConstraintError, Constraints};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use machine::Waits;
use magis_core::harmless_name;
use magis_core::text::bytes;
use magis_llm::memory::{ContextMemory, Sequences};
use magis_llm::protocol::{Load, Loaded, Stats};
use magis_llm::{ChatReply, ChatRequest, LlmError, Message, ScoreReply, ScoreRequest, Usage};
use magis_platform::memory;
use native::{CacheKind, Context, ContextSize, DecodeBatch, Output, Sequence, StepError, Token};
use prompt::Tokenizer;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use template::TemplateError;
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

impl From<TemplateError> for LlamaError {
    fn from(error: TemplateError) -> Self {
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
    /// Loads a model. While `abort` is set, whatever runs ends as cancelled; the caller clears it.
    pub fn load(load: &Load, abort: Arc<AtomicBool>) -> Result<Self, LlmError> {
        let refused = |reason: String| LlmError::Load {
            file: load.path.display().to_string(),
            reason,
        };
        let size = check_file(&load.path).map_err(refused)?;
        let memory = memory::available();
        if let Some(memory) = memory.filter(|memory| *memory < size) {
            let reason = format!(
                "it needs {} of memory and {} are free; choose a smaller model",
                bytes(size),
                bytes(memory)
            );
            return Err(refused(reason));
        }
        native::install_log();
        native::take_errors();
        let backend = backend().map_err(refused)?;
        let progress = Arc::clone(&abort);
        let params = LlamaModelParams::default()
            .with_use_mmap(true)
            .with_progress_callback(move |_| !progress.load(Ordering::Relaxed));
        let model = LlamaModel::load_from_file(backend, &load.path, &params);
        if abort.load(Ordering::Relaxed) {
            return Err(LlmError::Cancelled);
        }
        let model = model.map(Arc::new).map_err(|_| {
            let said = native::take_errors().join("; ");
            refused(format!(
                "llama.cpp refuses the file of {size} bytes ({said}); download it again"
            ))
        })?;
        let trained = model.n_ctx_train();
        let need = header::context_memory(&model, &load.path);
        let left = memory.map(|memory| memory.saturating_sub(size));
        let context = context_size(load.context, trained, need, left).map_err(refused)?;
        let threads = load
            .threads
            .filter(|threads| *threads > 0)
            .unwrap_or_else(machine::physical_cores);
        let batch = load.batch.unwrap_or(BATCH).clamp(SMALLEST_BATCH, BATCH).min(context);
        let shape = ContextSize {
            context,
            batch,
            outputs: OUTPUTS,
            sequences: match CacheKind::of(&model) {
                CacheKind::Attention => Sequences::ATTENTION,
                CacheKind::SlidingWindow(_) => Sequences::SLIDING_WINDOW,
                CacheKind::Recurrent => Sequences::RECURRENT,
            },
            threads,
        };
        let context = Context::new(&model, shape, Arc::clone(&abort)).ok_or_else(|| {
            let said = native::take_errors().join("; ");
            refused(format!(
                "no context of {context} tokens could be made ({said}); ask for a smaller one"
            ))
        })?;
        let tokenizer = Tokenizer::new(&model);
        let loaded = Loaded {
            name: name(&model, &load.path),
            context: context.shape().context,
            trained_context: trained,
            threads,
            batch,
            model_bytes: model.size(),
            cache_bytes: need.bytes(context.shape().context),
            template: tokenizer.template_origin(),
        };
        Ok(Self {
            cache: Cache::new(shape.sequences.kept, context.shape().context),
            context,
            tokenizer,
            constraints: None,
            thread_tuner: ThreadTuner::new(threads),
            waits: Waits::default(),
            begun: Instant::now(),
            abort,
            loaded,
            stats: Stats::default(),
            model,
        })
    }

    /// Tells which model is loaded, with which context.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Continues a conversation; text goes to `sink` as it comes.
    pub fn chat(&mut self, request: &ChatRequest, sink: &mut dyn FnMut(&str)) -> Result<ChatReply, LlamaError> {
        let reply = chat::chat(self, request, sink)?;
        self.note(&reply.usage);
        self.stats.generated_tokens += u64::from(reply.usage.generated_tokens);
        Ok(reply)
    }

    /// Returns how likely each continuation is.
    pub fn score(&mut self, request: &ScoreRequest) -> Result<ScoreReply, LlamaError> {
        let reply = score::score(self, request)?;
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
    pub fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlamaError> {
        Ok(self.tokenizer.prompt(messages, answer_prefix)?.len() as u32)
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

/// Tokens of one step: large enough for the matrix kernels, small enough for the logits' memory.
const BATCH: u32 = 512;
/// Less would make no step use less memory worth speaking of.
const SMALLEST_BATCH: u32 = 64;
const _: () = assert!(
    Sequences::ATTENTION.count() <= OUTPUTS
        && Sequences::SLIDING_WINDOW.count() + Sequences::SLIDING_WINDOW.kept <= OUTPUTS
        && OUTPUTS <= SMALLEST_BATCH,
    "llama.cpp insists on a row of logits for each sequence"
);
/// Tokens of one step whose logits are wanted. From 64 on llama.cpp computes attention in another way, with other
/// rounding: below, a likelihood does not depend on what else is asked for in the same call. A multiple of 4, for the
/// matrix kernels; and each logit row of a large vocabulary is 600 KiB.
const OUTPUTS: u32 = 60;
/// The largest context taken unasked: beyond it small models get distracted.
const LARGEST_CONTEXT: u32 = 32_768;
/// A context below this is of no use to a run.
const SMALLEST_CONTEXT: u32 = 1024;
/// Left to the rest of the system, in bytes.
const RESERVE: u64 = 1 << 30;

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}

fn backend() -> Result<&'static LlamaBackend, String> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        #[cfg(feature = "dynamic-backends")]
        variants::load()?;
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(Clone::clone)
}

/// Returns the file's size, if it can be a model.
fn check_file(path: &Path) -> Result<u64, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut magic = [0; 4];
    match file.read_exact(&mut magic) {
        Ok(()) if &magic == b"GGUF" => Ok(metadata.len()),
        Ok(()) => Err("it is not a GGUF file; only models in this form can be used".to_owned()),
        Err(_) => Err(format!(
            "it has {} bytes and is no model; download it again",
            metadata.len()
        )),
    }
}

fn name(model: &LlamaModel, path: &Path) -> String {
    let of_file = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    model
        .meta_val_str("general.name")
        .ok()
        .map(|name| harmless_name(&name))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(of_file)
}

/// Returns the context in tokens: as asked, or what model and memory allow.
fn context_size(asked: Option<u32>, trained: u32, need: ContextMemory, memory: Option<u64>) -> Result<u32, String> {
    let room = memory.map_or(u64::MAX, |memory| {
        memory.saturating_sub(RESERVE).saturating_sub(need.states()) / need.per_token.max(1)
    });
    let fits = u32::try_from(room).unwrap_or(u32::MAX);
    match asked {
        Some(0) => Err("a context of 0 tokens was asked for".to_owned()),
        Some(asked) if asked > trained => Err(format!(
            "a context of {asked} tokens was asked for, and it was trained on {trained}"
        )),
        Some(asked) if asked > fits => {
            let needed = bytes(need.bytes(asked));
            Err(format!(
                "a context of {asked} tokens needs {needed}, and the free memory holds {fits} tokens"
            ))
        }
        Some(asked) => Ok(asked),
        None if fits < SMALLEST_CONTEXT.min(trained) => Err(format!(
            "the free memory holds a context of {fits} tokens only; choose a smaller model"
        )),
        None => Ok((trained.min(LARGEST_CONTEXT).min(fits) / 256 * 256).max(SMALLEST_CONTEXT.min(trained))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn check(asked: Option<u32>, trained: u32, memory: Option<u64>, expected: Option<u32>) {
        let need = ContextMemory {
            per_token: 28 << 10,
            per_sequence: 0,
        };
        let context = context_size(asked, trained, need, memory);
        assert_eq!(context.as_ref().ok(), expected.as_ref(), "{context:?}");
    }

    #[test]
    fn the_context_is_what_model_and_memory_allow() {
        check(None, 131_072, Some(64 * GIB), Some(32_768));
        check(None, 8192, None, Some(8192));
        check(None, 32_768, Some(GIB + (280 << 20)), Some(10_240));
        check(None, 512, Some(8 * GIB), Some(512));
        check(None, 32_768, Some(GIB), None);
    }

    #[test]
    fn the_states_of_all_sequences_come_before_the_context() {
        let need = ContextMemory {
            per_token: 32 << 10,
            per_sequence: 50 << 20,
        };
        let states = need.per_sequence * u64::from(Sequences::RECURRENT.count());
        let context = |memory| context_size(None, 32_768, need, Some(GIB + memory));
        assert_eq!(context(states + (2048 << 15)), Ok(2048));
        assert!(context(states).is_err());
    }

    #[test]
    fn an_asked_context_is_kept_or_refused() {
        check(Some(2048), 32_768, Some(8 * GIB), Some(2048));
        check(Some(40_000), 32_768, Some(8 * GIB), None);
        check(Some(32_768), 32_768, Some(GIB + (28 << 20)), None);
        check(Some(0), 32_768, None, None);
    }
}
