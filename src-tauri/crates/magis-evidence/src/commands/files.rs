//! The files of a project as the finders look at them: bounded, without what belongs to others.

use super::ProjectFiles;
use magis_core::RepoPath;
use std::collections::BTreeSet;
use std::ops::Bound;

/// The longest file that is read, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
/// How deep a folder with a manifest of its own may lie.
const MAX_DEPTH: usize = 4;
/// How many folders with a manifest of one kind are looked at.
const MAX_FOLDERS: usize = 32;
/// Folders that hold the code of others, built things, or projects that are themselves data of tests.
const FOREIGN: [&str; 14] = [
    "node_modules",
    "vendor",
    "third_party",
    "third-party",
    "site-packages",
    "target",
    "build",
    "dist",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-fixtures",
    "examples",
    "templates",
];

/// The files of a project.
pub(super) struct Tree<'a> {
    files: &'a dyn ProjectFiles,
    paths: BTreeSet<&'a str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(files: &'a dyn ProjectFiles) -> Self {
        Self {
            files,
            paths: files.paths().iter().map(RepoPath::as_str).collect(),
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Returns the text of a file; none where it is missing, too long or no text.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let path = self.has(path).then(|| RepoPath::new(path).ok()).flatten()?;
        self.files.text(&path).filter(|text| text.len() <= MAX_FILE_BYTES)
    }

    /// Finds the folders with a file of one of these names, nearest to the root first.
    pub(super) fn folders_with(&self, names: &[&str]) -> Vec<String> {
        self.folders_where(|name| names.contains(&name))
    }

    /// Finds the folders with a file whose name fits, nearest to the root first.
    pub(super) fn folders_where(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let mut folders: Vec<&str> = self
            .paths
            .iter()
            .map(|path| path.rsplit_once('/').unwrap_or(("", path)))
            .filter(|(folder, name)| fits(name) && depth(folder) <= MAX_DEPTH && !is_foreign(folder))
            .map(|(folder, _)| folder)
            .collect();
        folders.sort_by_key(|folder| (depth(folder), *folder));
        folders.dedup();
        folders.truncate(MAX_FOLDERS);
        folders.into_iter().map(str::to_owned).collect()
    }

    /// Returns the files below a folder, by their paths relative to it, without those of others.
    pub(super) fn below(&self, folder: &str) -> Vec<&'a str> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let inside = self
            .paths
            .range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        let inside = inside.map_while(|path| path.strip_prefix(prefix.as_str()));
        let own = inside.filter(|path| !is_foreign(path.rsplit_once('/').map_or("", |(folder, _)| folder)));
        own.collect()
    }
}

/// Keeps the folders that lie in none of the others.
pub(super) fn outermost(folders: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for folder in folders {
        if !kept.iter().any(|outer| is_within(outer, &folder)) {
            kept.push(folder);
        }
    }
    kept
}

/// Puts a path relative to a folder behind that folder.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

/// Returns a path relative to a folder; none where it does not lie in it.
pub(super) fn relative<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

pub(super) fn is_within(outer: &str, folder: &str) -> bool {
    outer.is_empty() || folder == outer || relative(outer, folder).is_some()
}

pub(super) fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns whether what stands behind the last dot of a path is one of these.
pub(super) fn has_extension(path: &str, extensions: &[&str]) -> bool {
    file_name(path)
        .rsplit_once('.')
        .is_some_and(|(_, extension)| extensions.contains(&extension))
}

/// Returns the last part of a path without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn is_foreign(folder: &str) -> bool {
    folder.split('/').any(|part| FOREIGN.contains(&part))
}
