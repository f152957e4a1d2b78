//! Replacing files of a work tree, all or nothing.
//!
//! New contents are written beside their targets first; each file is looked at again right before it is replaced by a
//! rename; what was done is taken back when a later file fails. Symbolic links are never followed below the root.

use crate::reading::bounds;
use crate::{FileContent, FileState, RepoError, ordinary};
use git2::{ObjectType, Oid};
use magis_core::RepoPath;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What becomes of a file.
pub(crate) struct Replacement {
    pub path: RepoPath,
    /// What it is now; none: nothing stands there.
    pub before: Option<FileState>,
    /// What it becomes; none: it goes.
    pub content: Option<NewContent>,
}

/// New content of a file.
pub(crate) struct NewContent {
    pub bytes: Vec<u8>,
    pub mode: WriteMode,
}

/// Which permissions a written file gets.
#[derive(Clone, Copy)]
pub(crate) enum WriteMode {
    /// Those of any new file.
    NewFile,
    /// Those of any new program.
    NewProgram,
    /// These, where the system has them.
    Exactly(Option<u32>),
}

/// What stands at a path.
pub(crate) enum Found {
    Nothing,
    File(FileState),
    /// A folder, a link, a device, or something of that kind on the way.
    Other,
}

impl Replacement {
    /// Returns a file whose bytes change and whose permissions stay.
    pub fn changed(path: &RepoPath, before: FileState, bytes: Vec<u8>) -> Self {
        let mode = WriteMode::Exactly(before.permissions);
        Self {
            path: path.clone(),
            before: Some(before),
            content: Some(NewContent { bytes, mode }),
        }
    }

    /// Returns the other way round.
    fn inverse(&self) -> Self {
        let state = |content: &NewContent| FileState::new(content.bytes.clone(), None);
        Self {
            path: self.path.clone(),
            before: self.content.as_ref().map(state),
            content: self.before.as_ref().map(FileState::restored),
        }
    }
}

impl FileState {
    pub(crate) fn new(bytes: Vec<u8>, permissions: Option<u32>) -> Self {
        Self {
            hash: hash(&bytes),
            content: FileContent::new(bytes),
            permissions,
        }
    }

    /// Returns the content that brings it back.
    pub(crate) fn restored(&self) -> NewContent {
        NewContent {
            bytes: self.content.bytes().to_vec(),
            mode: WriteMode::Exactly(self.permissions),
        }
    }
}

/// Returns the id a git blob of these bytes has.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Oid::hash_object(ObjectType::Blob, bytes)
        .expect("SHA-1 of bytes in memory needs nothing that can fail")
        .to_string()
}

/// Returns what stands at `path` below `root`.
pub(crate) fn look(root: &Path, path: &RepoPath) -> Result<Found, RepoError> {
    let mut place = root.to_owned();
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(RepoError::io("looking at", place)(error)),
        };
        if parts.peek().is_some() {
            if !metadata.is_dir() {
                return Ok(Found::Other);
            }
        } else if metadata.is_file() {
            let bytes = ordinary::read(&place, bounds::MAX_BLOB)?;
            return Ok(Found::File(FileState::new(bytes, permissions(&metadata))));
        }
    }
    Ok(Found::Other)
}

/// Returns a mark that no other change has.
pub(crate) fn new_mark() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |now| now.as_nanos());
    let mut mark = hash(format!("{} {nanoseconds}", std::process::id()).as_bytes());
    mark.truncate(12);
    mark
}

/// Removes what a change with this mark left beside its files when it was broken off.
pub(crate) fn remove_leftovers<'p>(
    root: &Path,
    paths: impl IntoIterator<Item = &'p RepoPath>,
    mark: &str,
) -> Result<(), RepoError> {
    if mark.is_empty() {
        return Ok(());
    }
    let mut folders = BTreeSet::new();
    for path in paths {
        let target = root.join(path.as_str());
        let above = target.ancestors().skip(1);
        folders.extend(above.take_while(|folder| folder.starts_with(root)).map(Path::to_owned));
    }
    for folder in folders {
        let is_plain = folder.symlink_metadata().is_ok_and(|kind| kind.is_dir());
        for entry in is_plain.then(|| fs::read_dir(&folder)).into_iter().flatten().flatten() {
            let entry = entry.map_err(RepoError::io("listing", &folder))?;
            let is_left = entry.file_name().to_string_lossy().starts_with(&prefix(mark));
            if is_left && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::remove_file(entry.path()).map_err(RepoError::io("removing", entry.path()))?;
            }
        }
    }
    Ok(())
}

fn prefix(mark: &str) -> String {
    format!(".magis-{mark}-")
}

/// Carries out all `replacements`, or none. Where that fails, nothing is left beside the files either, or the error says so.
pub(crate) fn all(root: &Path, replacements: &[Replacement], mark: &str) -> Result<(), RepoError> {
    carry_out(root, replacements, mark).map_err(|error| {
        let paths = replacements.iter().map(|replacement| &replacement.path);
        match (error, remove_leftovers(root, paths, mark)) {
            (error @ RepoError::HalfDone { .. }, _) | (error, Ok(())) => error,
            (error, Err(left)) => RepoError::LeftBehind {
                cause: error.to_string(),
                why: left.to_string(),
            },
        }
    })
}

