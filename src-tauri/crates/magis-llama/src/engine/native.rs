//! A llama.cpp context of our own, through its C interface, with what `llama-cpp-2` hides: an abort callback, a bound on
//! outputs, one cache for all sequences, what the cache still holds, and threads that change between steps.
//!
//! Every argument that llama.cpp would answer with an abort of the process is checked here first. What the tokens mean
//! and which sequence keeps what is not decided here.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

mod heads;
mod kernels;

use super::thread_tuner::Threads;
use heads::Heads;
use kernels::OwnKernels;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;
use magis_llm::memory::{KvType, Sequences};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// A token's number in the vocabulary.
pub type Token = i32;

/// A sequence of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequence(pub i32);

/// What a model's memory keeps of the tokens it has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Keys and values of every token: any tail can be forgotten.
    Attention,
    /// As [`CacheKind::Attention`], but some layers only look back so many tokens: what lies farther back may be overwritten.
    SlidingWindow(u32),
    /// A state that all tokens went into, at least in some layers: only a whole sequence can be forgotten.
    Recurrent,
}

impl CacheKind {
    /// Returns the memory of a model.
    pub fn of(model: &Arc<LlamaModel>) -> Self {
        // SAFETY: the model is alive.
        let window = unsafe { sys::llama_model_n_swa(pointer_of(model)) };
        match u32::try_from(window) {
            _ if model.is_recurrent() || model.is_hybrid() => Self::Recurrent,
            Ok(tokens) if tokens > 0 => Self::SlidingWindow(tokens),
            _ => Self::Attention,
        }
    }
}

/// How large a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextSize {
    /// Tokens the cache holds, over all sequences.
    pub context: u32,
    /// Tokens of one step at the most.
    pub batch: u32,
    /// Tokens of one step whose logits can be asked for at the most.
    pub outputs: u32,
    /// Which sequences there are.
    pub sequences: Sequences,
    pub kv_type: KvType,
    pub threads: u32,
    /// Whether our own kernels compute what they can, where there are some for this processor.
    pub own_kernels: bool,
    /// Whether the model was loaded with its own heads for drafts.
    pub heads: bool,
}

impl ContextSize {
    /// Returns what llama.cpp is told of it, for so many sequences.
    fn params(&self, sequences: u32) -> sys::llama_context_params {
        // SAFETY: takes nothing and gives a plain value.
        let mut params = unsafe { sys::llama_context_default_params() };
        params.n_ctx = self.context;
        params.n_batch = self.batch;
        params.n_ubatch = self.batch;
        params.n_seq_max = sequences;
        params.n_outputs_max = self.outputs;
        params.n_threads = self.threads as i32;
        params.n_threads_batch = self.threads as i32;
        if self.kv_type == KvType::Q8 {
            (params.type_k, params.type_v) = (sys::GGML_TYPE_Q8_0, sys::GGML_TYPE_Q8_0);
        }
        params.kv_unified = true;
        params.no_perf = true;
        params
    }

    /// Returns what it computes with beside llama.cpp.
    fn kernels(&self) -> Option<OwnKernels> {
        if self.own_kernels { OwnKernels::new() } else { None }
    }
}

/// Why a step was not computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StepError {
    /// The abort flag was set.
    #[error("cancelled")]
    Cancelled,
    /// The step is malformed; the engine made a mistake.
    #[error("the engine built a step llama.cpp would refuse: {0}")]
    Malformed(&'static str),
    /// The cache has no free cells.
    #[error("the cache has no room for {0} tokens")]
    NoRoom(usize),
    #[error("llama.cpp could not compute a step of {0} tokens: code {1}")]
    Failed(usize, i32),
}

/// Whether a token's logits are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Logits,
    Nothing,
}

/// The tokens of one step.
#[derive(Debug, Default)]
pub struct DecodeBatch {
    tokens: Vec<Token>,
    positions: Vec<i32>,
    sequences: Vec<Vec<i32>>,
    outputs: Vec<i8>,
}

