//! What can go wrong with the index.

use std::path::PathBuf;
use thiserror::Error;

/// Why the index could not be used.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The folder cannot be used.
    #[error(
        "the search index in {folder} cannot be opened: {reason}; check that the folder is writable and the disk is not full"
    )]
    Folder {
        folder: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Another process writes to it.
    #[error("the search index in {folder} is being updated by another process; wait for it or close it")]
    Busy { folder: PathBuf },
    #[error("updating the search index failed: {0}; check the free space of the disk, then try again")]
    Write(String),
    #[error("reading the search index failed: {0}; open the repository again to rebuild it")]
    Read(String),
}
