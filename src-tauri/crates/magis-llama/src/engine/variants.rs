//! The libraries of llama.cpp that lie beside a program that is handed on: its variants for each kind of CPU, of which
//! llama.cpp itself takes the best, and in a folder of their own those that compute on other devices.
//!
//! A build for one machine has its only variant inside and does without this.
#![expect(unsafe_code, reason = "llama.cpp is a C library; each block states its invariant")]

use super::native;
use llama_cpp_2::list_llama_ggml_backend_devices;
use llama_cpp_2::llama_backend::load_backends_from_path;
use llama_cpp_sys_2 as sys;
use magis_llm::protocol::UnusedLibrary;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns where they lie.
pub fn folder() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.join("../lib/magis"))
}

/// Loads the best variant for this processor, from where the program has its other libraries too.
pub fn load() -> Result<(), String> {
    let folder = folder().ok_or_else(|| "this program cannot find its own file".to_owned())?;
    // The binding ends the process for a path that it cannot hand on.
    if folder.to_str().is_none_or(|path| path.contains('\0')) {
        return Err(format!(
            "the engine cannot load libraries from {}: the path is not UTF-8",
            folder.display()
        ));
    }
    load_backends_from_path(&folder);
    if list_llama_ggml_backend_devices().is_empty() {
        return Err(format!(
            "none of the engine's libraries in {} can be loaded on this processor; install the package again",
            folder.display()
        ));
    }
    Ok(())
}

/// Returns whether there are libraries of other devices. Whether this machine has such a device is known when they are loaded.
pub fn has_devices() -> bool {
    let folder = folder().map(|folder| folder.join("devices"));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    entries
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| is_library(&entry.path()))
}

/// Loads the libraries of other devices, each that can be; returns the others, with what llama.cpp says of them.
///
/// They are tried one by one, because a release of llama.cpp that looks for them itself is silent about those that fail.
pub fn load_devices() -> Vec<UnusedLibrary> {
    let Some(folder) = folder() else { return Vec::new() };
    load_devices_of(&folder.join("devices"))
}

fn load_devices_of(folder: &Path) -> Vec<UnusedLibrary> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| is_library(path))
        .collect();
    files.sort();
    files.iter().filter_map(|file| load_device(file).err()).collect()
}

fn is_library(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(&format!("{DLL_PREFIX}ggml-")) && name.ends_with(DLL_SUFFIX))
}

fn load_device(file: &Path) -> Result<(), UnusedLibrary> {
    let unused = |reason: String| UnusedLibrary {
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        reason,
    };
    let path = file.to_str().and_then(|path| CString::new(path).ok());
    let path = path.ok_or_else(|| unused("its path is not UTF-8".to_owned()))?;
    native::take_errors();
    // SAFETY: the path ends with NUL and lives until the call returns. The library is one of this program's own.
    let loaded = unsafe { sys::ggml_backend_load(path.as_ptr()) };
    if !loaded.is_null() {
        return Ok(());
    }
    let said = native::take_errors().join("; ");
    Err(unused(if said.is_empty() {
        "it is not supported on this system".to_owned()
    } else {
        said
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_cannot_be_loaded_says_why() {
        native::install_log();
        let folder = tempfile::tempdir().unwrap();
        let name = format!("{DLL_PREFIX}ggml-vulkan{DLL_SUFFIX}");
        fs::write(folder.path().join(&name), b"no library").unwrap();
        fs::write(folder.path().join("readme.txt"), b"").unwrap();
        let unused = load_devices_of(folder.path());
        assert_eq!(unused.len(), 1, "{unused:?}");
        assert_eq!(unused[0].file, name);
        assert!(unused[0].reason.contains("failed to load"), "{unused:?}");
    }

    #[test]
    fn without_a_folder_there_are_none() {
        assert_eq!(load_devices_of(Path::new("/nonexistent")), []);
    }
}
