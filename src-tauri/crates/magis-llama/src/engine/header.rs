//! What the header of a model file says before anything of it is loaded: its architecture, and the sizes from which the
//! need of memory follows.
//!
//! What the values mean for the memory is said in `magis_llm::memory` and `magis_llm::size`.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

use llama_cpp_sys_2 as sys;
use magis_core::harmless_name;
use magis_llm::memory::Metadata;
use magis_llm::size::{ModelSize, TensorSize};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::NonNull;

/// The header of a GGUF file.
pub struct Header(NonNull<sys::gguf_context>);

/// More layers or experts than llama.cpp takes: it ends its process where a file states more.
const MOST_LAYERS: u64 = 512;
const MOST_EXPERTS: u64 = 1024;

impl Header {
    /// Reads the header of a file. None where llama.cpp cannot read it; its log says why.
    pub fn read(path: &Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        let params = sys::gguf_init_params {
            no_alloc: true,
            ctx: std::ptr::null_mut(),
        };
        // SAFETY: the path ends with NUL and lives until the call returns; without a place for a context none is made.
        NonNull::new(unsafe { sys::gguf_init_from_file(path.as_ptr(), params) }).map(Self)
    }

    /// Returns the name of the architecture.
    ///
    /// # Errors
    /// When there is none, or values that llama.cpp would end its process for.
    pub fn architecture(&self) -> Result<String, String> {
        let named = self.text(c"general.architecture");
        let architecture = named.ok_or("its header names no architecture; download it again")?;
        let number = |key: &str| {
            let key = format!("{architecture}.{key}");
            let of_layers = self.numbers(&key).unwrap_or_default();
            of_layers.into_iter().max().or(self.number(&key)).unwrap_or(0)
        };
        // Where layers are not stated at all, llama.cpp says so itself, or that it does not know the architecture.
        let layers = self.number(&format!("{architecture}.block_count")).unwrap_or(1);
        let ahead = number("nextn_predict_layers");
        let (experts, used) = (number("expert_count"), number("expert_used_count"));
        let (groups, groups_used) = (number("expert_group_count"), number("expert_group_used_count"));
        let stated = |what: &str| {
            Err(format!(
                "its header states {what}, which no model has; download it again"
            ))
        };
        if layers == 0 || layers > MOST_LAYERS || ahead > layers {
            return stated(&format!("{layers} layers, {ahead} of them ahead"));
        }
        if experts > MOST_EXPERTS || used > experts || (experts > 0 && used == 0) {
            return stated(&format!("{experts} experts, {used} of them used"));
        }
        let divided = groups == 0 || (groups < experts && experts.is_multiple_of(groups));
        if !divided || (experts > 0 && groups > 0 && (groups_used == 0 || groups_used >= groups)) {
            return stated(&format!("{groups} groups of experts, {groups_used} of them used"));
        }
        Ok(architecture)
    }

    /// Returns the sizes of the model.
    pub fn size(&self, architecture: &str) -> ModelSize {
        let file = self.0.as_ptr();
        // SAFETY: the file is open.
        let count = unsafe { sys::gguf_get_n_tensors(file) };
        let tensors = (0..count).filter_map(|id| {
            // SAFETY: the file is open and has `count` tensors; a name ends with NUL and lives as long as the file.
            unsafe {
                Some(TensorSize {
                    name: CStr::from_ptr(sys::gguf_get_tensor_name(file, id)).to_str().ok()?,
                    bytes: sys::gguf_get_tensor_size(file, id) as u64,
                    storage: sys::gguf_get_tensor_type(file, id),
                })
            }
        });
        let vocabulary = self.list(c"tokenizer.ggml.tokens").map_or(0, |(_, _, count)| count);
        ModelSize::of(
            architecture,
            self,
            u32::try_from(vocabulary).unwrap_or(u32::MAX),
            tensors,
        )
    }

    fn text(&self, key: &CStr) -> Option<String> {
        let id = self.find(key, sys::GGUF_TYPE_STRING)?;
        // SAFETY: the file is open and the key's value is a text, which ends with NUL and lives as long as the file.
        let text = unsafe { CStr::from_ptr(sys::gguf_get_val_str(self.0.as_ptr(), id)) };
        Some(harmless_name(&text.to_string_lossy()))
    }

    /// Returns the number of a key's value, if it has that type.
    fn find(&self, key: &CStr, kind: sys::gguf_type) -> Option<i64> {
        let file = self.0.as_ptr();
        // SAFETY: the file is open and the key ends with NUL; a type is asked for a key that is there.
        unsafe {
            let id = sys::gguf_find_key(file, key.as_ptr());
            (id >= 0 && sys::gguf_get_kv_type(file, id) == kind).then_some(id)
        }
    }

    /// Returns the number of a list, the type of its elements, and how many it has.
    fn list(&self, key: &CStr) -> Option<(i64, sys::gguf_type, usize)> {
        let id = self.find(key, sys::GGUF_TYPE_ARRAY)?;
        let file = self.0.as_ptr();
        // SAFETY: the file is open and the key's value is a list.
        Some(unsafe { (id, sys::gguf_get_arr_type(file, id), sys::gguf_get_arr_n(file, id)) })
    }
}

impl Metadata for Header {
    fn number(&self, key: &str) -> Option<u64> {
        let key = CString::new(key).ok()?;
        let file = self.0.as_ptr();
        // SAFETY: the file is open; a getter is called only for a key that is there and of the type that it wants.
        unsafe {
            let id = sys::gguf_find_key(file, key.as_ptr());
            if id < 0 {
                return None;
            }
            match sys::gguf_get_kv_type(file, id) {
                sys::GGUF_TYPE_BOOL => Some(sys::gguf_get_val_bool(file, id).into()),
                sys::GGUF_TYPE_UINT8 => Some(sys::gguf_get_val_u8(file, id).into()),
                sys::GGUF_TYPE_UINT16 => Some(sys::gguf_get_val_u16(file, id).into()),
                sys::GGUF_TYPE_UINT32 => Some(sys::gguf_get_val_u32(file, id).into()),
                sys::GGUF_TYPE_UINT64 => Some(sys::gguf_get_val_u64(file, id)),
                sys::GGUF_TYPE_INT8 => sys::gguf_get_val_i8(file, id).try_into().ok(),
                sys::GGUF_TYPE_INT16 => sys::gguf_get_val_i16(file, id).try_into().ok(),
                sys::GGUF_TYPE_INT32 => sys::gguf_get_val_i32(file, id).try_into().ok(),
                sys::GGUF_TYPE_INT64 => sys::gguf_get_val_i64(file, id).try_into().ok(),
                _ => None,
            }
        }
    }

    fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        let (id, kind, count) = self.list(&CString::new(key).ok()?)?;
        if kind == sys::GGUF_TYPE_STRING || kind == sys::GGUF_TYPE_ARRAY {
            return None;
        }
        // SAFETY: the file is open, the value is a list of numbers, and it has `count` elements of the type it states.
        unsafe {
            let data = sys::gguf_get_arr_data(self.0.as_ptr(), id);
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

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: made by gguf_init_from_file and freed once.
        unsafe { sys::gguf_free(self.0.as_ptr()) }
    }
}
