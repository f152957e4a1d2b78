//! Which files of the tree import which, from what their import lines say.
//!
//! An import that could mean several files, or none, is left out; packages outside the tree are none of its business.

use crate::file::File;
use std::collections::{BTreeSet, HashMap};

/// By file: the files it imports and the files that import it, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    near: Vec<BTreeSet<u32>>,
    imported: Vec<BTreeSet<u32>>,
    /// By the end of a module's path, one to six parts long: the files with that end.
    modules: HashMap<String, Vec<u32>>,
}

/// A file imported by more than this is everybody's neighbour, which says nothing.
const MOST: usize = 60;

impl Neighbours {
    /// Resolves the imports of all files.
    pub fn of(files: &[File]) -> Self {
        let modules = modules(files);
        let mut near = vec![BTreeSet::new(); files.len()];
        let mut imported = near.clone();
        for (from, file) in files.iter().enumerate() {
            let folder: Vec<&str> = file.path.parent().split('/').filter(|part| !part.is_empty()).collect();
            for import in &file.metadata.imports {
                for to in resolve(&modules, &folder, &import.target, &import.names) {
                    if to as usize != from {
                        imported[from].insert(to);
                        near[from].insert(to);
                        near[to as usize].insert(from as u32);
                    }
                }
            }
        }
        Self {
            near,
            imported,
            modules,
        }
    }

    /// Returns the files that an import outside of all folders means.
    pub fn meant(&self, target: &str, names: &[String]) -> Vec<u32> {
        resolve(&self.modules, &[], target, names)
    }

    /// Returns the neighbours of a file; none where it has too many to mean anything.
    pub fn near(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        let near = self.near.get(file).filter(|near| near.len() <= MOST);
        near.into_iter().flatten().map(|number| *number as usize)
    }

    /// Returns how many files it imports or is imported by.
    pub fn degree(&self, file: usize) -> usize {
        self.near.get(file).map_or(0, BTreeSet::len)
    }

    /// Returns the files it imports.
    pub fn imported(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        let imported = self.imported.get(file).into_iter().flatten();
        imported.map(|number| *number as usize)
    }
}

/// Returns the parts of a module's path that only say where sources are kept.
pub(crate) fn module_parts(path: &str) -> Vec<&str> {
    let stem = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let cut = stem.rfind('.').filter(|dot| *dot > 0).map_or(0, |dot| stem.len() - dot);
    let mut parts: Vec<&str> = path[..path.len() - cut].split('/').collect();
    if parts.len() > 1 && matches!(parts.last(), Some(&("__init__" | "mod" | "index" | "lib"))) {
        parts.pop();
    }
    parts.retain(|part| !matches!(*part, "src" | "main" | "java" | "kotlin"));
    parts
}

/// By the end of a module's path, one to six parts long: the files with that end.
fn modules(files: &[File]) -> HashMap<String, Vec<u32>> {
    let mut modules: HashMap<String, Vec<u32>> = HashMap::new();
    for (file, number) in files.iter().zip(0..) {
        let parts = module_parts(file.path.as_str());
        for from in parts.len().saturating_sub(6)..parts.len() {
            modules.entry(parts[from..].join("/")).or_default().push(number);
        }
    }
    modules
}

fn resolve(modules: &HashMap<String, Vec<u32>>, folder: &[&str], target: &str, names: &[String]) -> Vec<u32> {
    let mut path = absolute(folder, target);
    path.retain(|part| !matches!(part.as_str(), "src" | "main" | "java" | "kotlin"));
    let mut found: Vec<u32> = names
        .iter()
        .filter_map(|name| only(modules, &[path.as_slice(), std::slice::from_ref(name)].concat()))
        .collect();
    // `a.b.C` may be the module a.b and its C.
    for length in (1..=path.len()).rev().take(2) {
        if length == 1 && path.len() > 1 {
            break;
        }
        if let Some(file) = only(modules, &path[..length]) {
            found.push(file);
            break;
        }
    }
    found
}

/// Returns the one file with this end.
fn only(modules: &HashMap<String, Vec<u32>>, path: &[String]) -> Option<u32> {
    let from = path.len().saturating_sub(6);
    match modules.get(&path[from..].join("/")).map(Vec::as_slice) {
        Some([file]) => Some(*file),
        _ => None,
    }
}

/// Returns the parts of an import's target, seen from the root where it is relative: `..a.b`, `./a/b.js`, `crate::a`,
/// `a/b.h`.
fn absolute(folder: &[&str], target: &str) -> Vec<String> {
    let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    if target.contains('/') || target.starts_with("./") {
        let relative = target.starts_with('.');
        let mut parts = if relative { owned(folder) } else { Vec::new() };
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                _ => parts.push(part.to_owned()),
            }
        }
        if let Some(last) = parts.last_mut()
            && let Some((stem, _)) = last.split_once('.').filter(|(stem, _)| !stem.is_empty())
        {
            *last = stem.to_owned();
        }
        return parts;
    }
    let dots = target.bytes().take_while(|byte| *byte == b'.').count();
    let mut parts = if dots > 0 {
        owned(&folder[..folder.len().saturating_sub(dots - 1)])
    } else {
        Vec::new()
    };
    let target = target[dots..]
        .trim_end_matches(".h")
        .trim_end_matches(".hpp")
        .replace("::", ".")
        .replace('\\', ".");
    parts.extend(
        target
            .split('.')
            .filter(|part| !matches!(*part, "" | "crate" | "self" | "super" | "*"))
            .map(ToOwned::to_owned),
    );
    parts
}