impl DecodeBatch {
    /// Adds a token at a position of all these sequences; gives its index for [`Context::logits`].
    pub fn push(&mut self, token: Token, position: usize, sequences: &[Sequence], output: Output) -> usize {
        self.tokens.push(token);
        self.positions.push(position as i32);
        self.sequences
            .push(sequences.iter().map(|sequence| sequence.0).collect());
        self.outputs.push(i8::from(output == Output::Logits));
        self.tokens.len() - 1
    }

    /// Returns its tokens, each with its position and its sequences.
    pub fn rows(&self) -> impl Iterator<Item = (Token, usize, &[i32])> {
        let places = self.positions.iter().zip(&self.sequences);
        let rows = self.tokens.iter().zip(places);
        rows.map(|(token, (position, sequences))| (*token, *position as usize, sequences.as_slice()))
    }

    /// Returns how many tokens it has.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns whether all tokens are of the same sequence.
    pub fn has_one_sequence(&self) -> bool {
        let is_first = |sequences: &Vec<i32>| sequences.len() == 1 && Some(sequences) == self.sequences.first();
        self.sequences.iter().all(is_first)
    }

    /// Returns how many logits it asks for.
    pub fn outputs(&self) -> usize {
        self.outputs.iter().filter(|output| **output != 0).count()
    }
}

/// A llama.cpp context with its cache.
///
/// With a sliding window llama.cpp takes cells that lie outside the window, unless two sequences own them. So there each
/// kept sequence has a twin that is in every way as it is, and whose only purpose is that the cells have two owners.
pub struct Context {
    raw: NonNull<sys::llama_context>,
    shape: ContextSize,
    memory: CacheKind,
    vocabulary: usize,
    // Freed before the model, as the context itself.
    heads: Option<Heads>,
    // llama.cpp uses both through pointers, and the context refers to the model: all three live as long as it.
    _kernels: Option<OwnKernels>,
    abort: Arc<AtomicBool>,
    _model: Arc<LlamaModel>,
}

// SAFETY: a llama_context may be used from any thread as long as it is used from one at a time; every method that
// touches it takes `&mut self`, or `&self` to read memory that only `&mut self` methods write.
unsafe impl Send for Context {}

impl Context {
    /// Creates a context of that shape; `abort` ends a running step when it is set. None where llama.cpp refuses, for
    /// want of memory in most cases; the log says why.
    pub fn new(model: &Arc<LlamaModel>, shape: ContextSize, abort: Arc<AtomicBool>) -> Option<Self> {
        let memory = CacheKind::of(model);
        let sequences = match memory {
            CacheKind::SlidingWindow(_) => shape.sequences.count() + shape.sequences.kept,
            CacheKind::Attention | CacheKind::Recurrent => shape.sequences.count(),
        };
        if shape.outputs < sequences || shape.batch == 0 || sequences == 0 {
            return None;
        }
        let mut params = shape.params(sequences);
        params.swa_full = true;
        let mut kernels = shape.kernels();
        if let Some(kernels) = &mut kernels {
            kernels.serve(&mut params);
        }
        params.abort_callback = Some(is_set);
        params.abort_callback_data = Arc::as_ptr(&abort).cast_mut().cast::<c_void>();
        // SAFETY: the model is alive (we hold it), the parameters are the defaults with valid changes, and the flag
        // behind the callback's pointer is kept alive by `self.abort` until after `llama_free`.
        let raw = unsafe { sys::llama_init_from_model(pointer_of(model), params) };
        let vocabulary = usize::try_from(model.n_vocab()).ok()?;
        // SAFETY: only called where `raw` is not null.
        let context = |raw: NonNull<sys::llama_context>| unsafe { sys::llama_n_ctx(raw.as_ptr()) };
        NonNull::new(raw).map(|raw| {
            let shape = ContextSize {
                context: context(raw),
                ..shape
            };
            let heads = shape.heads.then(|| Heads::new(model, raw, shape, vocabulary)).flatten();
            Self {
                raw,
                shape: ContextSize {
                    heads: heads.is_some(),
                    ..shape
                },
                memory,
                vocabulary,
                heads,
                _kernels: kernels,
                abort,
                _model: Arc::clone(model),
            }
        })
    }

