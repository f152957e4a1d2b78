//! The repositories a person has opened.
//!
//! It does not look into them: root and identity are given by whoever did.

use crate::error::Fault;
use crate::{Erasure, Store, StoreError, erasure, lease, runs};
use magis_core::RepoId;
use rusqlite::{OptionalExtension, Row, Transaction, named_params};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE repositories (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    root         TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    identity     TEXT,
    added_at     INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;";

/// A repository known to this data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its id.
    pub id: RepoId,
    /// Its root folder.
    pub root: String,
    /// The name shown.
    pub name: String,
    /// Its first commit, or another identity that outlives a move of the folder.
    pub identity: Option<String>,
    /// When it was first opened, in milliseconds since the epoch.
    pub added_at: i64,
    /// When it was last opened, in milliseconds since the epoch.
    pub last_used_at: i64,
}

/// What is known of a repository when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRepository {
    /// Its root folder.
    pub root: String,
    /// The name to show.
    pub name: String,
    /// Its first commit, or another identity that outlives a move of the folder.
    pub identity: Option<String>,
}

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
    /// Adds the repository at this root, or notes that it was used again; one that was removed is back in the list. Runs
    /// of a repository that had been deleted and had the same root belong to it again.
    pub fn upsert_repository(&self, repository: &NewRepository, now: i64) -> Result<RepoId, StoreError> {
        self.write("adding a repository", |transaction| {
            let id: i64 = transaction.query_row(
                "INSERT INTO repositories (root, name, identity, added_at, last_used_at)
                 VALUES (:root, :name, :identity, :now, :now)
                 ON CONFLICT (root) DO UPDATE SET
                     name = excluded.name,
                     identity = coalesce(excluded.identity, identity),
                     last_used_at = max(last_used_at, excluded.last_used_at)
                 RETURNING id",
                named_params! {
                    ":root": repository.root, ":name": repository.name, ":identity": repository.identity, ":now": now
                },
                |row| row.get(0),
            )?;
            transaction.execute(
                "UPDATE runs SET repo = ?1 WHERE repo IS NULL AND repository_root = ?2",
                (id, &repository.root),
            )?;
            transaction.execute("DELETE FROM repository_removals WHERE repo = ?1", [id])?;
            Ok(RepoId(id))
        })
    }

    /// One repository of the list.
    pub fn repository(&self, id: RepoId) -> Result<Repository, StoreError> {
        self.read("reading a repository", |transaction| get(transaction, id))
    }

    /// All repositories, the last used first.
    pub fn repositories(&self) -> Result<Vec<Repository>, StoreError> {
        self.read("listing the repositories", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM repositories WHERE id NOT IN (SELECT repo FROM repository_removals)
                 ORDER BY last_used_at DESC, id DESC",
            )?;
            let rows = statement.query_map([], read_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets a repository of the list, or one that was removed from it, and erases what memory holds of it. Its runs stay.
    /// Refused while one of them is worked on.
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

/// A repository of the list; one that was removed is not there.
pub(crate) fn get(transaction: &Transaction<'_>, id: RepoId) -> Result<Repository, Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT * FROM repositories WHERE id = ?1 AND id NOT IN (SELECT repo FROM repository_removals)",
    )?;
    let found = statement.query_row([id.0], read_row).optional()?;
    found.ok_or_else(|| StoreError::NoRepository(id).into())
}

/// Refuses while a run of the repository is worked on.
pub(crate) fn check_idle(transaction: &Transaction<'_>, id: RepoId, now: i64) -> Result<(), Fault> {
    match lease::live(transaction, now)? {
        Some(lease) if runs::get(transaction, lease.run)?.entry.repo == Some(id) => Err(lease.into_active().into()),
        Some(_) | None => Ok(()),
    }
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Repository> {
    Ok(Repository {
        id: RepoId(row.get("id")?),
        root: row.get("root")?,
        name: row.get("name")?,
        identity: row.get("identity")?,
        added_at: row.get("added_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}
