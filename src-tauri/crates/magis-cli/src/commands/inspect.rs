//! Reading a run together with what is needed to show it.

use crate::failure::Failure;
use crate::render::BaseText;
use magis_core::RunId;
use magis_engine::Magis;
use magis_engine::floors::repo::{self as git, Snapshot};
use magis_engine::floors::store::{CallTotals, Repository, Run, StoredEvent};
use std::path::{Path, PathBuf};

/// A run, its log and its costs.
pub struct Inspected {
    /// What lists show, and the request.
    pub run: Run,
    /// Its log.
    pub events: Vec<StoredEvent>,
    /// What its calls came to.
    pub totals: Vec<CallTotals>,
}

/// Reads a run.
pub fn inspect(magis: &Magis, run: RunId) -> Result<Inspected, Failure> {
    let store = magis.store();
    Ok(Inspected {
        run: store.run(run)?,
        events: store.events(run)?,
        totals: store.call_totals(run)?,
    })
}

/// Reads files of the tree that a run is based on, from the copy that the data folder keeps. Nothing where that is not there: a run that
/// was carried out elsewhere has none.
pub fn base_text(magis: &Magis, run: RunId) -> Result<BaseText, Failure> {
    let Some(repo) = magis.store().run(run)?.entry.repo else {
        return Ok(Box::new(|_| None));
    };
    let base = magis.state(run)?.base().clone();
    Ok(match Snapshot::reopen(magis.data().objects(repo), &base) {
        Ok(snapshot) => Box::new(move |path| snapshot.read(path).ok().map(|source| source.text)),
        Err(_) => Box::new(|_| None),
    })
}

/// The repository at `path`, where the data folder knows it. One that is gone from the disk is found by the folder it was in.
pub fn known_repository(magis: &Magis, path: &Path) -> Result<Option<Repository>, Failure> {
    let root = match git::Repository::open(path) {
        Ok(repository) => repository.root().to_owned(),
        Err(error) if path.exists() => return Err(error.into()),
        Err(_) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    };
    let root = plain(&root);
    Ok(magis
        .store()
        .repositories()?
        .into_iter()
        .find(|known| plain(Path::new(&known.root)) == root))
}

fn plain(root: &Path) -> PathBuf {
    root.components().collect()
}