fn carry_out(root: &Path, replacements: &[Replacement], mark: &str) -> Result<(), RepoError> {
    let mut prepared = Vec::with_capacity(replacements.len());
    for replacement in replacements {
        prepared.push(match &replacement.content {
            Some(content) => Some(prepare(root, &replacement.path, content, mark)?),
            None => None,
        });
    }
    let mut pairs: Vec<(&Replacement, Option<NamedTempFile>)> = replacements.iter().zip(prepared).collect();
    // What goes makes room for what comes.
    pairs.sort_by_key(|(replacement, _)| replacement.content.is_some());
    let mut done: Vec<&Replacement> = Vec::new();
    for (replacement, file) in pairs {
        if let Err(error) = one(root, replacement, file) {
            let mut left = Vec::new();
            for replacement in done.into_iter().rev() {
                if take_back(root, replacement, mark).is_err() {
                    left.push(replacement.path.to_string());
                }
            }
            return Err(if left.is_empty() {
                error
            } else {
                RepoError::HalfDone {
                    cause: error.to_string(),
                    left,
                }
            });
        }
        done.push(replacement);
    }
    Ok(())
}

fn take_back(root: &Path, replacement: &Replacement, mark: &str) -> Result<(), RepoError> {
    let inverse = replacement.inverse();
    let file = match &inverse.content {
        Some(content) => Some(prepare(root, &inverse.path, content, mark)?),
        None => None,
    };
    one(root, &inverse, file)
}

/// Writes new content beside its target: into the nearest folder that is there.
fn prepare(root: &Path, path: &RepoPath, content: &NewContent, mark: &str) -> Result<NamedTempFile, RepoError> {
    let target = root.join(path.as_str());
    let folder = target
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .unwrap_or(root);
    let write = || -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        let prefix = prefix(mark);
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = if matches!(content.mode, WriteMode::NewProgram) {
                0o777
            } else {
                0o666
            };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(&content.bytes)?;
        #[cfg(unix)]
        if let WriteMode::Exactly(Some(mode)) = content.mode {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode))?;
        }
        file.as_file().sync_all()?;
        Ok(file)
    };
    write().map_err(RepoError::io("writing", target))
}

fn one(root: &Path, replacement: &Replacement, file: Option<NamedTempFile>) -> Result<(), RepoError> {
    let target = root.join(replacement.path.as_str());
    let unchanged = match (look(root, &replacement.path)?, &replacement.before) {
        (Found::Nothing, None) => true,
        (Found::File(now), Some(before)) => now.hash == before.hash,
        _ => false,
    };
    if !unchanged {
        return Err(RepoError::ChangedSince(vec![format!(
            "'{}' has just been changed",
            replacement.path
        )]));
    }
    match (file, &replacement.before) {
        (Some(file), None) => {
            let folder = target.parent().unwrap_or(root);
            let is_there = |folder: &&Path| folder.is_dir();
            let there = target.ancestors().skip(1).find(is_there).unwrap_or(root).to_owned();
            let made = fs::create_dir_all(folder).map_err(RepoError::io("creating", folder));
            let placed = made.and_then(|()| {
                let placed = file.persist_noclobber(&target).map_err(|failed| failed.error);
                placed.map(drop).map_err(RepoError::io("creating", &target))
            });
            if placed.is_err() {
                remove_empty_folders(&there, target);
            }
            placed
        }
        (Some(file), Some(_)) => {
            let placed = file.persist(&target).map_err(|failed| failed.error);
            placed.map(drop).map_err(RepoError::io("replacing", target))
        }
        (None, _) => {
            fs::remove_file(&target).map_err(RepoError::io("deleting", &target))?;
            remove_empty_folders(root, target);
            Ok(())
        }
    }
}

/// Folders that hold nothing any more go with their last file, as with git.
pub(crate) fn remove_empty_folders(root: &Path, mut below: PathBuf) {
    while below.pop() && below != root && below.starts_with(root) {
        match fs::remove_dir(&below) {
            Err(error) if error.kind() != ErrorKind::NotFound => return,
            Ok(()) | Err(_) => {}
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn permissions(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn permissions(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn created(at: &str) -> Replacement {
        let content = Some(NewContent {
            bytes: b"new\n".to_vec(),
            mode: WriteMode::NewFile,
        });
        Replacement {
            path: path(at),
            before: None,
            content,
        }
    }

    #[test]
    fn what_was_done_is_taken_back_when_a_later_file_fails() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("changed"), "old\n").unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        fs::write(root.path().join("folder/gone"), "old\n").unwrap();
        let before = listing(root.path());
        let state = || FileState::new(b"old\n".to_vec(), Some(0o644));
        let replacements = [
            Replacement::changed(&path("changed"), state(), b"new\n".to_vec()),
            Replacement {
                path: path("folder/gone"),
                before: Some(state()),
                content: None,
            },
            created("file"),
            created("file/below"),
        ];
        assert!(all(root.path(), &replacements, "mark").is_err());
        assert_eq!(listing(root.path()), before);
    }

    #[test]
    fn a_file_that_changed_in_between_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "saved by an editor\n").unwrap();
        let state = FileState::new(b"old\n".to_vec(), None);
        let replaced = all(
            root.path(),
            &[Replacement::changed(&path("file"), state, b"new\n".to_vec())],
            "mark",
        );
        assert!(matches!(replaced, Err(RepoError::ChangedSince(_))));
        assert_eq!(fs::read(root.path().join("file")).unwrap(), b"saved by an editor\n");
        assert_eq!(
            fs::read_dir(root.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }

    fn listing(root: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap().path();
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    files.push((entry.display().to_string(), fs::read(&entry).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}
