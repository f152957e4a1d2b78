//! A model's own heads (multi-token prediction): a layer behind the others that tells the token after the next one, from what
//! the others made of a token and from the token that was taken behind it. It is a context of its own, whose cache has
//! the same sequences as the model's, and drafts only: what it says is checked by the model.
//!
//! llama.cpp gives what the layers made of a token by functions that are not in its C interface; they are named here as
//! its compiler names them.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

use super::kernels::OwnKernels;
use super::{ContextSize, DecodeBatch, Sequence, Token, pointer_of};
use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

unsafe extern "C" {
    #[link_name = "_Z26llama_set_embeddings_nextnP13llama_contextbb"]
    fn llama_set_embeddings_nextn(context: *mut sys::llama_context, value: bool, masked: bool);
    #[link_name = "_Z30llama_get_embeddings_nextn_ithP13llama_contexti"]
    fn llama_get_embeddings_nextn_ith(context: *mut sys::llama_context, index: i32) -> *mut f32;
}

/// Rows of a step up to which all are kept, because a part of them may be taken back; of larger ones the last is.
const KEPT: usize = 64;

/// The heads of a model, beside its context.
pub struct Heads {
    raw: NonNull<sys::llama_context>,
    width: usize,
    vocabulary: usize,
    // What the layers made of the last tokens of each sequence.
    made: HashMap<i32, Made>,
    // llama.cpp uses it through a pointer.
    _kernels: Option<OwnKernels>,
}

/// What the layers made of consecutive tokens.
#[derive(Debug, Clone, Default)]
struct Made {
    // The position behind the last of them.
    end: usize,
    rows: Vec<Vec<f32>>,
}

/// The tokens of a step for the heads: each with what the layers made of the one before it.
#[derive(Default)]
struct HeadBatch {
    tokens: Vec<Token>,
    made: Vec<f32>,
    positions: Vec<i32>,
    sequences: Vec<Vec<i32>>,
    outputs: Vec<i8>,
}

impl Heads {
    /// Creates the heads of a model that was loaded with them, for the context `target` of that shape. None where llama.cpp
    /// refuses.
    pub fn new(
        model: &Arc<LlamaModel>,
        target: NonNull<sys::llama_context>,
        shape: ContextSize,
        vocabulary: usize,
    ) -> Option<Self> {
        // SAFETY: the model is alive; both functions take nothing else.
        let (heads, width) = unsafe {
            let model = pointer_of(model);
            (
                sys::llama_model_n_layer_nextn(model),
                sys::llama_model_n_embd_out(model),
            )
        };
        if heads < 1 {
            return None;
        }
        let mut params = shape.params(shape.sequences.count());
        params.ctx_type = sys::LLAMA_CONTEXT_TYPE_MTP;
        let mut kernels = shape.kernels();
        if let Some(kernels) = &mut kernels {
            kernels.serve(&mut params);
        }
        // SAFETY: the model is alive, and outlives both contexts: the owner of the target holds it.
        let raw = NonNull::new(unsafe { sys::llama_init_from_model(pointer_of(model), params) })?;
        // SAFETY: both contexts are alive. Of the target all rows are wanted, of the heads those that are asked for.
        unsafe {
            llama_set_embeddings_nextn(target.as_ptr(), true, false);
            llama_set_embeddings_nextn(raw.as_ptr(), true, true);
        }
        Some(Self {
            raw,
            width: usize::try_from(width).ok()?,
            vocabulary,
            made: HashMap::new(),
            _kernels: kernels,
        })
    }