    /// Returns its shape; the context as llama.cpp rounded it.
    pub fn shape(&self) -> ContextSize {
        self.shape
    }

    /// Returns what its memory keeps.
    pub fn memory(&self) -> CacheKind {
        self.memory
    }

    /// Computes the following steps with so many threads.
    pub fn use_threads(&mut self, threads: Threads) {
        let most = self.shape.threads;
        let [single, rows] = [threads.single, threads.rows].map(|threads| threads.clamp(1, most.max(1)) as i32);
        // SAFETY: the context is alive; a step asks for the number of threads at its begin.
        unsafe { sys::llama_set_n_threads(self.raw.as_ptr(), single, rows) }
        if let Some(heads) = &mut self.heads {
            heads.use_threads(single, rows);
        }
    }

    /// Computes a step. After an error the cache may hold some of it: the caller removes what it put in.
    pub fn compute(&mut self, step: &mut DecodeBatch) -> Result<(), StepError> {
        self.check(step)?;
        let count = step.len();
        if self.memory == CacheKind::Recurrent {
            self.let_interrupt(step.has_one_sequence());
        }
        for sequences in &mut step.sequences {
            let twins: Vec<i32> = sequences
                .iter()
                .filter_map(|number| self.twin(Sequence(*number)))
                .collect();
            sequences.extend(twins);
        }
        let mut sequence_counts: Vec<i32> = step.sequences.iter().map(|all| all.len() as i32).collect();
        let mut sequence_lists: Vec<*mut i32> = step.sequences.iter_mut().map(Vec::as_mut_ptr).collect();
        let batch = sys::llama_batch {
            n_tokens: count as i32,
            token: step.tokens.as_mut_ptr(),
            embd: std::ptr::null_mut(),
            pos: step.positions.as_mut_ptr(),
            n_seq_id: sequence_counts.as_mut_ptr(),
            seq_id: sequence_lists.as_mut_ptr(),
            logits: step.outputs.as_mut_ptr(),
        };
        // SAFETY: all arrays have `count` elements and live until the call returns, which copies them; `check` has
        // made sure that no count or number is out of llama.cpp's range.
        match unsafe { sys::llama_decode(self.raw.as_ptr(), batch) } {
            0 => {
                // Without their heads models answer as well, only not as fast.
                if let Some(heads) = &mut self.heads
                    && !heads.follow(step, self.raw)
                {
                    self.heads = None;
                }
                Ok(())
            }
            1 => Err(StepError::NoRoom(count)),
            2 => Err(StepError::Cancelled),
            _ if self.abort.load(Ordering::Relaxed) => Err(StepError::Cancelled),
            code => Err(StepError::Failed(count, code)),
        }
    }

    /// Returns whether the model has heads that draft.
    pub fn has_heads(&self) -> bool {
        self.heads.is_some()
    }

    /// Drafts tokens behind one that stands at a position of a sequence and is computed next, by the model's own heads.
    pub fn draft(&mut self, sequence: Sequence, token: Token, position: usize, most: usize) -> Vec<Token> {
        let heads = self.heads.as_mut();
        heads.map_or_else(Vec::new, |heads| heads.draft(sequence, token, position, most))
    }

    /// Returns whether the next step would be interrupted before it begins.
    pub fn is_interrupted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    /// Sets whether the flag ends the next step in its midst. A step of several sequences may move the recurrent states of
    /// others, and an interrupted one leaves them behind.
    fn let_interrupt(&mut self, is_allowed: bool) {
        let callback: sys::ggml_abort_callback = if is_allowed { Some(is_set) } else { None };
        let flag = Arc::as_ptr(&self.abort).cast_mut().cast::<c_void>();
        // SAFETY: the context is alive, and the flag lives as long as it.
        unsafe { sys::llama_set_abort_callback(self.raw.as_ptr(), callback, flag) }
    }

