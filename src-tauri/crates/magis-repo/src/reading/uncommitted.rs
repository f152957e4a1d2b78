//! What the work tree has otherwise than the tree of `HEAD`: what `git add --all` and `git write-tree` would make of it.
//!
//! The user's index is read and left as it is. Content passes git's own filters (line ends, `ident`); a file with a filter that only the `git` program could
//! run keeps its staged version, with a note.

use super::bounds::MAX_BLOB;
use super::work_tree::Cleaner;
use super::{Frame, Opened, Parts, filter, staged};
use crate::tree_entry::Slot;
use crate::{RepoError, tree_entry};
use git2::{Delta, DiffOptions, Oid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that is another one in the work tree. Its path, and after it its content, are the bytes beside this.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChangedFile {
    /// How many bytes the path has.
    pub path: usize,
    /// Its mode and content; none: it is gone.
    pub becomes: Option<(u32, NewContent)>,
}

/// Where the new content of a file is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NewContent {
    /// The repository has it, because it is staged.
    Object {
        id: String,
    },
    Bytes,
}

/// Tells each file of the work tree that is another one than in the tree `head`; the last word on a path counts. Returns what a person should know.
pub(super) fn changes(repository: &Opened, head: Oid, parts: Parts<'_>) -> Result<Vec<String>, RepoError> {
    let cleaner = Cleaner::open(repository)?;
    let index = cleaner.index(repository)?;
    let handle = cleaner.objects();
    let modes = Modes::of_repository(handle)?;
    let mut notes = Vec::new();
    let mut tell = |path: &[u8], becomes: Option<(u32, NewContent)>, content: &[u8]| {
        let part = ChangedFile {
            path: path.len(),
            becomes,
        };
        let frame = Frame::of(&part)?.with([path, content].concat());
        Ok::<_, RepoError>(parts(frame).is_break())
    };
    for (path, slot) in differing(handle, &index, head)? {
        let becomes = match slot {
            Slot::Gone => None,
            Slot::Holds { mode, id } => Some((mode, NewContent::Object { id: id.to_string() })),
        };
        if tell(&path, becomes, b"")? {
            return Ok(notes);
        }
    }
    let diff = staged::compare(repository, handle, &index)?;
    for delta in diff.deltas() {
        let Some(path) = staged::path_of(&delta) else { continue };
        let name = String::from_utf8_lossy(path).into_owned();
        if path.ends_with(b"/") {
            notes.push(format!("'{name}' is a repository of its own and left out."));
            continue;
        }
        let inside = std::str::from_utf8(path).ok().map(Path::new);
        if delta.status() == Delta::Untracked && inside.is_some_and(|inside| cleaner.is_in_ignored(inside)) {
            continue;
        }
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
                tell(path, None, b"")?;
            }
            continue;
        };
        if metadata.is_dir() {
            tell(path, None, b"")?;
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
            tell(path, None, b"")?;
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
        let mode = modes.of(&metadata, entry.map(|entry| entry.mode));
        let is_over = if metadata.is_symlink() {
            let target = fs::read_link(&place).map_err(RepoError::io("reading the link", &place))?;
            let target = target.as_os_str().as_encoded_bytes();
            tell(path, Some((mode, NewContent::Bytes)), target)?
        } else {
            let cleaned = cleaner.clean(&index, inside)?;
            tell(path, Some((mode, NewContent::Bytes)), cleaned.content())?
        };
        if is_over {
            break;
        }
    }
    Ok(notes)
}

/// Which modes of the work tree count. What libgit2 says of a difference is not asked: where `core.fileMode` is off, a file that became a link has a mode there
/// that is neither's.
struct Modes {
    programs: bool,
    links: bool,
}

impl Modes {
    fn of_repository(handle: &git2::Repository) -> Result<Self, RepoError> {
        let config = handle.config().map_err(RepoError::git("reading the configuration"))?;
        let counts = |key| config.get_bool(key).unwrap_or(true);
        Ok(Self {
            programs: cfg!(unix) && counts("core.fileMode"),
            links: counts("core.symlinks"),
        })
    }

    /// Returns the mode that git would stage for a file or a link, where this one is staged.
    fn of(&self, metadata: &fs::Metadata, staged: Option<u32>) -> u32 {
        match staged {
            _ if metadata.is_symlink() => tree_entry::LINK,
            Some(tree_entry::LINK) if !self.links => tree_entry::LINK,
            Some(staged @ (tree_entry::FILE | tree_entry::PROGRAM)) if !self.programs => staged,
            _ if self.programs && is_program(metadata) => tree_entry::PROGRAM,
            _ => tree_entry::FILE,
        }
    }
}

#[cfg(unix)]
fn is_program(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_: &fs::Metadata) -> bool {
    false
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
