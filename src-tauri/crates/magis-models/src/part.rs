//! The unfinished download: its bytes, a note of where they came from, and the lock that keeps two fetches apart.
//!
//! It knows nothing of where bytes come from beyond the note, and decides nothing about retrying.

use crate::Sha256Hex;
use magis_platform::private;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The files beside a model while it is being fetched.
pub(crate) struct PartFiles {
    /// The bytes so far.
    pub(crate) data: PathBuf,
    /// The note about them.
    pub(crate) state: PathBuf,
    lock: PathBuf,
}

/// Held as long as it lives; the system lets go of it when the process ends.
pub(crate) struct PartLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl PartFiles {
    pub(crate) fn beside(model: &Path) -> Self {
        let with = |ending: &str| {
            let mut name = model.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Self {
            data: with(".part"),
            state: with(".part.json"),
            lock: with(".lock"),
        }
    }

    /// Takes the lock; nothing when somebody else has it.
    pub(crate) fn lock(&self) -> io::Result<Option<PartLock>> {
        let file = private::file_options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.lock)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(PartLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// What is known of the bytes so far.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PartState {
    /// The hub's tag of the file they came from.
    pub(super) etag: Option<String>,
    /// How many of the mirror's packages stand complete at their beginning.
    pub(super) packages: usize,
    /// The bytes of those packages.
    pub(super) package_bytes: u64,
}

pub(super) struct PartFile {
    files: PartFiles,
    file: File,
    done: u64,
    pub(super) state: PartState,
}

impl PartFile {
    /// Opens what there is; more bytes than the model has cannot be a beginning of it and are dropped.
    pub(super) fn open(files: PartFiles, total: u64) -> io::Result<Self> {
        let mut file = private::file_options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&files.data)?;
        let done = file.seek(SeekFrom::End(0))?;
        let state = fs::read(&files.state)
            .ok()
            .and_then(|note| serde_json::from_slice(&note).ok())
            .unwrap_or_default();
        let mut part = Self {
            files,
            file,
            done,
            state,
        };
        if part.done > total || part.state.package_bytes > part.done {
            part.restart()?;
        }
        Ok(part)
    }

    pub(super) fn done(&self) -> u64 {
        self.done
    }

    pub(super) fn path(&self) -> &Path {
        &self.files.data
    }

    /// Returns a folder beside the part for what is unpacked on the way.
    pub(super) fn workshop(&self) -> PathBuf {
        let mut name = self.files.data.as_os_str().to_owned();
        name.push(".packages");
        PathBuf::from(name)
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.done += bytes.len() as u64;
        Ok(())
    }

    /// Drops everything beyond the first `bytes`.
    pub(super) fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.done = self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    pub(super) fn restart(&mut self) -> io::Result<()> {
        self.cut(0)?;
        self.state = PartState::default();
        self.save()
    }

    /// Makes bytes and note last.
    pub(super) fn save(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        private::write_atomically(&self.files.state, &serde_json::to_vec(&self.state)?)
    }

    pub(super) fn hash(&mut self, seen: impl FnMut(u64) -> io::Result<()>) -> io::Result<Sha256Hex> {
        self.file.seek(SeekFrom::Start(0))?;
        let hash = Sha256Hex::of_reader(&mut self.file, seen);
        self.file.seek(SeekFrom::End(0))?;
        hash
    }

    pub(super) fn discard(&mut self) -> io::Result<()> {
        self.restart()?;
        fs::remove_file(&self.files.data)?;
        fs::remove_file(&self.files.state)
    }

    /// Gives the complete file its name.
    pub(super) fn finish(&self, model: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.files.data, model)?;
        if let Some(folder) = model.parent() {
            // The new name itself has to last, too; where a folder cannot be synced, the system sees to it in time.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        match fs::remove_file(&self.files.state) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
