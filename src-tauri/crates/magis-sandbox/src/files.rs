//! The files that a job brings along, written before its command starts.

use crate::job::SandboxJob;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// A file of a job that could not be written or removed.
#[derive(Debug, Error)]
#[error("cannot write {path}: {source}")]
pub struct FileError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// Writes and removes the job's files. None is written through a link: what the folder holds was written by strangers.
///
/// # Errors
/// When a file lies outside the folders that the command may change, or behind a link, or the system refuses.
pub fn write(job: &SandboxJob) -> Result<(), FileError> {
    for file in &job.files {
        let Some(scratch) = job.scratch.iter().find(|scratch| file.path.starts_with(&scratch.at)) else {
            return Err(FileError {
                path: file.path.clone(),
                source: io::Error::other("it lies outside the folders that the command may change"),
            });
        };
        let done = match &file.contents {
            Some(contents) => create(&scratch.at, &file.path, contents),
            None => remove(&scratch.at, &file.path),
        };
        done.map_err(|source| FileError {
            path: file.path.clone(),
            source,
        })?;
    }
    Ok(())
}

fn create(folder: &Path, path: &Path, contents: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(folder);
    without_links(folder, parent)?;
    fs::create_dir_all(parent)?;
    // A link or a read-only file of that name gives way.
    if path.symlink_metadata().is_ok_and(|kind| !kind.is_dir()) {
        fs::remove_file(path)?;
    }
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(contents)
}

fn remove(folder: &Path, path: &Path) -> io::Result<()> {
    without_links(folder, path.parent().unwrap_or(folder))?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Refuses a path that leads through a link below `folder`, or out of it.
///
/// # Errors
/// When it does, with the link.
pub fn without_links(folder: &Path, path: &Path) -> io::Result<()> {
    let inside = path.strip_prefix(folder).map_err(io::Error::other)?;
    let mut at = folder.to_owned();
    for part in inside.components() {
        let Component::Normal(name) = part else {
            return Err(io::Error::other("the path leads out of its folder"));
        };
        at.push(name);
        if at.is_symlink() {
            return Err(io::Error::other(format!("{} is a link", at.display())));
        }
    }
    Ok(())
}