    /// Follows a step that the target has just computed. False where llama.cpp fails; the heads are of no use then.
    #[must_use]
    pub fn follow(&mut self, step: &DecodeBatch, target: NonNull<sys::llama_context>) -> bool {
        let mut batch = HeadBatch::default();
        let mut last: HashMap<i32, (usize, Vec<f32>)> = HashMap::new();
        for (index, (token, position, sequences)) in step.rows().enumerate() {
            let before = match last.get(&sequences[0]) {
                Some((end, made)) if *end == position => Some(made.clone()),
                Some(_) => None,
                None => self.made.get(&sequences[0]).and_then(|made| made.at(position)).cloned(),
            };
            batch.push(
                token,
                &before.unwrap_or_else(|| vec![0.0; self.width]),
                position,
                sequences,
                false,
            );
            // SAFETY: the target has just computed this step, and has a row for each of its tokens.
            let Some(made) = (unsafe { self.row(target, index) }) else {
                return false;
            };
            for sequence in sequences {
                let is_first = last.insert(*sequence, (position + 1, made.clone())).is_none();
                if is_first {
                    self.make_consecutive(*sequence, position);
                }
                let kept = self.made.entry(*sequence).or_default();
                if is_first || step.len() > KEPT {
                    kept.rows.clear();
                }
                kept.push(position, made.clone());
            }
        }
        self.decode(&mut batch)
    }

    /// Drafts `most` tokens behind `token`, which stands at a position of a sequence and was not computed yet; fewer where
    /// what lies before it is not known.
    pub fn draft(&mut self, sequence: Sequence, token: Token, position: usize, most: usize) -> Vec<Token> {
        let mut drafted = Vec::with_capacity(most);
        let known = self.made.get(&sequence.0).and_then(|made| made.at(position)).cloned();
        let Some(mut made) = known.filter(|_| self.end(sequence.0) == position) else {
            return drafted;
        };
        let mut token = token;
        for at in position..position + most {
            let mut batch = HeadBatch::default();
            batch.push(token, &made, at, &[sequence.0], true);
            if !self.decode(&mut batch) {
                break;
            }
            // SAFETY: the heads have just computed a step of one row, and its output was asked for.
            let next = unsafe {
                let logits = sys::llama_get_logits_ith(self.raw.as_ptr(), 0);
                if logits.is_null() {
                    break;
                }
                let logits = std::slice::from_raw_parts(logits, self.vocabulary);
                let best = (0..logits.len()).max_by(|one, other| logits[*one].total_cmp(&logits[*other]));
                best.zip(self.row(self.raw, 0))
            };
            let Some((best, row)) = next else { break };
            (token, made) = (best as Token, row);
            drafted.push(token);
        }
        self.remove(sequence.0, position);
        drafted
    }

    /// Lets `to`, which is empty, begin with the first `length` tokens of `from`.
    pub fn share(&mut self, from: Sequence, to: Sequence, length: usize) {
        // SAFETY: both sequences exist in the target and therefore here, and the memory belongs to this context.
        unsafe { sys::llama_memory_seq_cp(self.memory(), from.0, to.0, 0, length as i32) }
        match self.made.get(&from.0).cloned() {
            Some(mut made) => {
                made.cut(length);
                self.made.insert(to.0, made);
            }
            None => _ = self.made.remove(&to.0),
        }
    }

    /// Removes what a sequence has from a position on.
    pub fn cut(&mut self, sequence: Sequence, position: usize) {
        self.remove(sequence.0, position);
        if let Some(made) = self.made.get_mut(&sequence.0) {
            made.cut(position);
        }
    }

    /// Removes a sequence, and what was made of its last tokens.
    pub fn clear(&mut self, sequence: Sequence) {
        self.remove(sequence.0, 0);
        self.made.remove(&sequence.0);
    }

    /// Sets the threads of the next steps.
    pub fn use_threads(&mut self, single: i32, rows: i32) {
        // SAFETY: the context is alive.
        unsafe { sys::llama_set_n_threads(self.raw.as_ptr(), single, rows) }
    }

    /// Makes sure that a sequence ends before a position, or is empty: a part of it may have been computed without the heads.
    fn make_consecutive(&mut self, sequence: i32, position: usize) {
        self.remove(sequence, position);
        if self.end(sequence) != position {
            self.remove(sequence, 0);
        }
    }

