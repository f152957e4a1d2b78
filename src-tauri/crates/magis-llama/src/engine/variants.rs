//! The variants of llama.cpp for each kind of CPU, which lie beside a program that is handed on; llama.cpp itself takes the best of them.
//!
//! A build for one machine has its only variant inside and does without this.

use llama_cpp_2::list_llama_ggml_backend_devices;
use llama_cpp_2::llama_backend::load_backends_from_path;
use std::env;
use std::path::{Path, PathBuf};

/// Loads what is there, or says where it was looked for.
pub fn load() -> Result<(), String> {
    let program = env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    // As a package has it, and as a folder that was unpacked somewhere.
    let folders: [PathBuf; 2] = [beside.join("../lib/magis"), beside.to_path_buf()];
    let Some(folder) = folders.iter().find(|folder| has_variants(folder)) else {
        let looked = folders.map(|folder| folder.display().to_string()).join(" and ");
        return Err(format!(
            "the engine's libraries (libggml-cpu-*) are missing from {looked}; install the package again"
        ));
    };
    if folder.to_str().is_none_or(|path| path.contains('\0')) {
        return Err(format!(
            "the engine cannot load libraries from {}: the path is not UTF-8",
            folder.display()
        ));
    }
    load_backends_from_path(folder);
    if list_llama_ggml_backend_devices().is_empty() {
        return Err(format!(
            "none of the engine's libraries in {} can run on this processor; install the package again",
            folder.display()
        ));
    }
    Ok(())
}

fn has_variants(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| entry.file_name().to_string_lossy().contains("ggml-cpu-"))
}
