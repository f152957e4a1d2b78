//! Git trees as data: reading one, finding a file in it, and changing some of its files.
//!
//! Trees are written by hand instead of by libgit2, which would want every blob of theirs in our own database. Nothing
//! here recurses: how deep a tree is, whoever made it decides. How large one may be is `bounds`' business.

use crate::tree_entry::{Entry, Slot, TREE, git_name, parsed};
use crate::tree_walk::join;
use crate::{ObjectStore, RepoError};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the entries of the tree `id`, in git's order.
pub(crate) fn entries(store: &ObjectStore, id: Oid) -> Result<Vec<Entry>, RepoError> {
    parsed(id, &store.read(id, ObjectType::Tree)?)
}

/// Returns the entry at `path`. The trees on the way are copied into the store.
pub(crate) fn find(store: &ObjectStore, root: Oid, path: &str) -> Result<Option<Entry>, RepoError> {
    let mut tree = root;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        store.keep(tree, ObjectType::Tree)?;
        let Some(entry) = entries(store, tree)?
            .into_iter()
            .find(|entry| entry.name == part.as_bytes())
        else {
            return Ok(None);
        };
        if parts.peek().is_none() {
            return Ok(Some(entry));
        }
        if entry.mode != TREE {
            return Ok(None);
        }
        tree = entry.id;
    }
    Ok(None)
}

/// Returns the tree `root` with `changes`, written into the store.
pub(crate) fn edit(store: &ObjectStore, root: Oid, changes: &BTreeMap<Vec<u8>, Slot>) -> Result<Oid, RepoError> {
    // The folders that change. A path sorts before those that go on from it: the outer ones come first.
    let mut folders: BTreeMap<Vec<u8>, Folder> = BTreeMap::new();
    folders.entry(Vec::new()).or_default().tree = Some(root);
    for (path, slot) in changes {
        let (mut inner, name) = split(path);
        let folder = folders.entry(inner.to_vec()).or_default();
        folder.files.insert(name.to_vec(), *slot);
        while !inner.is_empty() {
            let (outer, name) = split(inner);
            if !folders.entry(outer.to_vec()).or_default().folders.insert(name.to_vec()) {
                break;
            }
            inner = outer;
        }
    }
    let paths: Vec<Vec<u8>> = folders.keys().cloned().collect();
    for path in paths {
        let Some(folder) = folders.get_mut(&path) else { continue };
        let Some(id) = folder.tree else { continue };
        let entries = entries(store, id)?;
        folder.old = entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let below = folder.folders.iter().filter_map(|name| {
            let entry = folder.old.get(name).filter(|entry| entry.mode == TREE)?;
            Some((join(&path, name), entry.id))
        });
        for (below, id) in below.collect::<Vec<_>>() {
            folders.entry(below).or_default().tree = Some(id);
        }
    }
    let mut made: BTreeMap<Vec<u8>, Option<Oid>> = BTreeMap::new();
    while let Some((path, folder)) = folders.pop_last() {
        let id = folder.written(store, &path, |below| made.remove(below).flatten())?;
        made.insert(path, id);
    }
    match made.remove(&b""[..]).flatten() {
        Some(id) => Ok(id),
        None => store.write(ObjectType::Tree, b""),
    }
}

/// A folder that changes.
#[derive(Default)]
struct Folder {
    /// What it is before.
    tree: Option<Oid>,
    old: BTreeMap<Vec<u8>, Entry>,
    /// Folders in it that change.
    folders: BTreeSet<Vec<u8>>,
    /// Files in it that change.
    files: BTreeMap<Vec<u8>, Slot>,
}

impl Folder {
    /// Writes it; none where nothing is left in it. `below` gives what became of a folder in it, by its path.
    fn written(
        self,
        store: &ObjectStore,
        path: &[u8],
        mut below: impl FnMut(&Vec<u8>) -> Option<Oid>,
    ) -> Result<Option<Oid>, RepoError> {
        let mut entries = self.old;
        let names: BTreeSet<&Vec<u8>> = self.folders.iter().chain(self.files.keys()).collect();
        for name in names {
            let old = entries.remove(name);
            let folder = if self.folders.contains(name) {
                below(&join(path, name))
            } else {
                old.as_ref().filter(|entry| entry.mode == TREE).map(|entry| entry.id)
            };
            let old_file = old.filter(|entry| entry.mode != TREE).map(|entry| Slot::Holds {
                mode: entry.mode,
                id: entry.id,
            });
            let (mode, id) = match (folder, self.files.get(name).copied().or(old_file)) {
                (Some(_), Some(Slot::Holds { .. })) => {
                    let path = join(path, name);
                    return Err(RepoError::Collision(String::from_utf8_lossy(&path).into_owned()));
                }
                (Some(id), _) => (TREE, id),
                (None, Some(Slot::Holds { mode, id })) => (mode, id),
                (None, Some(Slot::Gone) | None) => continue,
            };
            let name = name.clone();
            entries.insert(name.clone(), Entry { mode, name, id });
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let mut entries: Vec<Entry> = entries.into_values().collect();
        entries.sort_by_cached_key(git_name);
        store.write(ObjectType::Tree, &serialize(&entries)).map(Some)
    }
}

/// Returns a path as the folder it lies in and its name there.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

fn serialize(entries: &[Entry]) -> Vec<u8> {
    let mut data = Vec::new();
    for entry in entries {
        data.extend(format!("{:o} ", entry.mode).into_bytes());
        data.extend(&entry.name);
        data.push(0);
        data.extend(entry.id.as_bytes());
    }
    data
}
