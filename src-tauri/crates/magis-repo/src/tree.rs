//! Git trees as data: reading one, finding a file in it, and changing some of its files.
//!
//! Trees are written by hand instead of by libgit2, which would want every blob of theirs in our own database. Nothing
//! here recurses: how deep a tree is, whoever made it decides. How large one may be is `bounds`' business.

use crate::bounds::MAX_DEPTH;
use crate::tree_entry::{Entry, SUBMODULE, TREE, parsed};
use crate::{ObjectStore, RepoError};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Gone,
    Holds { mode: u32, id: Oid },
}

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

/// Returns the first `most` paths, in their order, of files that the tree `new` has otherwise than `old`; submodules
/// left out. Folders whose ids are the same are not looked into. What a tree made to fill the machine has beyond the
/// bounds is not looked at either.
pub(crate) fn changed(
    entries: impl Fn(Oid) -> Result<Vec<Entry>, RepoError>,
    old: Option<Oid>,
    new: Oid,
    most: usize,
) -> Result<Vec<Vec<u8>>, RepoError> {
    let mut changed = Vec::new();
    let mut looked = 0;
    // What is still to be compared, the next one last.
    let mut left = vec![Pair {
        path: Vec::new(),
        depth: 0,
        old: old.map(|id| (TREE, id)),
        new: Some((TREE, new)),
    }];
    while let Some(pair) = left.pop() {
        let is_file = |side: Option<(u32, Oid)>| side.is_some_and(|(mode, _)| mode != TREE);
        if is_file(pair.old) || is_file(pair.new) {
            changed.push(pair.path.clone());
        }
        if changed.len() == most || looked == MOST_LOOKED || left.len() > MOST_LOOKED {
            break;
        }
        let folder = |side: Option<(u32, Oid)>| side.filter(|(mode, _)| *mode == TREE).map(|(_, id)| id);
        let (old, new) = (folder(pair.old), folder(pair.new));
        if (old.is_none() && new.is_none()) || pair.depth == MAX_DEPTH {
            continue;
        }
        looked += 1;
        let mut inside: BTreeMap<Vec<u8>, Pair> = BTreeMap::new();
        for (id, is_new) in [(old, false), (new, true)] {
            let Some(id) = id else { continue };
            for entry in entries(id)?.into_iter().filter(|entry| entry.mode != SUBMODULE) {
                let pair = inside.entry(git_name(&entry)).or_insert_with(|| Pair {
                    path: entry.name,
                    depth: pair.depth + 1,
                    old: None,
                    new: None,
                });
                let side = if is_new { &mut pair.new } else { &mut pair.old };
                *side = Some((entry.mode, entry.id));
            }
        }
        let differing = inside.into_values().filter(|pair| pair.old != pair.new);
        left.extend(differing.rev().map(|inner| Pair {
            path: join(&pair.path, &inner.path),
            ..inner
        }));
    }
    Ok(changed)
}

/// What two trees have at a path: mode and id.
struct Pair {
    path: Vec<u8>,
    depth: usize,
    old: Option<(u32, Oid)>,
    new: Option<(u32, Oid)>,
}

/// The most folders that are compared, and the most paths that wait for it.
const MOST_LOOKED: usize = 100_000;

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

/// Returns the path of `name` in `folder`.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
}

/// Returns what git sorts by: folders as if their names ended in a slash.
fn git_name(entry: &Entry) -> Vec<u8> {
    let mut name = entry.name.clone();
    if entry.mode == TREE {
        name.push(b'/');
    }
    name
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
