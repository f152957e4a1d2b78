//! The tree of `HEAD` with all uncommitted work in it, as `git add --all` and `git write-tree` would make it.
//!
//! The user's index is read and left as it is; new blobs and trees go to our own store. Content passes git's own filters
//! (line ends, `ident`); a file with a filter that only the `git` program could run keeps its staged version, with a note.

use crate::bounds::MAX_BLOB;
use crate::tree::{self, Slot};
use crate::{ObjectStore, RepoError, Repository, filter, staged, tree_entry};
use git2::{Delta, DiffOptions, ObjectType, Oid};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The tree, and what a person should know about it.
pub(crate) struct Uncommitted {
    pub tree: Oid,
    pub notes: Vec<String>,
}

pub(crate) fn tree(
    repository: &Repository,
    handle: &git2::Repository,
    store: &ObjectStore,
    head: Oid,
) -> Result<Uncommitted, RepoError> {
    let mut index = handle.index().map_err(repository.index_error("reading the index"))?;
    index.read(false).map_err(repository.index_error("reading the index"))?;
    store.measure(head)?;
    let mut changes = differing(handle, &index, head)?;
    let mut notes = Vec::new();
    let writer = Writer::new(repository, store, &index)?;
    let diff = staged::compare(repository, handle, &index)?;
    for delta in diff.deltas() {
        let Some(path) = staged::path_of(&delta) else { continue };
        let name = String::from_utf8_lossy(path).into_owned();
        if path.ends_with(b"/") {
            notes.push(format!("'{name}' is a repository of its own and left out."));
            continue;
        }
        let inside = std::str::from_utf8(path).ok().map(Path::new);
        let entry = inside.and_then(|inside| staged::entry(&index, inside));
        if entry.as_ref().is_some_and(|entry| entry.mode == tree_entry::SUBMODULE) {
            continue;
        }
        let Ok(place) = on_disk(repository.root(), path) else {
            notes.push(format!("'{name}' has a name this system cannot open and is left out."));
            continue;
        };
        let Ok(metadata) = fs::symlink_metadata(&place) else {
            if !entry.as_ref().is_some_and(staged::is_left_out) {
                changes.insert(path.to_vec(), Slot::Gone);
            }
            continue;
        };
        if metadata.is_dir() {
            changes.insert(path.to_vec(), Slot::Gone);
            continue;
        }
        // Neither would be read to its end.
        let too_much = if !metadata.is_file() && !metadata.is_symlink() {
            Some("is no ordinary file".to_owned())
        } else if metadata.len() > MAX_BLOB {
            Some(format!("has {} bytes, over the limit of {MAX_BLOB},", metadata.len()))
        } else {
            None
        };
        if let Some(why) = too_much {
            notes.push(format!("'{name}' {why} and is left out."));
            changes.insert(path.to_vec(), Slot::Gone);
            continue;
        }
        if delta.status() == Delta::Conflicted {
            notes.push(format!(
                "'{name}' has unresolved conflicts and is taken with its markers."
            ));
        }
        let inside = place.strip_prefix(repository.root()).unwrap_or(&place);
        if let Some(filter) = filter::foreign(handle, inside) {
            notes.push(format!(
                "'{name}' passes {filter}, which only git can run; its staged version is used."
            ));
            continue;
        }
        let mode = match (u32::from(delta.new_file().mode()), entry) {
            (mode @ (tree_entry::FILE | tree_entry::PROGRAM | tree_entry::LINK), _) => mode,
            (_, Some(entry)) => entry.mode,
            (_, None) => tree_entry::FILE,
        };
        let id = if metadata.is_symlink() {
            writer.link(&place)?
        } else {
            writer.file(&place)?
        };
        changes.insert(path.to_vec(), Slot::Holds { mode, id });
    }
    Ok(Uncommitted {
        tree: tree::edit(store, head, &changes)?,
        notes,
    })
}

/// Returns what the index has different from `head`.
fn differing(handle: &git2::Repository, index: &git2::Index, head: Oid) -> Result<BTreeMap<Vec<u8>, Slot>, RepoError> {
    let compare = || {
        let head = handle.find_tree(head)?;
        let mut options = DiffOptions::new();
        options.include_typechange(true);
        let diff = handle.diff_tree_to_index(Some(&head), Some(index), Some(&mut options))?;
        let slot = |delta: git2::DiffDelta<'_>| {
            let (old, new) = (delta.old_file(), delta.new_file());
            match delta.status() {
                Delta::Deleted => Some((old.path_bytes()?.to_vec(), Slot::Gone)),
                Delta::Added | Delta::Modified | Delta::Typechange => {
                    let slot = Slot::Holds {
                        mode: new.mode().into(),
                        id: new.id(),
                    };
                    Some((new.path_bytes()?.to_vec(), slot))
                }
                _ => None,
            }
        };
        Ok(diff.deltas().filter_map(slot).collect())
    };
    compare().map_err(RepoError::git("comparing the index with HEAD"))
}

#[cfg_attr(
    unix,
    expect(clippy::unnecessary_wraps, reason = "other systems cannot name every path")
)]
fn on_disk(root: &Path, path: &[u8]) -> Result<PathBuf, std::str::Utf8Error> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(root.join(std::ffi::OsStr::from_bytes(path)))
    }
    #[cfg(not(unix))]
    Ok(root.join(std::str::from_utf8(path)?))
}

/// The user's repository with our object database in the place of its own.
struct Writer<'s> {
    handle: git2::Repository,
    store: &'s ObjectStore,
}

impl<'s> Writer<'s> {
    fn new(repository: &Repository, store: &'s ObjectStore, index: &git2::Index) -> Result<Self, RepoError> {
        let handle = repository.handle()?;
        {
            let own = store.own();
            let odb = own.odb().map_err(RepoError::git("opening the object store"))?;
            handle
                .set_odb(&odb)
                .map_err(RepoError::git("opening the object store"))?;
        }
        for entry in index.iter().filter(|entry| entry.path.ends_with(b".gitattributes")) {
            store.keep(entry.id, ObjectType::Blob)?;
        }
        Ok(Self { handle, store })
    }

    /// Writes what git would store for the file.
    fn file(&self, place: &Path) -> Result<Oid, RepoError> {
        // The line-end filter looks at the staged version: a file that already has CRs there is not converted.
        let staged = place
            .strip_prefix(self.handle.workdir().unwrap_or(place))
            .ok()
            .and_then(|path| {
                let index = self.handle.index().ok()?;
                index.get_path(path, 0).or_else(|| index.get_path(path, 1))
            });
        if let Some(entry) = staged {
            match self.store.keep(entry.id, ObjectType::Blob) {
                Ok(()) | Err(RepoError::ObjectMissing { .. } | RepoError::ObjectTooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.handle
            .blob_path(place)
            .map_err(RepoError::git("reading a changed file"))
    }

    fn link(&self, place: &Path) -> Result<Oid, RepoError> {
        let target = fs::read_link(place).map_err(RepoError::io("reading the link", place))?;
        self.store
            .write(ObjectType::Blob, target.as_os_str().as_encoded_bytes())
    }
}
