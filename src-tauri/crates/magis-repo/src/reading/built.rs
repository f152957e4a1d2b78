//! Files that an installation or a build has written into a work tree and that git ignores: without them a project may not run.

use super::Opened;
use super::watch::folders::Rules;
use crate::RepoError;
use git2::{Status, StatusOptions};
use magis_core::RepoPath;
use std::fs;
use std::path::Path;

/// How the names end of what is written beside the sources: versions, extensions that were compiled in place.
const ENDINGS: [&str; 4] = [".py", ".so", ".pyd", ".dylib"];
/// How the names of folders end that say what is installed here.
const FOLDERS: [&str; 2] = [".egg-info", ".dist-info"];

/// Returns the ignored files that the project's own code needs to be imported: generated Python, extensions compiled in place, and what is
/// written of an editable installation. Files in ignored folders (environments, caches, builds) are not among them.
pub(super) fn files(repository: &Opened) -> Result<Vec<RepoPath>, RepoError> {
    Rules::check(repository)?;
    let handle = repository.handle()?;
    let mut options = StatusOptions::new();
    options
        .include_ignored(true)
        .include_untracked(false)
        .recurse_ignored_dirs(false)
        .exclude_submodules(true)
        .update_index(false);
    let statuses = handle
        .statuses(Some(&mut options))
        .map_err(RepoError::git("listing the ignored files"))?;
    let mut found = Vec::new();
    for entry in statuses.iter().filter(|entry| entry.status().contains(Status::IGNORED)) {
        // A path that is no text is nothing that a project imports.
        let Ok(path) = entry.path() else { continue };
        let folder = path
            .strip_suffix('/')
            .filter(|folder| FOLDERS.iter().any(|end| folder.ends_with(end)));
        if let Some(folder) = folder {
            let inside = fs::read_dir(repository.root().join(folder))
                .into_iter()
                .flatten()
                .flatten();
            let names = inside.filter_map(|entry| entry.file_name().into_string().ok());
            found.extend(names.map(|name| format!("{folder}/{name}")));
        } else if ENDINGS.iter().any(|end| path.ends_with(end)) {
            found.push(path.to_owned());
        }
    }
    let is_file = |path: &RepoPath| is_file(&repository.root().join(path.as_str()));
    let mut paths: Vec<RepoPath> = found
        .iter()
        .filter_map(|path| RepoPath::new(path).ok())
        .filter(is_file)
        .collect();
    paths.sort();
    Ok(paths)
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}
