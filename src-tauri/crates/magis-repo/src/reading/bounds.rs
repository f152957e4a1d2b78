//! How large what git holds may be, and looking at that before it is read: a few objects of a few bytes can stand for more
//! files than any machine holds.
//!
//! Sizes are asked of the object database, which inflates nothing for it, and a tree is measured without being spelled out:
//! each of its folders is read once, however often it occurs. Not caught: a small object that git keeps as the difference
//! from an enormous one, and commits of enormous size on the way through the history; both are libgit2's to inflate.

use crate::tree_walk::MAX_DEPTH;
use crate::{RepoError, tree_entry};
use git2::{ErrorCode, ObjectType, Odb, Oid};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The most files and folders of a tree.
pub(crate) const MAX_ENTRIES: u64 = 1_000_000;
/// The most bytes that the paths of a tree take.
const MAX_PATH_BYTES: u64 = 256 << 20;
/// The most bytes that are read of one object: of a commit or tag, of a tree, of a file.
const MAX_COMMIT: u64 = 16 << 20;
const MAX_TREE: u64 = 64 << 20;
/// Likewise, and of a file of the work tree.
pub(crate) const MAX_BLOB: u64 = 64 << 20;
/// The folders that are measured between two beats.
const BEAT: usize = 256;
/// The most measured trees that are remembered.
const KEPT: usize = 4_096;

/// Returns the kind and the bytes of an object; an error where it is another kind, is missing or too large.
pub(crate) fn read(odb: &Odb<'_>, id: Oid, kind: ObjectType) -> Result<(ObjectType, Vec<u8>), RepoError> {
    read_at_most(odb, id, kind, None)
}

/// As [`read`], with a limit of the caller's beside ours.
pub(crate) fn read_at_most(
    odb: &Odb<'_>,
    id: Oid,
    kind: ObjectType,
    most: Option<u64>,
) -> Result<(ObjectType, Vec<u8>), RepoError> {
    check(odb, id, kind, most)?;
    let object = odb.read(id).map_err(|source| failed(source, id, kind))?;
    if kind == ObjectType::Any || object.kind() == kind {
        Ok((object.kind(), object.data().to_vec()))
    } else {
        Err(missing(id, kind))
    }
}

/// Looks at the header of an object: an error where it is missing or too large.
pub(crate) fn check(odb: &Odb<'_>, id: Oid, kind: ObjectType, most: Option<u64>) -> Result<(), RepoError> {
    let (bytes, found) = odb.read_header(id).map_err(|source| failed(source, id, kind))?;
    let limit = match found {
        ObjectType::Tree => MAX_TREE,
        ObjectType::Blob => MAX_BLOB,
        ObjectType::Any | ObjectType::Commit | ObjectType::Tag => MAX_COMMIT,
    };
    let limit = limit.min(most.unwrap_or(u64::MAX));
    if bytes as u64 > limit {
        return Err(RepoError::ObjectTooLarge {
            kind: kind.str().into(),
            id: id.to_string(),
            bytes: bytes as u64,
            limit,
        });
    }
    Ok(())
}

fn missing(id: Oid, kind: ObjectType) -> RepoError {
    RepoError::ObjectMissing {
        kind: kind.str().into(),
        id: id.to_string(),
    }
}

fn failed(source: git2::Error, id: Oid, kind: ObjectType) -> RepoError {
    match source.code() {
        ErrorCode::NotFound => missing(id, kind),
        _ => RepoError::git("reading an object")(source),
    }
}

/// What a tree comes to with everything in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    entries: u64,
    /// Bytes of all their paths.
    path_bytes: u64,
    /// How many folders lie one in another, this one included.
    depth: usize,
}

impl Extent {
    /// Takes in an entry with a name of so many bytes; a folder with its extent.
    fn take(&mut self, name: usize, folder: Option<Self>) {
        let (name, below) = (name as u64 + 1, folder.unwrap_or_default());
        self.entries = self.entries.saturating_add(1).saturating_add(below.entries);
        self.path_bytes = self
            .path_bytes
            .saturating_add(name)
            .saturating_add(below.path_bytes)
            .saturating_add(below.entries.saturating_mul(name));
        self.depth = self.depth.max(below.depth + 1);
    }
}

