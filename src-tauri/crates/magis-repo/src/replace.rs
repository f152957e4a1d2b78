//! Replacing files of a work tree, all or nothing.
//!
//! New contents are written beside their targets first; each file is looked at again right before it is replaced by a
//! rename; what was done is taken back when a later file fails. Symbolic links are never followed below the root, also
//! not where somebody puts one in the place of a folder meanwhile, see [`Root`].

use crate::root::{Found, Prepared, Root, Way, WriteMode, parted};
use crate::{FileContent, FileState, RepoError};
use git2::{ObjectType, Oid};
use magis_core::RepoPath;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

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
    Root::open(root)?.look(path)
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
    let root = Root::open(root)?;
    let mut folders = BTreeSet::new();
    for path in paths {
        let above = Path::new(path.as_str()).ancestors().skip(1);
        folders.extend(above.map(Path::to_owned));
    }
    for path in folders {
        let Way::Reached(folder) = root.enter(&path)? else {
            continue;
        };
        for entry in folder.entries().map_err(root.failed("listing", &path))? {
            let entry = entry.map_err(root.failed("listing", &path))?;
            let name = entry.file_name();
            let is_left = name.to_string_lossy().starts_with(&prefix(mark));
            if is_left && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                folder
                    .remove_file(&name)
                    .map_err(root.failed("removing", path.join(&name)))?;
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
    let change = Change {
        root: Root::open(root)?,
        mark,
        written: Cell::new(0),
    };
    let mut prepared = Vec::with_capacity(replacements.len());
    for replacement in replacements {
        prepared.push(change.prepare(replacement)?);
    }
    let mut pairs: Vec<(&Replacement, Option<Prepared>)> = replacements.iter().zip(prepared).collect();
    // What goes makes room for what comes.
    pairs.sort_by_key(|(replacement, _)| replacement.content.is_some());
    let mut done: Vec<&Replacement> = Vec::new();
    for (replacement, file) in pairs {
        if let Err(error) = change.place(replacement, file) {
            let mut left = Vec::new();
            for replacement in done.into_iter().rev() {
                let inverse = replacement.inverse();
                let taken_back = change.prepare(&inverse).and_then(|file| change.place(&inverse, file));
                if taken_back.is_err() {
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

/// A change that is being carried out.
struct Change<'m> {
    root: Root,
    mark: &'m str,
    /// How many files were prepared so far.
    written: Cell<u32>,
}

impl Change<'_> {
    /// Writes what comes beside its target: into the nearest folder that is there.
    fn prepare(&self, replacement: &Replacement) -> Result<Option<Prepared>, RepoError> {
        let Some(content) = &replacement.content else {
            return Ok(None);
        };
        let path = Path::new(replacement.path.as_str());
        let number = self.written.replace(self.written.get() + 1);
        let name = format!("{}{number}.tmp", prefix(self.mark));
        let written = Prepared::write(self.root.nearest(path)?, name, &content.bytes, content.mode);
        written.map(Some).map_err(self.root.failed("writing", path))
    }

    /// Puts what comes in the place of what is there, if that is as it was.
    fn place(&self, replacement: &Replacement, file: Option<Prepared>) -> Result<(), RepoError> {
        let unchanged = match (self.root.look(&replacement.path)?, &replacement.before) {
            (Found::Nothing, None) => true,
            (Found::File(now), Some(before)) => now.hash == before.hash,
            _ => false,
        };
        let changed = || RepoError::ChangedSince(vec![format!("'{}' has just been changed", replacement.path)]);
        if !unchanged {
            return Err(changed());
        }
        let path = Path::new(replacement.path.as_str());
        let (above, name) = parted(path);
        match (file, &replacement.before) {
            (Some(file), None) => {
                let before = self.root.depth(above)?;
                let placed = self
                    .root
                    .make(above)
                    .and_then(|folder| file.put_new(&folder, name).map_err(self.root.failed("creating", path)));
                if placed.is_err() {
                    self.root.remove_empty(above, before);
                }
                placed
            }
            (file, _) => {
                let Way::Reached(folder) = self.root.enter(above)? else {
                    return Err(changed());
                };
                let Some(file) = file else {
                    folder.remove_file(name).map_err(self.root.failed("deleting", path))?;
                    self.root.remove_empty(above, 0);
                    return Ok(());
                };
                file.put(&folder, name).map_err(self.root.failed("replacing", path))
            }
        }
    }
}

/// Folders that hold nothing any more go with their last file, as with git.
pub(crate) fn remove_empty_folders(root: &Path, path: &RepoPath) -> Result<(), RepoError> {
    let (above, _) = parted(Path::new(path.as_str()));
    Root::open(root)?.remove_empty(above, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_becomes_a_link_meanwhile_leads_nowhere_else() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::sync::atomic::{AtomicBool, Ordering};
        let root = tempfile::tempdir().unwrap();
        let (folder, link, elsewhere) = (
            root.path().join("folder"),
            root.path().join("link"),
            root.path().join("elsewhere"),
        );
        for place in [&folder, &elsewhere] {
            fs::create_dir(place).unwrap();
            fs::write(place.join("file"), "0\n").unwrap();
        }
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        let is_over = AtomicBool::new(false);
        let (mut placed, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            while placed < 50 || refused < 50 {
                let before = FileState::new(format!("{placed}\n").into_bytes(), None);
                let next = format!("{}\n", placed + 1).into_bytes();
                let changed = Replacement::changed(&path("folder/file"), before, next);
                match all(root.path(), &[changed], "mark") {
                    Ok(()) => placed += 1,
                    Err(_) => refused += 1,
                }
                let _refused_through_a_link = all(root.path(), &[created(&format!("folder/new{placed}"))], "mark");
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(
            listing(&elsewhere),
            [(elsewhere.join("file").display().to_string(), b"0\n".to_vec())]
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
