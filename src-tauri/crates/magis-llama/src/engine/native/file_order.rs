//! Weights in two orders: a copy in that of the repacked kernels, which write answers faster, and the file's own, whose tiled
//! kernel reads prompts faster. llama.cpp loads the copy; the file is mapped here.
//!
//! ggml chooses the kernel of a matrix product when it computes it, by the buffer in which the weights lie. So for a step of
//! many rows the tensors of the copy are told, until its end, that they lie in the mapped file. Which tensors these are is
//! seen in the graphs of the first steps.

use super::super::header::TensorPlaces;
use llama_cpp_sys_2 as sys;
use memmap2::Mmap;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Rows of a step from which on the tiled kernel is faster: all steps that prompts are computed in.
pub const MANY_ROWS: usize = 64;
/// ggml's name of the buffers that hold copies in another order.
const REPACKED: &CStr = c"CPU_REPACK";

/// The weights of a model as they lie in its file.
pub struct FileOrder {
    watch: Box<Mutex<Watch>>,
    tensors: Vec<Tensor>,
    places: TensorPlaces,
    // Freed before what it lies over.
    buffer: FileBuffer,
    map: Mmap,
}

/// What was seen of the graphs.
#[derive(Default)]
struct Watch {
    /// Tensors whose weights were copied in another order.
    repacked: BTreeSet<NonNull<sys::ggml_tensor>>,
    /// Whether some of them are used in another way than as the weights of a matrix product.
    is_used_otherwise: bool,
    is_over: bool,
}

/// A tensor of the loaded model, and where its weights lie that it is not told of at the moment.
struct Tensor {
    tensor: NonNull<sys::ggml_tensor>,
    other: Place,
}

/// Where ggml finds the weights of a tensor, and by that with which kernel it multiplies.
struct Place {
    data: *mut c_void,
    buffer: *mut sys::ggml_backend_buffer,
    extra: *mut c_void,
}

/// ggml's view of the mapped file.
struct FileBuffer(NonNull<sys::ggml_backend_buffer>);

impl FileOrder {
    /// Maps a model file. None where that cannot be done: without it all works, only prompts take longer.
    pub fn open(path: &Path, places: &TensorPlaces) -> Option<Self> {
        let file = File::open(path).ok()?;
        // SAFETY: as with every mapped model the file is not to change while it is used; llama.cpp maps it in the same way.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        // Said once, so that the first prompt does not wait for page after page; a system that cannot works as well.
        #[cfg(unix)]
        map.advise(memmap2::Advice::WillNeed).ok();
        // SAFETY: the mapped bytes live until the buffer is freed, and nothing writes into a buffer of weights.
        let buffer = unsafe { sys::ggml_backend_cpu_buffer_from_ptr(map.as_ptr().cast_mut().cast(), map.len()) };
        let buffer = FileBuffer(NonNull::new(buffer)?);
        // SAFETY: the buffer was just made.
        unsafe { sys::ggml_backend_buffer_set_usage(buffer.0.as_ptr(), sys::GGML_BACKEND_BUFFER_USAGE_WEIGHTS) }
        Some(Self {
            watch: Box::default(),
            tensors: Vec::new(),
            places: places.clone(),
            buffer,
            map,
        })
    }

    /// Lets a context that is made with these parameters show its graphs.
    pub fn watch(&self, params: &mut sys::llama_context_params) {
        params.cb_eval = Some(see);
        params.cb_eval_user_data = std::ptr::from_ref::<Mutex<Watch>>(&self.watch).cast_mut().cast();
    }

    /// Takes note of the tensors that a step has used; `has_outputs` says that its graph was whole.
    pub fn after_step(&mut self, has_outputs: bool) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.is_over {
            return;
        }
        watch.is_over = has_outputs || watch.is_used_otherwise;
        let repacked = std::mem::take(&mut watch.repacked);
        if watch.is_used_otherwise {
            self.tensors.clear();
            return;
        }
        drop(watch);
        for tensor in repacked {
            let is_new = self.tensors.iter().all(|known| known.tensor != tensor);
            if let Some(other) = self.place(tensor).filter(|_| is_new) {
                self.tensors.push(Tensor { tensor, other });
            }
        }
    }

    /// Tells each tensor of its other place.
    pub fn exchange(&mut self) {
        for Tensor { tensor, other } in &mut self.tensors {
            // SAFETY: the tensors belong to the model, which outlives this; nothing computes with them at the moment.
            let tensor = unsafe { tensor.as_mut() };
            std::mem::swap(&mut tensor.data, &mut other.data);
            std::mem::swap(&mut tensor.buffer, &mut other.buffer);
            std::mem::swap(&mut tensor.extra, &mut other.extra);
        }
    }

    /// Returns where the weights of a tensor lie in the file; none where that is not sure.
    fn place(&self, tensor: NonNull<sys::ggml_tensor>) -> Option<Place> {
        // SAFETY: the tensor belongs to the model, which outlives this, and its name ends with NUL.
        let (name, bytes) = unsafe {
            let name = CStr::from_ptr(tensor.as_ref().name.as_ptr());
            (name, sys::ggml_nbytes(tensor.as_ptr()))
        };
        let place = self.places.get(name).filter(|place| place.len() == bytes)?;
        let weights = self.map.get(place.clone())?;
        Some(Place {
            data: weights.as_ptr().cast_mut().cast(),
            buffer: self.buffer.0.as_ptr(),
            extra: std::ptr::null_mut(),
        })
    }
}

