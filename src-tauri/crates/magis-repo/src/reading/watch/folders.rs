//! Which folders of a working tree count: those git does not ignore, and ignored ones that hold tracked files; not those
//! of nested repositories and submodules, and nothing behind a symbolic link.

use super::places::Places;
use crate::RepoError;
use crate::ordinary::RuleFiles;
use crate::reading::depth::{MAX_DEPTH, too_deep};
use crate::reading::{Opened, bounds};
use crate::slow_rules::MOST_WAYS_OF_ALL;
use git2::ObjectType;
use std::fs;
use std::path::{Path, PathBuf};

/// What git tracks and ignores, as it stands now.
pub(crate) struct Rules {
    handle: git2::Repository,
    root: PathBuf,
    index: git2::Index,
    rule_files: RuleFiles,
}

/// What a walk is told of.
pub(crate) enum WalkEntry<'a> {
    /// A folder that counts, before its contents are read.
    Folder(&'a Path),
    /// A file or a symbolic link, with the folder's word on it.
    File(&'a Path, &'a fs::DirEntry),
}

impl Rules {
    /// Reads the index, and makes ready to ask for ignored paths.
    pub fn read(repository: &Opened, places: &Places) -> Result<Self, RepoError> {
        let handle = repository.handle()?;
        let index = handle.index().map_err(repository.index_error("reading the index"))?;
        Ok(Self {
            rule_files: RuleFiles::of(&places.root, &handle),
            handle,
            root: places.root.clone(),
            index,
        })
    }

    /// Refuses a work tree in which git would have to read rules from something else than an ordinary file, or to compare them with names for ever.
    pub fn check(repository: &Opened) -> Result<(), RepoError> {
        let rules = Self::read(repository, &Places::of(repository))?;
        let odb = rules.handle.odb().map_err(RepoError::git("opening the objects"))?;
        let inside = |path: &Path| path.strip_prefix(&rules.root).unwrap_or(path).to_owned();
        let mut all = 0.0;
        let mut compare = |path: &[u8]| {
            all += rules.rule_files.ways(path)?;
            match rules.rule_files.too_slow(path) {
                Some(error) if all > MOST_WAYS_OF_ALL => Err(error),
                _ => Ok(()),
            }
        };
        // Where the work tree lacks them, those of the index hold.
        for entry in rules
            .index
            .iter()
            .filter(|entry| entry.path.ends_with(b".gitattributes"))
        {
            if let Ok((_, text)) = bounds::read(&odb, entry.id, ObjectType::Blob) {
                let path = String::from_utf8_lossy(&entry.path).into_owned();
                rules.rule_files.take(&rules.root.join(path), &text);
            }
        }
        rules.walk(&rules.root, &mut |step| match step {
            WalkEntry::Folder(folder) => {
                let folder = inside(folder);
                if folder.components().count() > MAX_DEPTH {
                    return Err(too_deep(repository));
                }
                rules.rule_files.look(&folder)?;
                compare(folder.as_os_str().as_encoded_bytes())
            }
            WalkEntry::File(file, _) => compare(inside(file).as_os_str().as_encoded_bytes()),
        })?;
        rules.index.iter().try_for_each(|entry| compare(&entry.path))
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether what lies at `path`, relative to the root, counts; it need not be there any more.
    pub fn counts(&self, path: &Path) -> bool {
        self.is_tracked(path) || !self.is_ignored(path)
    }

    /// Returns whether a folder, relative to the root, counts.
    pub fn folder_counts(&self, folder: &Path) -> bool {
        if folder.as_os_str().is_empty() {
            return true;
        }
        if folder.file_name().is_some_and(|name| name == ".git") || self.is_nested(folder) {
            return false;
        }
        // The slash says that it is a folder, which a rule such as `build/` asks for.
        let inside = folder.join("");
        self.index.find_prefix(&*inside).is_ok() || !self.is_ignored(&inside)
    }

    /// Goes through `start` (absolute, a folder that counts) and the folders below that count, outer ones first. A folder
    /// that cannot be read, or vanished meanwhile, is passed over; so is what lies deeper than git looks.
    pub fn walk<E>(&self, start: &Path, step: &mut impl FnMut(WalkEntry<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut waiting = vec![start.to_owned()];
        while let Some(folder) = waiting.pop() {
            step(WalkEntry::Folder(&folder))?;
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if !kind.is_dir() {
                    step(WalkEntry::File(&path, &entry))?;
                } else if path
                    .strip_prefix(&self.root)
                    .is_ok_and(|inside| inside.components().count() <= MAX_DEPTH + 1 && self.folder_counts(inside))
                {
                    waiting.push(path);
                }
            }
        }
        Ok(())
    }

    /// Returns whether the index has a file at `path`, be it a side of a conflict.
    fn is_tracked(&self, path: &Path) -> bool {
        // The first of those that begin so is the path itself, where that is there.
        let first = self
            .index
            .find_prefix(path)
            .ok()
            .and_then(|place| self.index.get(place));
        first.is_some_and(|entry| entry.path == path.as_os_str().as_encoded_bytes())
    }

    fn is_ignored(&self, path: &Path) -> bool {
        // Rules that cannot be read ignore nothing; who looks at the work tree says that.
        self.rule_files.look_for(path).is_ok() && self.handle.is_path_ignored(path).unwrap_or(false)
    }

    fn is_nested(&self, folder: &Path) -> bool {
        fs::symlink_metadata(self.root.join(folder).join(".git")).is_ok()
    }
}
