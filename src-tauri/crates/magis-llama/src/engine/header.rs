//! What a loaded model's file says that llama.cpp's model does not tell: lists in its metadata.
//!
//! What the values mean for the memory is said in `magis_llm::memory`.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;
use magis_llm::memory::{ContextMemory, Metadata};
use std::cell::OnceCell;
use std::ffi::CString;
use std::path::Path;
use std::ptr::NonNull;

/// Returns what a context of a model takes.
pub fn context_memory(model: &LlamaModel, path: &Path) -> ContextMemory {
    let architecture = model.meta_val_str("general.architecture").unwrap_or_default();
    let metadata = OfModel {
        model,
        path,
        file: OnceCell::new(),
    };
    ContextMemory::of(&architecture, &metadata)
}

/// Single values come from the model; the file is opened again for the first list that is asked for.
struct OfModel<'a> {
    model: &'a LlamaModel,
    path: &'a Path,
    file: OnceCell<Option<File>>,
}

impl Metadata for OfModel<'_> {
    fn number(&self, key: &str) -> Option<u64> {
        match self.model.meta_val_str(key).ok()?.as_str() {
            "true" => Some(1),
            "false" => Some(0),
            text => text.parse().ok(),
        }
    }

    fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        self.file.get_or_init(|| File::open(self.path)).as_ref()?.numbers(key)
    }
}

/// The metadata of a GGUF file.
struct File(NonNull<sys::gguf_context>);

impl File {
    fn open(path: &Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        let params = sys::gguf_init_params {
            no_alloc: true,
            ctx: std::ptr::null_mut(),
        };
        // SAFETY: the path ends with NUL and lives until the call returns; without a place for a context none is made.
        // llama.cpp has just loaded a model from this file, so its header is one that it can read.
        NonNull::new(unsafe { sys::gguf_init_from_file(path.as_ptr(), params) }).map(Self)
    }

    fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        let key = CString::new(key).ok()?;
        let file = self.0.as_ptr();
        // SAFETY: the file is open; a getter is called only for a key that is there and of the type it wants, and the
        // list has `count` elements of the type that it states.
        unsafe {
            let id = sys::gguf_find_key(file, key.as_ptr());
            if id < 0 || sys::gguf_get_kv_type(file, id) != sys::GGUF_TYPE_ARRAY {
                return None;
            }
            let kind = sys::gguf_get_arr_type(file, id);
            if kind == sys::GGUF_TYPE_STRING || kind == sys::GGUF_TYPE_ARRAY {
                return None;
            }
            let count = sys::gguf_get_arr_n(file, id);
            let data = sys::gguf_get_arr_data(file, id);
            let read = |at: usize| -> Option<u64> {
                match kind {
                    sys::GGUF_TYPE_BOOL | sys::GGUF_TYPE_UINT8 => Some(data.cast::<u8>().add(at).read().into()),
                    sys::GGUF_TYPE_UINT32 => Some(data.cast::<u32>().add(at).read_unaligned().into()),
                    sys::GGUF_TYPE_INT32 => u64::try_from(data.cast::<i32>().add(at).read_unaligned()).ok(),
                    sys::GGUF_TYPE_UINT64 => Some(data.cast::<u64>().add(at).read_unaligned()),
                    _ => None,
                }
            };
            Some((0..count).map(|at| read(at).unwrap_or(0)).collect())
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: made by gguf_init_from_file and freed once.
        unsafe { sys::gguf_free(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, native};
    use magis_llm::memory::Sequences;
    use magis_llm::protocol::Load;
    use magis_testkit::TinyModel;
    use std::sync::Arc;

    #[test]
    fn what_is_predicted_is_what_llama_cpp_reserves() {
        let folder = tempfile::tempdir().unwrap();
        for model in TinyModel::ALL {
            let path = folder.path().join(model.architecture());
            std::fs::write(&path, model.gguf().bytes()).unwrap();
            let load = Load {
                path,
                context: Some(4096),
                threads: Some(1),
                batch: None,
            };
            let engine = Engine::load(&load, Arc::default()).unwrap();
            let reserved = ["KV buffer size = ", "RS buffer size = "].map(native::take_reported_bytes);
            let predicted = engine.loaded().cache_bytes;
            let (token, sequence) = model.context_memory();
            let states = sequence * u64::from(Sequences::RECURRENT.count());
            assert_eq!(predicted, 4096 * token + states, "{model:?}");
            for (part, reserved) in [(4096 * token, reserved[0]), (states, reserved[1])] {
                // Reported are hundredths of a MiB.
                let allowed = reserved / 10 + (1 << 20) / 200;
                assert!(
                    part.abs_diff(reserved) <= allowed,
                    "{model:?}: {part} bytes predicted, {reserved} reserved"
                );
            }
        }
    }
}
