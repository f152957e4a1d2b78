//! The inputs that are kept with the sources: a folder for each target, a file for each input.

use crate::target::TargetName;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Returns the folder of a target's inputs.
pub fn folder(target: TargetName) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name())
}

/// Returns the inputs that are kept of a target with their names, in the order of these.
///
/// # Errors
/// When a file cannot be read.
pub fn kept(target: TargetName) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files: Vec<PathBuf> = match fs::read_dir(folder(target)) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    files.sort();
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|path| Ok((name(path), fs::read(path)?))).collect()
}
