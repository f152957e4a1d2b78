//! Loading a model: what the file and the machine allow, and the context that comes of it.

use super::cache::Cache;
use super::core::Core;
use super::machine::Waits;
use super::native::{CacheKind, Context, ContextSize};
use super::prompt::Tokenizer;
use super::schedule::{FEW_ROWS, Schedule};
use super::snapshots::Snapshots;
use super::thread_tuner::ThreadTuner;
#[cfg(feature = "dynamic-backends")]
use super::variants;
use super::{Engine, header, machine, native};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use magis_core::harmless_name;
use magis_core::text::bytes;
use magis_llm::LlmError;
use magis_llm::memory::{ContextMemory, Sequences};
use magis_llm::protocol::{Load, Loaded, Stats};
use magis_platform::memory;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

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
/// Tokens of one step whose logits are wanted. Each logit row of a large vocabulary is 600 KiB.
const OUTPUTS: u32 = FEW_ROWS as u32;
/// The largest context taken unasked: beyond it small models get distracted.
const LARGEST_CONTEXT: u32 = 32_768;
/// A context below this is of no use to a run.
const SMALLEST_CONTEXT: u32 = 1024;
/// What saved states of recurrent layers may take at least, and at the most, in bytes.
const SMALLEST_SNAPSHOTS: u64 = 256 << 20;
const LARGEST_SNAPSHOTS: u64 = 4 << 30;
/// Left to the rest of the system, in bytes.
const RESERVE: u64 = 1 << 30;

impl Engine {
    /// Loads a model. While `abort` is set, whatever runs ends as cancelled; the caller clears it.
    ///
    /// # Errors
    /// When the file is no model, memory does not hold it or its context, or loading is cancelled.
    pub fn load(load: &Load, abort: Arc<AtomicBool>) -> Result<Self, LlmError> {
        let refused = |reason| refused(&load.path, reason);
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
        let model = load_file(&load.path, size, &abort)?;
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
            fills_in: tokenizer.fills_in(),
        };
        let core = Core {
            cache: Cache::new(shape.sequences.kept, context.shape().context, context.memory()),
            context,
            snapshots: Snapshots::new(snapshot_bytes(left)),
            tokenizer: Rc::new(tokenizer),
            loaded,
            stats: Stats::default(),
            texts: Vec::new(),
            reserved: 0,
            writing: 0,
            drafts: true,
            schedule: Schedule::new(batch as usize),
            model,
            constraints: None,
            thread_tuner: ThreadTuner::new(threads),
            waits: Waits::default(),
            begun: Instant::now(),
            clock: Instant::now(),
            queue: Vec::new(),
            finished: BTreeMap::new(),
            last_ticket: 0,
            branches_in_use: BTreeSet::new(),
        };
        Ok(Self {
            calls: Vec::new(),
            core: Rc::new(RefCell::new(core)),
            abort,
        })
    }
}

/// Returns the bytes that saved states may take: a quarter of the memory that is left, within bounds.
fn snapshot_bytes(left: Option<u64>) -> usize {
    (left.unwrap_or(0) / 4).clamp(SMALLEST_SNAPSHOTS, LARGEST_SNAPSHOTS) as usize
}

/// Reads the model's file into memory, or maps it. Cancelled when `abort` is set meanwhile.
fn load_file(path: &Path, size: u64, abort: &Arc<AtomicBool>) -> Result<Arc<LlamaModel>, LlmError> {
    let refused = |reason| refused(path, reason);
    native::install_log();
    native::take_errors();
    let backend = backend().map_err(refused)?;
    let progress = Arc::clone(abort);
    let params = LlamaModelParams::default()
        .with_use_mmap(true)
        .with_progress_callback(move |_| !progress.load(Ordering::Relaxed));
    let model = LlamaModel::load_from_file(backend, path, &params);
    if abort.load(Ordering::Relaxed) {
        return Err(LlmError::Cancelled);
    }
    model.map(Arc::new).map_err(|_| {
        let said = native::take_errors().join("; ");
        refused(format!(
            "llama.cpp refuses the file of {size} bytes ({said}); download it again"
        ))
    })
}

fn refused(path: &Path, reason: String) -> LlmError {
    LlmError::Load {
        file: path.display().to_string(),
        reason,
    }
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
