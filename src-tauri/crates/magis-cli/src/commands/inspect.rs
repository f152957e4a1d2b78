//! Finding what a person names in the data folder.

use super::git;
use crate::failure::Failure;
use magis_engine::Magis;
use magis_engine::records::RepositoryEntry;
use std::path::{Path, PathBuf};

/// Returns the repository at `path`, where the data folder knows it. One that is gone from the disk is found by the
/// folder it was in.
pub fn known_repository(magis: &Magis, path: &Path) -> Result<Option<RepositoryEntry>, Failure> {
    let root = match git()?.open(path) {
        Ok(repository) => repository.root().to_owned(),
        Err(error) if path.exists() => return Err(error.into()),
        Err(_) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    };
    let root = plain(&root);
    Ok(magis
        .repositories()?
        .into_iter()
        .find(|known| plain(Path::new(&known.root)) == root))
}

fn plain(root: &Path) -> PathBuf {
    root.components().collect()
}
