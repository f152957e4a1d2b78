//! The devices that compute beside the processor: what their libraries say of them.

use llama_cpp_2::{LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use magis_llm::protocol::Device;
use std::fs;
use std::path::PathBuf;

/// A device's number in llama.cpp's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceIndex(pub usize);

/// Returns the devices beside the processor, the one to use first: the graphics card with the most free memory, before
/// those that share the processor's memory.
pub fn list() -> Vec<(DeviceIndex, Device)> {
    let mut found: Vec<_> = list_llama_ggml_backend_devices()
        .into_iter()
        .filter_map(|device| {
            let shares_memory = match device.device_type {
                LlamaBackendDeviceType::Gpu => false,
                LlamaBackendDeviceType::IntegratedGpu => true,
                LlamaBackendDeviceType::Cpu | LlamaBackendDeviceType::Accelerator | LlamaBackendDeviceType::Unknown => {
                    return None;
                }
            };
            let described = Device {
                name: device.name,
                description: device.description,
                library: device.backend,
                total: device.memory_total as u64,
                free: device.memory_free as u64,
                shares_memory,
            };
            Some((DeviceIndex(device.index), described))
        })
        .collect();
    found.sort_by_key(|(_, device)| (device.shares_memory, u64::MAX - device.free));
    found
}

/// Returns whether models may be put on devices beside the processor: a worker that loads one knows how much they hold.
pub fn may_be_used() -> bool {
    #[cfg(feature = "dynamic-backends")]
    let has_libraries = super::variants::has_devices();
    #[cfg(not(feature = "dynamic-backends"))]
    let has_libraries = cfg!(target_os = "macos");
    has_libraries
}

/// Returns the files and folders through which drivers reach graphics devices.
pub fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_driver = |name: &str| matches!(name, "dri" | "kfd") || name.starts_with("nvidia");
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_driver))
        .map(|entry| entry.path())
        .collect()
}
