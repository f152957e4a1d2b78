//! The variants of llama.cpp for each kind of CPU, which lie beside a program that is handed on; llama.cpp itself takes the best of them.
//!
//! A build for one machine has its only variant inside and does without this.

use llama_cpp_2::list_llama_ggml_backend_devices;
use llama_cpp_2::llama_backend::load_backends_from_path;
use std::env;
use std::path::PathBuf;

/// Returns where they lie.
pub fn folder() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.join("../lib/magis"))
}

/// Loads them from where the program has its other libraries too.
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
