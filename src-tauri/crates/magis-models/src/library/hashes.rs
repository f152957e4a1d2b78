//! Hashes that were taken once: remembered by path, and believed as long as the file keeps its size and its time.
//!
//! Losing this memory costs time, never correctness; what cannot be read in it is taken anew.

use crate::Sha256Hex;
use magis_platform::private;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

#[derive(Debug)]
pub(super) struct HashMemory {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    path: PathBuf,
    bytes: u64,
    /// Nanoseconds since 1970, negative before.
    modified: i64,
    sha256: Sha256Hex,
}

impl HashMemory {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the hash of the file: the remembered one when size and time are the same, else taken now and remembered.
    pub(super) fn of(&self, path: &Path) -> io::Result<Sha256Hex> {
        if let Some(known) = self.known(path) {
            return Ok(known);
        }
        let (bytes, modified) = stamp(path)?;
        let sha256 = self.take(path)?;
        // A file that changed while it was read gets no lasting hash.
        if stamp(path)? == (bytes, modified) {
            self.remember(path, sha256)?;
        }
        Ok(sha256)
    }

    /// Returns the remembered hash of the file, where it has kept size and time since.
    pub(super) fn known(&self, path: &Path) -> Option<Sha256Hex> {
        let (bytes, modified) = stamp(path).ok()?;
        let known = self.read(path)?;
        (known.bytes == bytes && known.modified == modified).then_some(known.sha256)
    }

    /// Reads the whole file.
    #[expect(
        clippy::unused_self,
        reason = "reads beside the memory on purpose; callers say which of the two they want"
    )]
    pub(super) fn take(&self, path: &Path) -> io::Result<Sha256Hex> {
        Sha256Hex::of_reader(&mut File::open(path)?, |_| Ok(()))
    }

    /// Returns the hash the file had when it was last read, whatever it is now.
    pub(super) fn remembered_ever(&self, path: &Path) -> Option<Sha256Hex> {
        self.read(path).map(|known| known.sha256)
    }

    pub(super) fn remember(&self, path: &Path, sha256: Sha256Hex) -> io::Result<()> {
        let (bytes, modified) = stamp(path)?;
        private::create_folder(&self.folder)?;
        let note = serde_json::to_vec(&Remembered {
            path: path.to_owned(),
            bytes,
            modified,
            sha256,
        })?;
        private::write_atomically(&self.note_of(path), &note)
    }

    pub(super) fn forget(&self, path: &Path) {
        // A note about a file that is gone does no harm: a new file has another time.
        let _ = fs::remove_file(self.note_of(path));
    }

    /// Returns the files that had this hash when it was taken, and have kept size and time since; in a fixed order.
    pub(super) fn files_with(&self, sha256: Sha256Hex) -> Vec<PathBuf> {
        let notes = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = notes
            .filter_map(|note| serde_json::from_slice::<Remembered>(&fs::read(note.path()).ok()?).ok())
            .filter(|known| known.sha256 == sha256)
            .filter(|known| stamp(&known.path).is_ok_and(|stamp| stamp == (known.bytes, known.modified)))
            .map(|known| known.path)
            .collect();
        files.sort();
        files
    }

    fn read(&self, path: &Path) -> Option<Remembered> {
        let note: Remembered = serde_json::from_slice(&fs::read(self.note_of(path)).ok()?).ok()?;
        (note.path == path).then_some(note)
    }

    fn note_of(&self, path: &Path) -> PathBuf {
        self.folder
            .join(format!("{}.json", Sha256Hex::of(path.as_os_str().as_encoded_bytes())))
    }
}

fn stamp(path: &Path) -> io::Result<(u64, i64)> {
    let metadata = fs::metadata(path)?;
    let modified = metadata.modified()?;
    let modified = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX),
    };
    Ok((metadata.len(), modified))
}
