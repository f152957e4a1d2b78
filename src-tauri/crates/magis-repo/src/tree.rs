//! Git trees as data: reading one, finding a file in it, and changing some of its files.
//!
//! Trees are written by hand instead of by libgit2, which would want every blob of theirs in our own database.

use crate::{ObjectStore, RepoError};
use git2::{ObjectType, Oid};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The mode of a folder.
pub(crate) const TREE: u32 = 0o040_000;
/// The mode of a symbolic link.
pub(crate) const LINK: u32 = 0o120_000;
/// The mode of a submodule.
pub(crate) const SUBMODULE: u32 = 0o160_000;
/// The mode of an ordinary file.
pub(crate) const FILE: u32 = 0o100_644;
/// The mode of a program.
pub(crate) const PROGRAM: u32 = 0o100_755;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub mode: u32,
    pub name: Vec<u8>,
    pub id: Oid,
}

/// What becomes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Gone,
    Holds { mode: u32, id: Oid },
}

/// The entries of the tree `id`, in git's order.
pub(crate) fn entries(store: &ObjectStore, id: Oid) -> Result<Vec<Entry>, RepoError> {
    let data = store.read(id, ObjectType::Tree)?;
    parse(&data).ok_or_else(|| RepoError::ObjectMissing {
        kind: "tree",
        id: id.to_string(),
    })
}

/// The entry at `path`. The trees on the way are copied into the store.
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

/// The tree `root` with `changes`, written into the store.
pub(crate) fn edit(store: &ObjectStore, root: Oid, changes: &BTreeMap<Vec<u8>, Slot>) -> Result<Oid, RepoError> {
    let changes: Vec<(&[u8], Slot)> = changes.iter().map(|(path, slot)| (path.as_slice(), *slot)).collect();
    match edit_below(store, Some(root), &changes, b"")? {
        Some(id) => Ok(id),
        None => store.write(ObjectType::Tree, b""),
    }
}

/// Changes of one name: of itself, and of what lies below it.
#[derive(Default)]
struct Named<'c> {
    itself: Option<Slot>,
    below: Vec<(&'c [u8], Slot)>,
}

fn edit_below(
    store: &ObjectStore,
    tree: Option<Oid>,
    changes: &[(&[u8], Slot)],
    prefix: &[u8],
) -> Result<Option<Oid>, RepoError> {
    let mut entries: BTreeMap<Vec<u8>, Entry> = BTreeMap::new();
    if let Some(id) = tree {
        entries = self::entries(store, id)?
            .into_iter()
            .map(|entry| (entry.name.clone(), entry))
            .collect();
    }
    let mut by_name: BTreeMap<&[u8], Named<'_>> = BTreeMap::new();
    for (path, slot) in changes {
        match path.iter().position(|byte| *byte == b'/') {
            Some(at) => by_name
                .entry(&path[..at])
                .or_default()
                .below
                .push((&path[at + 1..], *slot)),
            None => by_name.entry(path).or_default().itself = Some(*slot),
        }
    }
    for (name, named) in by_name {
        let old = entries.remove(name);
        let path = [prefix, name].concat();
        let old_tree = old.as_ref().filter(|entry| entry.mode == TREE).map(|entry| entry.id);
        let folder = if named.below.is_empty() {
            old_tree
        } else {
            edit_below(store, old_tree, &named.below, &[&path[..], b"/"].concat())?
        };
        let old_file = old.filter(|entry| entry.mode != TREE).map(|entry| Slot::Holds {
            mode: entry.mode,
            id: entry.id,
        });
        let file = named.itself.or(old_file);
        let new = match (folder, file) {
            (Some(_), Some(Slot::Holds { .. })) => {
                return Err(RepoError::Collision(String::from_utf8_lossy(&path).into_owned()));
            }
            (Some(id), _) => Some((TREE, id)),
            (None, Some(Slot::Holds { mode, id })) => Some((mode, id)),
            (None, Some(Slot::Gone) | None) => None,
        };
        if let Some((mode, id)) = new {
            entries.insert(
                name.to_vec(),
                Entry {
                    mode,
                    name: name.to_vec(),
                    id,
                },
            );
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let mut entries: Vec<Entry> = entries.into_values().collect();
    entries.sort_by(git_order);
    store.write(ObjectType::Tree, &serialize(&entries)).map(Some)
}

/// Git sorts folders as if their names ended in a slash.
fn git_order(one: &Entry, other: &Entry) -> Ordering {
    let key = |entry: &Entry| {
        let mut name = entry.name.clone();
        if entry.mode == TREE {
            name.push(b'/');
        }
        name
    };
    key(one).cmp(&key(other))
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

fn parse(mut data: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !data.is_empty() {
        let space = data.iter().position(|byte| *byte == b' ')?;
        let end = data.iter().position(|byte| *byte == 0)?;
        let mode = u32::from_str_radix(std::str::from_utf8(&data[..space]).ok()?, 8).ok()?;
        let name = data.get(space + 1..end)?.to_vec();
        let id = Oid::from_bytes(data.get(end + 1..end + 21)?).ok()?;
        entries.push(Entry { mode, name, id });
        data = &data[end + 21..];
    }
    Some(entries)
}