impl Watch {
    /// Looks at what a node of a graph is computed from.
    fn see(&mut self, node: &sys::ggml_tensor) {
        for (number, source) in node.src.iter().enumerate() {
            let Some(source) = NonNull::new(*source) else { continue };
            // SAFETY: the sources of a node live as long as its graph.
            let weights = unsafe { source.as_ref() };
            if is_repacked(weights) {
                let is_product = node.op == sys::GGML_OP_MUL_MAT || node.op == sys::GGML_OP_MUL_MAT_ID;
                if is_product && number == 0 && weights.view_src.is_null() {
                    self.repacked.insert(source);
                } else {
                    self.is_used_otherwise = true;
                }
            }
        }
    }
}

impl Drop for FileBuffer {
    fn drop(&mut self) {
        // SAFETY: made by ggml_backend_cpu_buffer_from_ptr and freed once, before the bytes that it lies over.
        unsafe { sys::ggml_backend_buffer_free(self.0.as_ptr()) }
    }
}

fn is_repacked(tensor: &sys::ggml_tensor) -> bool {
    // SAFETY: a buffer that a tensor names is alive, it has a type, and that a name which ends with NUL.
    !tensor.buffer.is_null()
        && unsafe {
            let of_buffer = sys::ggml_backend_buffer_get_type(tensor.buffer);
            CStr::from_ptr(sys::ggml_backend_buft_name(of_buffer)) == REPACKED
        }
}

/// Told of each node before a graph is computed; says that none of them is asked for.
unsafe extern "C" fn see(node: *mut sys::ggml_tensor, _: bool, watch: *mut c_void) -> bool {
    // SAFETY: the pointer is that of the watch, which outlives the context, and the node is one of the graph.
    let (watch, node) = unsafe { (&*watch.cast::<Mutex<Watch>>(), node.as_ref()) };
    let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(node) = node.filter(|_| !watch.is_over) {
        watch.see(node);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::native::{Context, DecodeBatch, Output, Sequence, install_log};
    use magis_llm::placement::Loading;
    use magis_llm::protocol::Load;
    use magis_testkit::TinyModel;

    /// The logits behind so many tokens, computed in an empty sequence.
    fn logits(context: &mut Context, sequence: Sequence, tokens: i32) -> Vec<f32> {
        context.clear(sequence);
        let mut step = DecodeBatch::default();
        for token in 0..tokens {
            let output = if token + 1 == tokens {
                Output::Logits
            } else {
                Output::Nothing
            };
            step.push(10 + token, token as usize, &[sequence], output);
        }
        context.compute(&mut step).unwrap();
        context.logits(tokens as usize - 1).unwrap().to_vec()
    }

    fn farthest(one: &[f32], other: &[f32]) -> f32 {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn steps_of_many_rows_are_computed_with_the_weights_in_the_file() {
        install_log();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tiny.gguf");
        let model = TinyModel::Qwen2.gguf().in_4_bits();
        std::fs::write(&path, model.bytes()).unwrap();
        let load = Load {
            path: path.clone(),
            context: Some(512),
            threads: Some(1),
            loading: Some(Loading::Both),
            ..Load::default()
        };
        let mut engine = Engine::load(&load, std::sync::Arc::default()).unwrap();
        let context = &mut *engine.context_for_tests();
        let few = logits(context, Sequence(0), 20);
        let first = logits(context, Sequence(1), 100);
        let tensors = context.file_order.as_ref().unwrap().tensors.len();
        assert_eq!(tensors, 14, "seven matrices of each layer");
        assert!(farthest(&first, &logits(context, Sequence(2), 100)) < 0.05);
        // From here on the file has other weights than the copy.
        let mut others = model;
        for tensor in &mut others.tensors {
            tensor.values.reverse();
        }
        std::fs::write(&path, others.bytes()).unwrap();
        assert!(farthest(&first, &logits(context, Sequence(3), 100)) > 0.5);
        assert_eq!(logits(context, Sequence(4), 20), few);
    }

    #[test]
    fn a_file_that_is_gone_is_not_mapped() {
        assert!(FileOrder::open(Path::new("no such file"), &TensorPlaces::default()).is_none());
    }
}
