//! The folder of an index as tantivy sees it: mapped files that are written without waiting for the disk.
//!
//! A commit of one changed file is ten small files, and waiting for each to reach the disk takes longer than all the
//! rest. The index can be had again from git at any time and is checked by its checksums when it is opened, so what a
//! loss of power tears is found and made anew. A killed process loses nothing: its writes are the system's. Order and
//! atomicity are as tantivy wants them, through a renaming.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// What tantivy notes of an index, which segments there are and which files, each written through a renaming.
pub(crate) const NOTES: [&str; 2] = ["meta.json", ".managed.json"];

/// Returns whether a file is a note that was written and, its process being killed, never renamed.
pub(crate) fn is_unfinished(name: &OsStr) -> bool {
    let parts = name.to_str().and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(note, process)| NOTES.contains(&note) && process.parse::<u32>().is_ok())
}

/// A folder whose files are mapped for reading and not forced to the disk in writing.
#[derive(Debug, Clone)]
pub(crate) struct IndexFolder {
    folder: PathBuf,
    mapped: MmapDirectory,
}

impl IndexFolder {
    /// That folder, which must be there.
    pub fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            folder: folder.to_owned(),
            mapped: MmapDirectory::open(folder)?,
        })
    }
}

impl Directory for IndexFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.folder.join(path));
        match opened {
            Ok(file) => Ok(BufWriter::new(Box::new(Unforced(file)))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(error) => Err(OpenWriteError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        let beside = self.folder.join(name);
        let written = fs::write(&beside, data).and_then(|()| fs::rename(&beside, self.folder.join(path)));
        if written.is_err() {
            drop(fs::remove_file(&beside));
        }
        written
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// A file whose end is flushed to the system, not to the disk.
struct Unforced(File);

impl Write for Unforced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unforced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
