//! A repository, as the rest of the program holds it.

use crate::git::Reader;
use crate::located::looked_at;
use crate::reading::{Opened, Request};
use crate::{BaseChoice, Git, HeadPlace, RepoError, RepositoryState};
use git2::ObjectType;
use magis_core::{Base, CommitId, RepoPath};
use std::fs;
use std::path::Path;

/// A repository with a work tree. Cheap to clone, safe to share; nothing of it is held, so nothing is stale.
#[derive(Debug, Clone)]
pub struct Repository {
    opened: Opened,
    reader: Reader,
}

/// Two are equal that lie in the same place.
impl PartialEq for Repository {
    fn eq(&self, other: &Self) -> bool {
        self.opened == other.opened
    }
}

impl Eq for Repository {}

impl Git {
    /// Opens the repository that `path`, any folder inside a work tree, belongs to.
    ///
    /// # Errors
    /// When the folder is no repository, or one that cannot be read.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Repository, RepoError> {
        let path = path.as_ref().to_owned();
        let reader = self.repository_reader(&path);
        let opened: Opened = reader.ask(Request::Open { path: path.clone() })?;
        check_place(&path, &opened)?;
        Ok(Repository { opened, reader })
    }
}

/// Refuses a repository that is said to lie elsewhere than around `path`. Patches and branches are written where it lies, and whoever reads it may have been
/// taken over by what it read.
fn check_place(path: &Path, opened: &Opened) -> Result<(), RepoError> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let located = looked_at(path)?;
    let is_there = located.is_some_and(|located| {
        let around = real(path).zip(real(opened.root()));
        around.is_some_and(|(path, root)| path.starts_with(root))
            && real(opened.git_dir()) == real(&located.git_dir)
            && real(opened.common_dir()) == real(&located.common_dir)
    });
    if is_there {
        return Ok(());
    }
    Err(RepoError::ReadingLost {
        repository: path.to_owned(),
        how: "its process named folders of another repository".to_owned(),
    })
}

impl Repository {
    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        self.opened.root()
    }

    /// Returns the folder with what belongs to this work tree: `HEAD`, the index.
    pub fn git_dir(&self) -> &Path {
        self.opened.git_dir()
    }

    /// Returns the folder with what all work trees share: objects, branches, configuration.
    pub fn common_dir(&self) -> &Path {
        self.opened.common_dir()
    }

    /// Returns how it is read.
    pub fn git(&self) -> &Git {
        self.reader.git()
    }

    /// Returns what state it is in.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn state(&self) -> Result<RepositoryState, RepoError> {
        let reader = &self.reader;
        // What all of it begins with is read by itself, so that an object without end is given up soon.
        let head: Base = reader.ask(Request::Base {
            choice: BaseChoice::Head,
        })?;
        reader.bytes(Request::Measure { tree: head.tree.0 })?;
        reader.ask(Request::State)
    }

    /// Returns where `HEAD` stands now.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn head_place(&self) -> Result<HeadPlace, RepoError> {
        self.reader.ask(Request::HeadPlace)
    }

    /// Returns the short names of the local branches, in the order of the alphabet. Names that are not UTF-8 are left
    /// out.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn branches(&self) -> Result<Vec<String>, RepoError> {
        self.reader.ask(Request::Branches)
    }

    /// Returns whether the repository has this commit with this tree.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn has(&self, base: &Base) -> Result<bool, RepoError> {
        self.reader.ask(Request::Has { base: base.clone() })
    }

    /// Returns how many commits HEAD has beyond this one; none where HEAD does not go on from it, or it is not here.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commits_since(&self, commit: &CommitId) -> Result<Option<u32>, RepoError> {
        self.reader.ask(Request::CommitsSince { commit: commit.clone() })
    }

    /// Returns the ignored files that the project's own code needs to be imported: generated Python, extensions compiled in place, and what is
    /// written of an editable installation. Files in ignored folders (environments, caches, builds) are not among them.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn built_files(&self) -> Result<Vec<RepoPath>, RepoError> {
        self.reader.ask(Request::BuiltFiles)
    }

    /// Returns the bytes of an object.
    pub(crate) fn object(&self, id: &str, kind: ObjectType) -> Result<Vec<u8>, RepoError> {
        self.reader.bytes(Request::Object {
            id: id.to_owned(),
            kind: kind.into(),
            most: None,
        })
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }
}
