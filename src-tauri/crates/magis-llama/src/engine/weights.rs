//! Loading weights through llama.cpp's C interface, with what `llama-cpp-2` hides: whether they are copied into another
//! order, and on which devices they lie.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

use super::devices::DeviceIndex;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;
use magis_llm::placement::{Loading, Placement};
use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Loads the weights of a file where a placement puts them. While `abort` is set, loading ends. None where llama.cpp
/// refuses; its log says why.
///
/// llama.cpp counts layers on a device from the end of the file, where `ahead` layers stand that are the model's own heads.
pub fn load(
    path: &Path,
    placement: &Placement,
    ahead: u32,
    device: Option<DeviceIndex>,
    abort: &AtomicBool,
) -> Option<LlamaModel> {
    let path = CString::new(path.to_str()?).ok()?;
    let experts = CString::new(experts_of_first(placement.host_experts)).ok()?;
    // SAFETY: takes nothing and gives a pointer to a buffer type that lives as long as the process.
    let main_memory = unsafe { sys::ggml_backend_cpu_buffer_type() };
    let overridden = |pattern, buft| sys::llama_model_tensor_buft_override { pattern, buft };
    let end = overridden(std::ptr::null(), std::ptr::null_mut());
    let overrides = [overridden(experts.as_ptr(), main_memory), end];
    let mut devices = [std::ptr::null_mut(); 2];
    if let Some(device) = device.filter(|_| placement.gpu_layers > 0) {
        // SAFETY: the number is one of a device that was listed, and devices stay.
        devices[0] = unsafe { sys::ggml_backend_dev_get(device.0) };
    }
    // SAFETY: takes nothing and gives a plain value.
    let mut params = unsafe { sys::llama_model_default_params() };
    params.devices = devices.as_mut_ptr();
    if placement.gpu_layers > 0 {
        params.n_gpu_layers = i32::try_from(placement.gpu_layers + ahead).unwrap_or(i32::MAX);
    } else {
        params.n_gpu_layers = 0;
    }
    if placement.host_experts > 0 {
        params.tensor_buft_overrides = overrides.as_ptr();
    }
    (params.load_mode, params.use_extra_bufts) = match placement.loading {
        Loading::Mapped => (sys::LLAMA_LOAD_MODE_MMAP, false),
        Loading::Read => (sys::LLAMA_LOAD_MODE_NONE, true),
    };
    params.load_mtp = placement.heads;
    params.progress_callback = Some(goes_on);
    params.progress_callback_user_data = std::ptr::from_ref(abort).cast_mut().cast::<c_void>();
    // SAFETY: the path, the lists of devices and overrides with their ends, and the flag live until the call returns;
    // llama.cpp copies what it keeps.
    let raw = unsafe { sys::llama_model_load_from_file(path.as_ptr(), params) };
    const { assert!(size_of::<LlamaModel>() == size_of::<NonNull<sys::llama_model>>()) }
    // SAFETY: LlamaModel is `repr(transparent)` over a `repr(transparent)` wrapper of NonNull<llama_model> in the exact
    // version that the workspace pins; it frees the model, which nobody else does.
    NonNull::new(raw).map(|raw| unsafe { std::mem::transmute::<NonNull<sys::llama_model>, LlamaModel>(raw) })
}

/// Returns the pattern of the tensors that are experts of the first layers.
fn experts_of_first(layers: u32) -> String {
    let numbers: Vec<String> = (0..layers).map(|layer| layer.to_string()).collect();
    format!("blk\\.({})\\.ffn_(up|down|gate_up|gate)_(ch|)exps", numbers.join("|"))
}

unsafe extern "C" fn goes_on(_: f32, abort: *mut c_void) -> bool {
    // SAFETY: the pointer is that of the flag that the caller of `load` holds.
    unsafe { !(*abort.cast::<AtomicBool>()).load(Ordering::Relaxed) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn experts_are_named_by_their_layers() {
        assert_eq!(
            super::experts_of_first(3),
            r"blk\.(0|1|2)\.ffn_(up|down|gate_up|gate)_(ch|)exps"
        );
    }
}