    /// Returns the logits of a token of the last step that asked for them.
    pub fn logits(&self, index: usize) -> Option<&[f32]> {
        // SAFETY: llama.cpp answers a wrong index with null (it aborts in debug builds of its own alone); otherwise the
        // row has one float a vocabulary entry and stays until the next step, which needs `&mut self`.
        unsafe {
            let row = sys::llama_get_logits_ith(self.raw.as_ptr(), i32::try_from(index).ok()?);
            (!row.is_null()).then(|| std::slice::from_raw_parts(row, self.vocabulary))
        }
    }

    /// Lets `to`, which is empty, begin with the first `length` tokens of `from`. Nothing is copied: the cells belong to
    /// both. A recurrent memory shares all of `from` whatever the length.
    pub fn share(&mut self, from: Sequence, to: Sequence, length: usize) {
        if from != to && self.exists(from) && self.exists(to) && length > 0 {
            for number in self.numbers(to) {
                // SAFETY: both sequences exist and the memory belongs to this context.
                unsafe { sys::llama_memory_seq_cp(self.raw_memory(), from.0, number, 0, length as i32) }
            }
            if let Some(heads) = &mut self.heads {
                heads.share(from, to, length);
            }
        }
    }

    /// Removes what a sequence has from a position on. False where the model cannot forget a part (a recurrent one); the
    /// sequence is then as before.
    #[must_use]
    pub fn cut(&mut self, sequence: Sequence, position: usize) -> bool {
        let is_cut = self.exists(sequence)
            && self.numbers(sequence).all(|number| {
                // SAFETY: the sequence exists and the memory belongs to this context.
                unsafe { sys::llama_memory_seq_rm(self.raw_memory(), number, position as i32, -1) }
            });
        if let Some(heads) = self.heads.as_mut().filter(|_| is_cut) {
            heads.cut(sequence, position);
        }
        is_cut
    }

    /// Removes a sequence from the cache.
    pub fn clear(&mut self, sequence: Sequence) {
        if self.exists(sequence) {
            for number in self.numbers(sequence) {
                // SAFETY: as in `cut`; removing a whole sequence never fails.
                unsafe { sys::llama_memory_seq_rm(self.raw_memory(), number, -1, -1) };
            }
            if let Some(heads) = &mut self.heads {
                heads.clear(sequence);
            }
        }
    }

    /// Returns whether a sequence has exactly `length` tokens, with all of them that the next one looks back at. After
    /// a cut or a share this is the only sign that the cells were still there: llama.cpp does both without a word where
    /// they are not.
    pub fn holds(&self, sequence: Sequence, length: usize) -> bool {
        if length == 0 {
            return true;
        }
        if !self.exists(sequence) {
            return false;
        }
        // SAFETY: the sequence exists and the memory belongs to this context.
        let (first, last) = unsafe {
            let memory = self.raw_memory();
            let first = sys::llama_memory_seq_pos_min(memory, sequence.0);
            (first, sys::llama_memory_seq_pos_max(memory, sequence.0))
        };
        let length = length as i32;
        let latest_first = match self.memory {
            CacheKind::Attention => 0,
            CacheKind::SlidingWindow(tokens) => length.saturating_sub(tokens as i32).max(0),
            // The state has one position; where it is not that of the attention's end, the first is behind the last.
            CacheKind::Recurrent => last,
        };
        last == length - 1 && (0..=latest_first).contains(&first)
    }

    /// Returns the state of a sequence's recurrent layers; none where the model has none.
    pub fn recurrent_state(&mut self, sequence: Sequence) -> Option<Vec<u8>> {
        let has_one = self.memory == CacheKind::Recurrent;
        has_one.then(|| self.bytes_of(sequence, RECURRENT_ONLY))?
    }

