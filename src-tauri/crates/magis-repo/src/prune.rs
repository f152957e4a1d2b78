//! Objects that no run needs any more leave the store, and stores of repositories that are gone go as a whole.
//!
//! Whoever has a store open holds its lock together with others; pruning holds it alone, so nothing that is just being
//! written or read is taken away. It does not know which runs there are.

use crate::in_use::{KEPT, hold_alone};
use crate::reading::{ObjectKind, Request};
use crate::store::MADE_APART;
use crate::{Git, ObjectStore, RepoError, tree_entry};
use git2::Oid;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// How libgit2 calls an object that it has not given its name yet.
const WRITTEN: &str = "tmp_object_git2_";

/// What became of a pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruning {
    /// Only what is needed is left.
    Done,
    /// Somebody has the store open, so nothing was removed.
    InUse,
}

/// Removes every object of the store in `folder` that cannot be reached from the commits and trees in `needed`. The
/// history behind a commit is the repository's and not needed.
///
/// # Errors
/// When the object store cannot be read or written.
pub fn prune<'a>(git: &Git, folder: &Path, needed: impl IntoIterator<Item = &'a str>) -> Result<Pruning, RepoError> {
    if !folder.exists() {
        return Ok(Pruning::Done);
    }
    let store = ObjectStore::reopen_unheld(git, folder)?;
    let Some(_alone) = hold_alone(folder)? else {
        return Ok(Pruning::InUse);
    };
    let kept = match fs::read_to_string(folder.join(KEPT)) {
        // Nothing that is to be kept goes because nobody could read that.
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(RepoError::io("reading", folder.join(KEPT))(error));
        }
        read => read.unwrap_or_default(),
    };
    let object = |id: &str| Oid::from_str(id).ok();
    let mut roots: Vec<Oid> = needed.into_iter().filter_map(object).collect();
    roots.extend(kept.lines().filter_map(object));
    let reachable = reachable(&store, roots)?;
    let objects = folder.join("objects");
    for file in files_below(&objects).map_err(RepoError::io("reading", &objects))? {
        if id_of(&objects, &file).is_none_or(|id| !reachable.contains(&id)) {
            fs::remove_file(&file).map_err(RepoError::io("removing", &file))?;
        }
    }
    Ok(Pruning::Done)
}

/// Removes the store in `folder`.
///
/// # Errors
/// When the object store cannot be read or written.
pub fn remove_store(folder: &Path) -> Result<Pruning, RepoError> {
    if !folder.exists() {
        return Ok(Pruning::Done);
    }
    let Some(_alone) = hold_alone(folder)? else {
        return Ok(Pruning::InUse);
    };
    fs::remove_dir_all(folder).map_err(RepoError::io("removing", folder))?;
    Ok(Pruning::Done)
}

/// Removes what programs that were killed left in the store in `folder` while they made it or wrote into it; not while somebody has it open.
///
/// # Errors
/// When the object store cannot be written.
pub fn remove_remains(folder: &Path) -> Result<(), RepoError> {
    let remains = || {
        let mut remains = entries(folder, MADE_APART);
        remains.extend(entries(&folder.join("objects"), WRITTEN));
        remains
    };
    if remains().is_empty() {
        return Ok(());
    }
    let Some(_alone) = hold_alone(folder)? else {
        return Ok(());
    };
    for left in remains() {
        let removed = if left.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir_all(left.path())
        } else {
            fs::remove_file(left.path())
        };
        removed.map_err(RepoError::io("removing", left.path()))?;
    }
    Ok(())
}

/// Returns the entries of a folder whose names begin so.
fn entries(folder: &Path, beginning: &str) -> Vec<fs::DirEntry> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let begins = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(beginning);
    entries.filter(begins).collect()
}

/// Returns everything below these commits and trees, as far as it is here or in the repository.
fn reachable(store: &ObjectStore, mut open: Vec<Oid>) -> Result<HashSet<Oid>, RepoError> {
    let mut found: HashSet<Oid> = HashSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let request = Request::Object {
            id: id.to_string(),
            kind: ObjectKind::Any,
            most: None,
        };
        let (kind, bytes) = match store.reader().ask_for_bytes::<ObjectKind>(request) {
            Ok(found) => found,
            // Nothing that is needed goes because nobody could look.
            Err(error @ RepoError::ReadingLost { .. }) => return Err(error),
            Err(_) => continue,
        };
        match kind {
            ObjectKind::Commit => open.extend(tree_entry::tree_of_commit(&bytes)),
            ObjectKind::Tree => {
                for entry in tree_entry::parsed(id, &bytes).unwrap_or_default() {
                    if entry.mode == tree_entry::TREE {
                        open.push(entry.id);
                    } else {
                        found.insert(entry.id);
                    }
                }
            }
            ObjectKind::Blob | ObjectKind::Any => {}
        }
    }
    Ok(found)
}

/// Returns the files of a folder and of those in it. Nothing but folders of objects lies there, one deep.
fn files_below(objects: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![objects.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// Returns the id of a loose object; none for what is not one: the remains of a writing that was killed.
fn id_of(objects: &Path, file: &Path) -> Option<Oid> {
    let place = file.strip_prefix(objects).ok()?.to_str()?.replace(['/', '\\'], "");
    Oid::from_str(&place).ok().filter(|_| place.len() == 40)
}
