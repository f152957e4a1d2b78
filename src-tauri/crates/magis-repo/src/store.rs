//! An object database of our own, in which a run's trees and blobs outlive the repository they came from.
//!
//! New objects are written here and nowhere else. The repository's objects are read beside them, never written: not even
//! their time stamps are refreshed.

use crate::{RepoError, Repository};
use std::path::Path;

/// Objects of our own, with those of one repository behind them. Cheap to clone, safe to share.
#[derive(Clone)]
pub struct ObjectStore {}

impl ObjectStore {
    /// Opens, or creates, the store in `folder` for `repository`. One store serves all runs of a repository.
    pub fn open(folder: impl AsRef<Path>, repository: &Repository) -> Result<Self, RepoError> {
        let _ = (folder.as_ref(), repository);
        todo!()
    }

    /// Opens an existing store without its repository, which is still read where it was if it is there.
    pub fn reopen(folder: impl AsRef<Path>) -> Result<Self, RepoError> {
        let _ = folder.as_ref();
        todo!()
    }
}