    /// Returns the position behind the last token of a sequence.
    fn end(&self, sequence: i32) -> usize {
        // SAFETY: the sequence exists and the memory belongs to this context.
        let last = unsafe { sys::llama_memory_seq_pos_max(self.memory(), sequence) };
        usize::try_from(last + 1).unwrap_or(0)
    }

    fn remove(&mut self, sequence: i32, from: usize) {
        // SAFETY: as in `end`; the heads have attention alone, of which any part can be removed.
        unsafe { sys::llama_memory_seq_rm(self.memory(), sequence, from as i32, -1) };
    }

    fn memory(&self) -> sys::llama_memory_t {
        // SAFETY: the context is alive.
        unsafe { sys::llama_get_memory(self.raw.as_ptr()) }
    }

    /// Returns what the layers of a context made of a token of its last step.
    ///
    /// # Safety
    /// The context is alive, has computed a step, and has such a row for the token of that index.
    unsafe fn row(&self, context: NonNull<sys::llama_context>, index: usize) -> Option<Vec<f32>> {
        // SAFETY: as the caller states; llama.cpp answers a wrong index with null.
        unsafe {
            let row = llama_get_embeddings_nextn_ith(context.as_ptr(), index as i32);
            (!row.is_null()).then(|| std::slice::from_raw_parts(row, self.width).to_vec())
        }
    }

    fn decode(&mut self, batch: &mut HeadBatch) -> bool {
        let mut counts: Vec<i32> = batch.sequences.iter().map(|all| all.len() as i32).collect();
        let mut lists: Vec<*mut i32> = batch.sequences.iter_mut().map(Vec::as_mut_ptr).collect();
        let raw = sys::llama_batch {
            n_tokens: batch.tokens.len() as i32,
            token: batch.tokens.as_mut_ptr(),
            embd: batch.made.as_mut_ptr(),
            pos: batch.positions.as_mut_ptr(),
            n_seq_id: counts.as_mut_ptr(),
            seq_id: lists.as_mut_ptr(),
            logits: batch.outputs.as_mut_ptr(),
        };
        // SAFETY: all arrays have an element, or a row of the model's width, for each token, and live until the call
        // returns, which copies them. Tokens and sequences are those of a step that the target has checked, or of one token.
        unsafe { sys::llama_decode(self.raw.as_ptr(), raw) == 0 }
    }
}

impl Drop for Heads {
    fn drop(&mut self) {
        // SAFETY: made by llama_init_from_model, freed once, before the model that it refers to.
        unsafe { sys::llama_free(self.raw.as_ptr()) }
    }
}

impl Made {
    /// Returns what was made of the token before a position.
    fn at(&self, position: usize) -> Option<&Vec<f32>> {
        let back = self.end.checked_sub(position)?;
        self.rows.len().checked_sub(back + 1).map(|at| &self.rows[at])
    }

    fn push(&mut self, position: usize, row: Vec<f32>) {
        if self.end != position {
            self.rows.clear();
        }
        self.rows.push(row);
        self.end = position + 1;
    }

    fn cut(&mut self, position: usize) {
        let behind = self.end.saturating_sub(position);
        self.rows.truncate(self.rows.len().saturating_sub(behind));
        self.end = self.end.min(position);
    }
}

