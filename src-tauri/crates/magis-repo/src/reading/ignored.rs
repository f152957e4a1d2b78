//! Folders that git ignores. Git never looks into one for files that are not tracked; libgit2 does where a rule such as `!*.py` takes a file in it out again, or
//! where tracked files lie in it.

use git2::Repository;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders that were asked about, relative to the root.
#[derive(Default)]
pub(super) struct IgnoredFolders(RefCell<BTreeMap<PathBuf, bool>>);

impl IgnoredFolders {
    /// Returns whether a folder around `path`, relative to the root, is ignored.
    pub fn have(&self, path: &Path, handle: &Repository) -> bool {
        path.parent().is_some_and(|folder| self.is_ignored(folder, handle))
    }

    fn is_ignored(&self, folder: &Path, handle: &Repository) -> bool {
        if folder.as_os_str().is_empty() {
            return false;
        }
        let known = self.0.borrow().get(folder).copied();
        known.unwrap_or_else(|| {
            // The slash says that it is a folder, which a rule such as `build/` asks for.
            let is_ignored = self.have(folder, handle) || handle.is_path_ignored(folder.join("")).unwrap_or(false);
            self.0.borrow_mut().insert(folder.to_owned(), is_ignored);
            is_ignored
        })
    }
}
