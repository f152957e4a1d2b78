//! The entries of a git tree, read from its bytes.

use crate::RepoError;
use git2::Oid;
use magis_core::SkipReason;

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

/// What becomes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Gone,
    Holds { mode: u32, id: Oid },
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub mode: u32,
    pub name: Vec<u8>,
    pub id: Oid,
}

impl Entry {
    /// Returns why it is no ordinary file.
    pub fn special(&self) -> Option<SkipReason> {
        match self.mode {
            LINK => Some(SkipReason::Symlink),
            SUBMODULE => Some(SkipReason::Submodule),
            _ => None,
        }
    }
}

/// Returns the entries of the tree `id`, whose bytes are `data`.
pub(crate) fn parsed(id: Oid, data: &[u8]) -> Result<Vec<Entry>, RepoError> {
    parse(data).ok_or_else(|| RepoError::ObjectMissing {
        kind: "tree".into(),
        id: id.to_string(),
    })
}

/// Returns what git sorts by: folders as if their names ended in a slash.
pub(crate) fn git_name(entry: &Entry) -> Vec<u8> {
    let mut name = entry.name.clone();
    if entry.mode == TREE {
        name.push(b'/');
    }
    name
}

/// Returns the tree of a commit, which its first line names.
pub(crate) fn tree_of_commit(commit: &[u8]) -> Option<Oid> {
    let line = commit.split(|byte| *byte == b'\n').next()?;
    Oid::from_str(std::str::from_utf8(line).ok()?.strip_prefix("tree ")?).ok()
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
