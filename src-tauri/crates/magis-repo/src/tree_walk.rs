//! Going through trees and comparing them, whoever reads them.

use crate::RepoError;
use crate::tree_entry::{Entry, SUBMODULE, TREE, git_name};
use git2::Oid;
use std::collections::BTreeMap;

/// Folders lie at the most so deep: git's own `core.maxTreeDepth`.
pub(crate) const MAX_DEPTH: usize = 2_048;
/// Returns the path of `name` in `folder`.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
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
