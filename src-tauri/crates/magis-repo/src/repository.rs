//! Opening a repository, and saying which kind it is when that does not work.
//!
//! Owns paths only: each operation opens libgit2's handle anew, so that nothing is stale and the type can be shared.

use crate::{RepoError, RepositoryState};
use std::path::{Path, PathBuf};

/// A repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Repository {
    /// Opens the repository that `path`, any folder inside a work tree, belongs to.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RepoError> {
        let _ = path.as_ref();
        todo!()
    }

    /// The root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What state it is in.
    pub fn state(&self) -> Result<RepositoryState, RepoError> {
        crate::state::read(self)
    }

    /// The folder with what belongs to this work tree: `HEAD`, the index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder with what all work trees share: objects, branches, configuration.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }
}
