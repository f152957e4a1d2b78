//! Repositories whose object stores hold what only deleted runs needed, and perhaps their indexes, too: noted in the
//! transaction that deletes a run, so that a pruning which was interrupted, or had to wait, is made up for.
//!
//! It touches no object; whoever keeps the object stores does.

use crate::error::DatabaseError;
use crate::{Store, StoreError};
use magis_core::{RepoId, RunId};
use rusqlite::Transaction;

/// Object stores that were never pruned are, once.
pub(crate) const VERSION_7: &str = "\
CREATE TABLE pending_prunings (
    repo       INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    with_index INTEGER NOT NULL
) STRICT;
INSERT INTO pending_prunings (repo, with_index) SELECT id, 0 FROM repositories;";

/// A repository of which a run was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingPruning {
    pub repo: RepoId,
    /// Whether a deleted run read uncommitted work, which the index then holds, too.
    pub with_index: bool,
}

/// Notes that the objects of a run are to be pruned; before the run is deleted.
pub(crate) fn note(transaction: &Transaction<'_>, run: RunId) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT INTO pending_prunings (repo, with_index)
             SELECT repo, coalesce(uncommitted, 0) FROM runs WHERE id = ?1 AND repo IS NOT NULL
         ON CONFLICT (repo) DO UPDATE SET with_index = max(with_index, excluded.with_index)",
        [run.0],
    )?;
    Ok(())
}

impl Store {
    /// Returns the repositories whose object stores are to be pruned.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pending_prunings(&self) -> Result<Vec<PendingPruning>, StoreError> {
        self.read("listing what is to be pruned", |transaction| {
            let mut statement =
                transaction.prepare_cached("SELECT repo, with_index FROM pending_prunings ORDER BY repo")?;
            let rows = statement.query_map([], |row| {
                Ok(PendingPruning {
                    repo: RepoId(row.get(0)?),
                    with_index: row.get(1)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Notes that the object store of a repository is pruned.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_pruning(&self, repo: RepoId) -> Result<(), StoreError> {
        self.write("noting a pruning", |transaction| {
            transaction.execute("DELETE FROM pending_prunings WHERE repo = ?1", [repo.0])?;
            Ok(())
        })
    }

    /// Returns every run of a repository, the removed ones that can still be had back among them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_runs_of(&self, repo: RepoId) -> Result<Vec<RunId>, StoreError> {
        self.read("listing the runs of a repository", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT id FROM runs WHERE repo = ?1 ORDER BY id")?;
            let rows = statement.query_map([repo.0], |row| row.get(0).map(RunId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns every repository, the removed ones that can still be had back among them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_repositories(&self) -> Result<Vec<RepoId>, StoreError> {
        self.read("listing the repositories", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT id FROM repositories ORDER BY id")?;
            let rows = statement.query_map([], |row| row.get(0).map(RepoId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