impl HeadBatch {
    fn push(&mut self, token: Token, made: &[f32], position: usize, sequences: &[i32], output: bool) {
        self.tokens.push(token);
        self.made.extend_from_slice(made);
        self.positions.push(position as i32);
        self.sequences.push(sequences.to_vec());
        self.outputs.push(output.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, Output, install_log};
    use super::*;
    use crate::engine::Engine;
    use magis_llm::protocol::Load;
    use magis_testkit::TinyModel;
    use magis_testkit::gguf::Gguf;

    /// A model in which each token names the next one, and whose heads know that.
    fn exact() -> Gguf {
        let mut model = TinyModel::Qwen35Heads.gguf();
        for tensor in &mut model.tensors {
            let width = tensor.shape[0] as usize;
            let name = tensor.name.split_once("blk.").map_or("", |(_, name)| name);
            let (_, name) = name.split_once('.').unwrap_or_default();
            for (at, value) in tensor.values.iter_mut().enumerate() {
                match name {
                    // Nothing is added to what stands for the token itself.
                    "attn_output.weight" | "ffn_down.weight" | "ssm_out.weight" => *value = 0.0,
                    // The first half of what is read is the token.
                    "nextn.eh_proj.weight" => *value = f32::from(u8::from(at % width == at / width)),
                    "nextn.enorm.weight" => *value = 1.0,
                    _ => {}
                }
            }
        }
        let norm = |name: &str| model.tensors.iter().position(|tensor| tensor.name == name).unwrap();
        let (last, of_heads) = (norm("output_norm.weight"), norm("blk.4.nextn.shared_head_norm.weight"));
        model.tensors[of_heads].values = model.tensors[last].values.clone();
        model
    }

    fn compute(context: &mut Context, sequence: Sequence, tokens: &[Token], from: usize) -> Token {
        let mut step = DecodeBatch::default();
        for (at, token) in tokens.iter().enumerate() {
            let output = if at + 1 == tokens.len() {
                Output::Logits
            } else {
                Output::Nothing
            };
            step.push(*token, from + at, &[sequence], output);
        }
        context.compute(&mut step).unwrap();
        let logits = context.logits(tokens.len() - 1).unwrap();
        let best = (0..logits.len()).max_by(|one, other| logits[*one].total_cmp(&logits[*other]));
        best.unwrap() as Token
    }

    /// What the model writes behind tokens that are computed already, of which `next` is the first.
    fn written(context: &mut Context, sequence: Sequence, next: Token, from: usize, count: usize) -> Vec<Token> {
        let mut written = vec![next];
        for at in 0..count {
            let next = compute(context, sequence, &written[at..], from + at);
            written.push(next);
        }
        written
    }

    #[test]
    fn heads_draft_what_the_model_writes_whatever_its_sequences_share_or_forget() {
        install_log();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exact.gguf");
        std::fs::write(&path, exact().bytes()).unwrap();
        let load = Load {
            path,
            context: Some(512),
            threads: Some(1),
            ..Load::default()
        };
        let mut engine = Engine::load(&load, Arc::default()).unwrap();
        let context = &mut *engine.context_for_tests();
        assert!(context.has_heads());
        let [one, other] = [Sequence(0), Sequence(1)];
        let prompt: Vec<Token> = (10..40).collect();
        let next = compute(context, one, &prompt, 0);
        context.share(one, other, prompt.len());
        let drafted = context.draft(one, next, prompt.len(), 4);
        let expected = written(context, one, next, prompt.len(), 4);
        assert_eq!(drafted, expected[1..]);
        // Another sequence goes on from what both share.
        assert_eq!(context.draft(other, next, prompt.len(), 2), expected[1..3]);
        // Behind what was written, too.
        let end = prompt.len() + 4;
        let drafted = context.draft(one, expected[4], end, 3);
        assert_eq!(drafted, written(context, one, expected[4], end, 3)[1..]);
        // What is not known drafts nothing.
        context.clear(one);
        assert_eq!(context.draft(one, 5, 0, 3), [0; 0]);
    }

    #[test]
    fn what_was_made_of_the_last_tokens_is_known_by_their_positions() {
        let mut made = Made::default();
        for position in 36..100 {
            made.push(position, vec![position as f32]);
        }
        assert_eq!(made.at(100), Some(&vec![99.0]));
        assert_eq!(made.at(37), Some(&vec![36.0]));
        assert_eq!(made.at(36), None);
        assert_eq!(made.at(101), None);
        made.cut(90);
        assert_eq!(made.at(90), Some(&vec![89.0]));
        assert_eq!(made.at(91), None);
        made.push(95, vec![95.0]);
        assert_eq!(
            (made.at(96), made.at(90)),
            (Some(&vec![95.0]), None),
            "what lies between is not known"
        );
    }
}