/// A folder that is being measured.
struct Open {
    id: Oid,
    extent: Extent,
    /// Folders in it that are still to be measured, with the lengths of their names.
    left: Vec<(Oid, usize)>,
}

/// Refuses a tree that is too large or too deep to be spelled out, before anybody does. Folders that are missing count as
/// empty. Once in some hundred folders `beat` is called, so that a long look can be told from one without end.
pub(crate) fn measure(odb: &Odb<'_>, root: Oid, mut beat: impl FnMut()) -> Result<(), RepoError> {
    /// What an id stands for never changes.
    static MEASURED: Mutex<Option<HashSet<Oid>>> = Mutex::new(None);
    let measured = || MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    if measured().as_ref().is_some_and(|known| known.contains(&root)) {
        return Ok(());
    }
    let too_large = |count, of: &'static str, limit| RepoError::TreeTooLarge {
        tree: root.to_string(),
        count,
        of: of.into(),
        limit,
    };
    let mut known: HashMap<Oid, Extent> = HashMap::new();
    let mut read = 0_u64;
    let mut open = vec![opened(odb, root, &mut read)?];
    while let Some(folder) = open.last_mut() {
        // What was read stands in the tree at least once.
        if read > MAX_ENTRIES {
            return Err(too_large(read, "files and folders", MAX_ENTRIES));
        }
        if let Some((id, name)) = folder.left.pop() {
            match known.get(&id) {
                Some(extent) => folder.extent.take(name, Some(*extent)),
                None => {
                    if known.len() % BEAT == BEAT - 1 {
                        beat();
                    }
                    folder.left.push((id, name));
                    open.push(opened(odb, id, &mut read)?);
                }
            }
        } else {
            known.insert(folder.id, folder.extent);
            open.pop();
        }
        if open.len() > MAX_DEPTH {
            return Err(RepoError::TreeTooDeep {
                tree: root.to_string(),
                limit: MAX_DEPTH,
            });
        }
    }
    let extent = known.get(&root).copied().unwrap_or_default();
    if extent.entries > MAX_ENTRIES {
        return Err(too_large(extent.entries, "files and folders", MAX_ENTRIES));
    }
    if extent.path_bytes > MAX_PATH_BYTES {
        return Err(too_large(extent.path_bytes, "bytes of paths", MAX_PATH_BYTES));
    }
    if extent.depth > MAX_DEPTH {
        return Err(RepoError::TreeTooDeep {
            tree: root.to_string(),
            limit: MAX_DEPTH,
        });
    }
    let mut measured = measured();
    let kept = measured.get_or_insert_default();
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(root);
    Ok(())
}

fn opened(odb: &Odb<'_>, id: Oid, read: &mut u64) -> Result<Open, RepoError> {
    let entries = match self::read(odb, id, ObjectType::Tree) {
        Ok((_, data)) => tree_entry::parsed(id, &data)?,
        Err(RepoError::ObjectMissing { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    *read += entries.len() as u64;
    let mut extent = Extent::default();
    let mut left = Vec::new();
    for entry in entries {
        if entry.mode == tree_entry::TREE {
            left.push((entry.id, entry.name.len()));
        } else {
            extent.take(entry.name.len(), None);
        }
    }
    Ok(Open { id, extent, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_with_all_in_it_wherever_it_stands() {
        let mut inner = Extent::default();
        inner.take(1, None);
        inner.take(1, None);
        assert_eq!(
            inner,
            Extent {
                entries: 2,
                path_bytes: 4,
                depth: 1
            }
        );
        let mut outer = Extent::default();
        // `ab/x`, `ab/y` and `ab` itself, each with the byte that ends it.
        outer.take(2, Some(inner));
        assert_eq!(
            outer,
            Extent {
                entries: 3,
                path_bytes: 3 + 5 + 5,
                depth: 2
            }
        );
    }

    #[test]
    fn what_no_number_holds_is_as_much_as_a_number_can_be() {
        let mut extent = Extent {
            entries: u64::MAX / 2,
            path_bytes: u64::MAX / 2,
            depth: 1,
        };
        extent.take(9, Some(extent));
        extent.take(9, Some(extent));
        assert_eq!((extent.entries, extent.path_bytes), (u64::MAX, u64::MAX));
    }
}
