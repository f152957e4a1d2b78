//! Writing a snapshot's tree into a folder of our own, so that commands can run on it. Byte for byte, without filters: what a run reads is what
//! its tests see.

use crate::tree_entry::{self, Entry};
use crate::tree_walk::join;
use crate::{RepoError, Snapshot, tree};
use git2::ObjectType;
use magis_core::{RepoPath, SkipReason, SkippedFile};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

impl Snapshot {
    /// Writes every file and link of the tree into `folder`, which must be empty, and tells `progress` how many there are so far; it may break
    /// it off, then there is none. Returns what was left out: submodules, what is missing in a partial clone, names that this system cannot have.
    ///
    /// # Errors
    /// When the tree cannot be read, or the folder not be written.
    pub fn check_out(
        &self,
        folder: &Path,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<SkippedFile>>, RepoError> {
        let root = self.tree()?;
        self.store().measure(root)?;
        let (mut written, mut left_out) = (0, Vec::new());
        let mut open = vec![(root, Vec::new(), folder.to_owned())];
        while let Some((id, path, at)) = open.pop() {
            for entry in tree::entries(self.store(), id)? {
                if progress(written).is_break() {
                    return Ok(None);
                }
                let path = join(&path, &entry.name);
                match self.check_out_entry(&entry, &path, &at) {
                    Ok(Some(folder)) => open.push((entry.id, path, folder)),
                    Ok(None) => written += 1,
                    Err(NotWritten::LeftOut(reason)) => left_out.push(SkippedFile {
                        path: String::from_utf8_lossy(&path).into_owned(),
                        reason,
                    }),
                    Err(NotWritten::Failed(error)) => return Err(error),
                }
            }
        }
        Ok(Some(left_out))
    }

    /// Writes one entry into the folder `at`. Returns the folder that was made, where it is one.
    fn check_out_entry(&self, entry: &Entry, path: &[u8], at: &Path) -> Result<Option<PathBuf>, NotWritten> {
        // A path that git itself would refuse: one that leads out of the folder, or into a `.git`.
        let known = std::str::from_utf8(path).ok().and_then(|path| RepoPath::new(path).ok());
        let name = std::str::from_utf8(&entry.name)
            .ok()
            .filter(|name| !name.eq_ignore_ascii_case(".git"));
        let (Some(_), Some(name)) = (known, name) else {
            return Err(NotWritten::LeftOut(SkipReason::UnsupportedPath));
        };
        let to = at.join(name);
        match entry.mode {
            tree_entry::TREE => {
                made(&to, fs::create_dir(&to))?;
                Ok(Some(to))
            }
            tree_entry::SUBMODULE => Err(NotWritten::LeftOut(SkipReason::Submodule)),
            mode => {
                let contents = self.store().read(entry.id, ObjectType::Blob);
                let contents = contents.map_err(|error| match error {
                    RepoError::ObjectMissing { .. } => NotWritten::LeftOut(SkipReason::Missing),
                    RepoError::ObjectTooLarge { bytes, limit, .. } => {
                        NotWritten::LeftOut(SkipReason::TooLarge { bytes, limit })
                    }
                    error => NotWritten::Failed(error),
                })?;
                let done = if mode == tree_entry::LINK {
                    link(&contents, &to)
                } else {
                    write(&contents, &to, mode & 0o111 != 0)
                };
                made(&to, done)?;
                Ok(None)
            }
        }
    }
}

/// Why an entry is not in the folder.
enum NotWritten {
    LeftOut(SkipReason),
    Failed(RepoError),
}

impl From<RepoError> for NotWritten {
    fn from(error: RepoError) -> Self {
        Self::Failed(error)
    }
}

/// Where names differ in nothing that this system tells apart, the first stays: nothing is written through what an entry made before.
fn made(at: &Path, done: io::Result<()>) -> Result<(), NotWritten> {
    done.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => {
            NotWritten::LeftOut(SkipReason::UnsupportedPath)
        }
        _ => NotWritten::Failed(RepoError::io("writing", at)(source)),
    })
}

#[cfg(unix)]
fn write(contents: &[u8], to: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mode = if executable { 0o755 } else { 0o644 };
    File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(to)?
        .write_all(contents)
}

#[cfg(not(unix))]
fn write(contents: &[u8], to: &Path, _executable: bool) -> io::Result<()> {
    File::options()
        .write(true)
        .create_new(true)
        .open(to)?
        .write_all(contents)
}

#[cfg(unix)]
fn link(contents: &[u8], to: &Path) -> io::Result<()> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    std::os::unix::fs::symlink(OsStr::from_bytes(contents), to)
}

/// Where links need rights that few people have, git writes their text into a file; so does this.
#[cfg(not(unix))]
fn link(contents: &[u8], to: &Path) -> io::Result<()> {
    write(contents, to, false)
}
