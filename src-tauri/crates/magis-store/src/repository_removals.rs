//! Repositories that a person took off the list: a moment ago, when no list shows them and they can still be had back with all
//! that memory holds of them, and then for good.
//!
//! How their texts leave the files is `erasure`'s.

use crate::error::DatabaseError;
use crate::{Erasure, Store, StoreError, erasure, lease, repositories, runs};
use magis_core::RepoId;
use rusqlite::Transaction;

pub(crate) const VERSION_3: &str = "\
CREATE TABLE repository_removals (
    repo       INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    removed_at INTEGER NOT NULL
) STRICT;";

/// What became of a deleted repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedRepository {
    /// Summaries erased with it.
    pub summaries: u32,
    /// Its runs, which stay and can still be read.
    pub runs_kept: u32,
    /// Whether the summaries are gone from the files, too.
    pub erasure: Erasure,
}

impl Store {
    /// Takes a repository off the list; its runs stay, as runs without a repository. Refused while one of them is worked
    /// on. Adding the repository again takes the removal back.
    ///
    /// # Errors
    /// When there is no such repository, a run is being worked on, or the database cannot be written.
    pub fn remove_repository(&self, repo: RepoId, now: i64) -> Result<(), StoreError> {
        self.write("taking a repository off the list", |transaction| {
            repositories::get(transaction, repo)?;
            check_idle(transaction, repo, now)?;
            transaction.execute(
                "INSERT OR IGNORE INTO repository_removals (repo, removed_at) VALUES (?1, ?2)",
                (repo.0, now),
            )?;
            Ok(())
        })
    }

    /// Puts a removed repository back into the list. [`StoreError::NoRepository`] where it is erased by now.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn restore_repository(&self, repo: RepoId) -> Result<(), StoreError> {
        self.write("taking back the removal of a repository", |transaction| {
            transaction.execute("DELETE FROM repository_removals WHERE repo = ?1", [repo.0])?;
            repositories::get(transaction, repo)?;
            Ok(())
        })
    }

    /// Returns the repositories that were removed at `before` or earlier, the first removed first: those to erase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn removed_repositories(&self, before: i64) -> Result<Vec<RepoId>, StoreError> {
        self.read("listing removed repositories", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT repo FROM repository_removals WHERE removed_at <= ?1 ORDER BY removed_at, repo",
            )?;
            let rows = statement.query_map([before], |row| row.get(0).map(RepoId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets a repository of the list, or one that was removed from it, and erases what memory holds of it. Its runs stay.
    /// Refused while one of them is worked on.
    ///
    /// # Errors
    /// When there is no such repository, a run is being worked on, or the database cannot be written.
    pub fn delete_repository(&self, id: RepoId, now: i64) -> Result<DeletedRepository, StoreError> {
        let (summaries, runs_kept) = self.write("deleting a repository", |transaction| {
            check_idle(transaction, id, now)?;
            let count = |query| transaction.query_row(query, [id.0], |row| row.get(0));
            let summaries = count("SELECT count(*) FROM summaries WHERE repo = ?1")?;
            let runs = count("SELECT count(*) FROM runs WHERE repo = ?1")?;
            if transaction.execute("DELETE FROM repositories WHERE id = ?1", [id.0])? == 0 {
                return Err(StoreError::NoRepository(id).into());
            }
            erasure::note(transaction)?;
            Ok((summaries, runs))
        })?;
        Ok(DeletedRepository {
            summaries,
            runs_kept,
            erasure: self.erase_deleted(),
        })
    }
}

/// Refuses while a run of the repository is worked on.
fn check_idle(transaction: &Transaction<'_>, id: RepoId, now: i64) -> Result<(), DatabaseError> {
    match lease::live(transaction, now)? {
        Some(lease) if runs::get(transaction, lease.run)?.entry.repo == Some(id) => Err(lease.into_active().into()),
        Some(_) | None => Ok(()),
    }
}
