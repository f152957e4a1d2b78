//! What can go wrong in the library.

use crate::{ModelFileError, ModelId, Sha256Hex};
use magis_core::text;
use std::io;
use std::path::PathBuf;

/// Something the library cannot do, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The library's folder or a file in it cannot be used.
    #[error("cannot {doing} {}: {source}", path.display())]
    Storage {
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no usable model.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The model is in the catalogue but not on this machine.
    #[error("the model {id} is not on this machine; download it first ({})", text::bytes(*bytes))]
    NotInstalled {
        id: ModelId,
        /// The size of its file.
        bytes: u64,
    },
    /// The library has no model of that name. Names from elsewhere are looked for nowhere else.
    #[error("the library has no model called {name:?}; models that are here: {known}")]
    NotInLibrary {
        name: String,
        /// The ids of the models that are here.
        known: String,
    },
    /// No model and no file goes by that name.
    #[error("no model and no file is called {name:?}; known models: {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The ids that would have been understood.
        known: String,
    },
    /// A file bears a catalogue model's name but is not that file.
    #[error("the model {id} has SHA-256 {found}, but {expected} is right; remove it and download it again")]
    WrongHash {
        id: ModelId,
        /// The hash the catalogue states.
        expected: Sha256Hex,
        /// The hash the file has.
        found: Sha256Hex,
    },
    /// Another file already has the name.
    #[error("the library already has another file at {}; rename yours or remove that one first", path.display())]
    NameTaken {
        /// The file that is there.
        path: PathBuf,
    },
    /// The disk is too full for a copy.
    #[error("not enough space in {}: {} needed, {} free; free some space or move the library", folder.display(), text::bytes(*needed), text::bytes(*free))]
    NoSpace {
        folder: PathBuf,
        /// The bytes that are needed.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The file changed while it was read.
    #[error("{} changed while it was being added; add it again when nothing writes to it", path.display())]
    ChangedMeanwhile { path: PathBuf },
    /// A download of this model is under way.
    #[error("the model {id} is being downloaded at the moment; wait for it or cancel it")]
    Busy { id: ModelId },
}