    /// Gives the recurrent layers of a sequence a state that [`Context::recurrent_state`] returned. False where llama.cpp
    /// refuses it.
    #[must_use]
    pub fn set_recurrent_state(&mut self, sequence: Sequence, state: &[u8]) -> bool {
        self.memory == CacheKind::Recurrent && self.set_bytes(sequence, state, RECURRENT_ONLY)
    }

    /// Returns all that the cache holds of a sequence.
    pub fn sequence(&mut self, sequence: Sequence) -> Option<Vec<u8>> {
        self.bytes_of(sequence, EVERYTHING)
    }

    /// Gives a sequence, which is empty, what [`Context::sequence`] returned. There have to be cells for it. False where
    /// llama.cpp refuses it; the sequence is then to be cleared.
    #[must_use]
    pub fn set_sequence(&mut self, sequence: Sequence, bytes: &[u8]) -> bool {
        let is_set = self.set_bytes(sequence, bytes, EVERYTHING);
        if let Some(twin) = self.twin(sequence).filter(|_| is_set) {
            // SAFETY: both sequences exist and the memory belongs to this context.
            unsafe { sys::llama_memory_seq_cp(self.raw_memory(), sequence.0, twin, 0, -1) }
        }
        is_set
    }

    fn bytes_of(&mut self, sequence: Sequence, flags: sys::llama_state_seq_flags) -> Option<Vec<u8>> {
        if !self.exists(sequence) {
            return None;
        }
        let raw = self.raw.as_ptr();
        // SAFETY: the context is alive and the sequence exists; llama.cpp writes as many bytes as the buffer has at the most.
        unsafe {
            let mut bytes = vec![0; sys::llama_state_seq_get_size_ext(raw, sequence.0, flags)];
            let size = sys::llama_state_seq_get_data_ext(raw, bytes.as_mut_ptr(), bytes.len(), sequence.0, flags);
            (size == bytes.len() && size > 0).then_some(bytes)
        }
    }

    fn set_bytes(&mut self, sequence: Sequence, bytes: &[u8], flags: sys::llama_state_seq_flags) -> bool {
        if !self.exists(sequence) {
            return false;
        }
        // SAFETY: the context is alive, the sequence exists, and the bytes are read only, as many as there are.
        let read = unsafe {
            sys::llama_state_seq_set_data_ext(self.raw.as_ptr(), bytes.as_ptr(), bytes.len(), sequence.0, flags)
        };
        read == bytes.len()
    }

    fn exists(&self, sequence: Sequence) -> bool {
        u32::try_from(sequence.0).is_ok_and(|number| number < self.shape.sequences.count())
    }

    /// Returns the sequence that keeps another's cells from being overwritten.
    fn twin(&self, sequence: Sequence) -> Option<i32> {
        let sequences = self.shape.sequences;
        match self.memory {
            CacheKind::SlidingWindow(_) if sequence.0 < sequences.kept as i32 => {
                Some(sequences.count() as i32 + sequence.0)
            }
            CacheKind::Attention | CacheKind::SlidingWindow(_) | CacheKind::Recurrent => None,
        }
    }

    /// Returns a sequence's number, and its twin's.
    fn numbers(&self, sequence: Sequence) -> impl Iterator<Item = i32> + use<> {
        std::iter::once(sequence.0).chain(self.twin(sequence))
    }

    fn raw_memory(&self) -> sys::llama_memory_t {
        // SAFETY: the context is alive.
        unsafe { sys::llama_get_memory(self.raw.as_ptr()) }
    }

