//! From the changes of single files to the repository-level change: the result tree and its patch.
//!
//! Works on trees in memory and writes into our own store only.

use crate::reading::Request;
use crate::tree_entry::{Entry, Slot};
use crate::{ReadError, RepoError, Snapshot, tree, tree_entry};
use git2::{ObjectType, Oid};
use magis_core::{Edit, FileChange, RepoPath, SkipReason, TreeId};
use std::collections::{BTreeMap, BTreeSet};

/// Applies `changes` to the snapshot's tree and gives the result tree and the diff of the two in git's form.
///
/// Files that go or move make room first, so that another change may create a file at their path.
///
/// # Errors
/// When a change does not fit its file, or the object store cannot be written.
pub fn apply_changes(snapshot: &Snapshot, changes: &[(RepoPath, FileChange)]) -> Result<(TreeId, String), RepoError> {
    let mut seen = BTreeSet::new();
    for (path, _) in changes {
        if !seen.insert(path) {
            return Err(RepoError::ChangedTwice(path.clone()));
        }
    }
    let mut slots = BTreeMap::new();
    let mut vacated = BTreeSet::new();
    for (path, change) in changes {
        if let FileChange::Delete | FileChange::Rename { .. } = change {
            slots.insert(path.as_str().as_bytes().to_vec(), Slot::Gone);
            vacated.insert(path);
        }
    }
    let mut filled: BTreeSet<&RepoPath> = BTreeSet::new();
    for (path, change) in changes {
        let (target, slot) = match change {
            FileChange::Modify { edits } => {
                let entry = ordinary(snapshot, path)?;
                (
                    path,
                    Slot::Holds {
                        mode: entry.mode,
                        id: edited(snapshot, path, &entry, edits)?,
                    },
                )
            }
            FileChange::Create { content } => {
                free(snapshot, path, &vacated)?;
                let id = snapshot.store().write(ObjectType::Blob, content.as_bytes())?;
                (
                    path,
                    Slot::Holds {
                        mode: tree_entry::FILE,
                        id,
                    },
                )
            }
            FileChange::Delete => {
                deletable(snapshot, path)?;
                continue;
            }
            FileChange::Rename { to, edits } => {
                let entry = ordinary(snapshot, path)?;
                if to != path {
                    free(snapshot, to, &vacated)?;
                }
                (
                    to,
                    Slot::Holds {
                        mode: entry.mode,
                        id: edited(snapshot, path, &entry, edits)?,
                    },
                )
            }
        };
        if !filled.insert(target) {
            return Err(RepoError::Collision(target.to_string()));
        }
        slots.insert(target.as_str().as_bytes().to_vec(), slot);
    }
    let base = snapshot.tree()?;
    let result = tree::edit(snapshot.store(), base, &slots)?;
    let patch = snapshot.store().reader().bytes(Request::TreeDiff {
        old: base.to_string(),
        new: result.to_string(),
    })?;
    let patch = String::from_utf8(patch).map_err(|_| RepoError::PatchNotUtf8)?;
    Ok((TreeId(result.to_string()), patch))
}

/// Returns the entry of an ordinary file.
fn ordinary(snapshot: &Snapshot, path: &RepoPath) -> Result<Entry, RepoError> {
    let entry = snapshot
        .entry(path)?
        .ok_or_else(|| RepoError::NoSuchFile(path.clone()))?;
    match entry.special() {
        Some(reason) => Err(RepoError::NotText {
            path: path.clone(),
            reason,
        }),
        None => Ok(entry),
    }
}

/// Checks that nothing stands at `path`, or that it goes.
fn free(snapshot: &Snapshot, path: &RepoPath, vacated: &BTreeSet<&RepoPath>) -> Result<(), RepoError> {
    if !vacated.contains(path) && tree::find(snapshot.store(), snapshot.tree()?, path.as_str())?.is_some() {
        return Err(RepoError::AlreadyExists(path.clone()));
    }
    Ok(())
}

/// Returns the blob with the edits. Without edits any content will do.
fn edited(snapshot: &Snapshot, path: &RepoPath, entry: &Entry, edits: &[Edit]) -> Result<Oid, RepoError> {
    if edits.is_empty() {
        snapshot.store().keep(entry.id, ObjectType::Blob)?;
        return Ok(entry.id);
    }
    let source = snapshot.read(path).map_err(|error| match error {
        ReadError::NoSuchFile(path) => RepoError::NoSuchFile(path),
        ReadError::Skipped { reason, .. } => RepoError::NotText {
            path: path.clone(),
            reason,
        },
        ReadError::Repo(error) => error,
    })?;
    let text = Edit::splice(&source.text, edits).map_err(|source| RepoError::Edits {
        path: path.clone(),
        source,
    })?;
    snapshot.store().write(ObjectType::Blob, text.as_bytes())
}

/// Checks that a patch in text form can hold what goes: UTF-8, or what git takes for binary and encodes.
fn deletable(snapshot: &Snapshot, path: &RepoPath) -> Result<(), RepoError> {
    const LOOKED_AT: usize = 8_000;
    let entry = ordinary(snapshot, path)?;
    let content = snapshot.store().read(entry.id, ObjectType::Blob)?;
    snapshot.store().keep(entry.id, ObjectType::Blob)?;
    if content.iter().take(LOOKED_AT).any(|byte| *byte == 0) || std::str::from_utf8(&content).is_ok() {
        return Ok(());
    }
    Err(RepoError::NotText {
        path: path.clone(),
        reason: SkipReason::NotUtf8,
    })
}
