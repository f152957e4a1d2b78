//! The folders inside, and making folders and files while the new root is built.

use super::{Failed, Step as _};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub use crate::SANDBOX_HOME as HOME;
/// Folders for temporary files, in memory.
pub const TEMPORARY: [&str; 3] = ["/tmp", "/dev/shm", HOME];

/// Where the old root is while the new one is built.
pub const OLD: &str = "/old";
/// Where the new root is built.
pub const NEW: &str = "/new";

/// Returns where an absolute path lies below a folder.
pub fn below(folder: &str, path: &Path) -> PathBuf {
    Path::new(folder).join(path.strip_prefix("/").unwrap_or(path))
}

/// Returns a path in the root that is being built.
pub fn in_new_root(path: &Path) -> PathBuf {
    below(NEW, path)
}

/// Makes a folder and those above it.
pub fn make_folder(path: &Path) -> Result<(), Failed> {
    fs::create_dir_all(path).step(|| format!("making the folder {}", path.display()))
}

/// Makes the folder that is to hold a path.
pub fn make_parent(path: &Path) -> Result<(), Failed> {
    path.parent().map_or(Ok(()), make_folder)
}

/// Writes a file that is not there yet; one that is there stays as it is.
pub fn write(path: &Path, text: &str) -> Result<(), Failed> {
    make_parent(path)?;
    let written = File::options()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written.step(|| format!("writing {}", path.display())),
    }
}