    fn check(&self, step: &DecodeBatch) -> Result<(), StepError> {
        let known = |token: &Token| usize::try_from(*token).is_ok_and(|token| token < self.vocabulary);
        let malformed = if step.len() == 0 {
            "it is empty"
        } else if step.len() > self.shape.batch as usize {
            "it has more tokens than a step may have"
        } else if step.outputs() > self.shape.outputs as usize {
            "it asks for more logits than a step may have"
        } else if !step.tokens.iter().all(known) {
            "it has a token that is not in the vocabulary"
        } else if step.sequences.iter().any(Vec::is_empty)
            || step
                .sequences
                .iter()
                .flatten()
                .any(|sequence| !self.exists(Sequence(*sequence)))
        {
            "it names a sequence that does not exist"
        } else {
            return Ok(());
        };
        Err(StepError::Malformed(malformed))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by llama_init_from_model, freed once, before the model and the flag it refers to.
        unsafe { sys::llama_free(self.raw.as_ptr()) }
    }
}

/// Sends llama.cpp's warnings and errors to standard error, and keeps the errors for [`take_errors`].
pub fn install_log() {
    // SAFETY: the callback is a plain function that needs no data.
    unsafe { sys::llama_log_set(Some(log), std::ptr::null_mut()) }
}

/// Returns which llama.cpp this is: its version, and the commit it was built from.
pub fn version() -> String {
    // SAFETY: both take nothing and give a string that ends with NUL and lives as long as the process.
    let [version, commit] = unsafe { [sys::ggml_version(), sys::ggml_commit()].map(|text| CStr::from_ptr(text)) };
    format!("{} {}", version.to_string_lossy(), commit.to_string_lossy())
}

/// Returns the errors llama.cpp logged since the last call.
pub fn take_errors() -> Vec<String> {
    std::mem::take(&mut *ERRORS.lock().unwrap_or_else(PoisonError::into_inner))
}

static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// llama.cpp's `LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY`, a macro that the bindings leave out.
const RECURRENT_ONLY: sys::llama_state_seq_flags = 1;
const EVERYTHING: sys::llama_state_seq_flags = 0;

/// Returns the pointer that a model wraps, which `llama-cpp-2` keeps to itself.
fn pointer_of(model: &Arc<LlamaModel>) -> *mut sys::llama_model {
    const { assert!(size_of::<LlamaModel>() == size_of::<*mut sys::llama_model>()) }
    // SAFETY: LlamaModel is `repr(transparent)` over a `repr(transparent)` wrapper of NonNull<llama_model> in the exact
    // version that the workspace pins, so its bytes are that pointer.
    unsafe {
        std::ptr::from_ref::<LlamaModel>(model.as_ref())
            .cast::<*mut sys::llama_model>()
            .read()
    }
}

unsafe extern "C" fn is_set(flag: *mut c_void) -> bool {
    // SAFETY: the pointer is that of the AtomicBool which the context keeps alive.
    unsafe { (*flag.cast::<AtomicBool>()).load(Ordering::Relaxed) }
}

/// Returns the sizes of buffers that llama.cpp reported since the last call, in bytes.
#[cfg(test)]
pub fn take_reported_bytes(of: &str) -> u64 {
    let size = |line: &String| line.split_once(of)?.1.split_whitespace().next()?.parse::<f64>().ok();
    let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    let total: f64 = reports.iter().filter_map(size).sum();
    reports.retain(|line| !line.contains(of));
    (total * f64::from(1 << 20)) as u64
}

#[cfg(test)]
static REPORTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn log(level: sys::ggml_log_level, text: *const c_char, _data: *mut c_void) {
    #[cfg(test)]
    if !text.is_null() && level == sys::GGML_LOG_LEVEL_INFO {
        // SAFETY: as below.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        REPORTS.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
    if text.is_null() || (level != sys::GGML_LOG_LEVEL_WARN && level != sys::GGML_LOG_LEVEL_ERROR) {
        return;
    }
    // SAFETY: not null, and llama.cpp passes a string that ends with NUL and lives until the callback returns.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let text = text.trim_end();
    eprintln!("{text}");
    if level == sys::GGML_LOG_LEVEL_ERROR {
        let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
        errors.truncate(15);
        errors.push(text.to_owned());
    }
}
