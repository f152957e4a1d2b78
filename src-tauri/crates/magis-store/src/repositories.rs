//! The repositories a person has opened.
//!
//! It does not look into them: root and identity are given by whoever did.

use crate::error::DatabaseError;
use crate::{Store, StoreError};
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
pub struct RepositoryEntry {
    pub id: RepoId,
    pub root: String,
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
    pub root: String,
    /// The name to show.
    pub name: String,
    /// Its first commit, or another identity that outlives a move of the folder.
    pub identity: Option<String>,
}

impl Store {
    /// Adds the repository at this root, or notes that it was used again; one that was removed is back in the list. Runs
    /// of a repository that had been deleted and had the same root belong to it again.
    ///
    /// # Errors
    /// When the database cannot be written.
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

    /// Returns one repository of the list.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn repository(&self, id: RepoId) -> Result<RepositoryEntry, StoreError> {
        self.read("reading a repository", |transaction| get(transaction, id))
    }

    /// Returns all repositories, the last used first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn repositories(&self) -> Result<Vec<RepositoryEntry>, StoreError> {
        self.read("listing the repositories", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM repositories WHERE id NOT IN (SELECT repo FROM repository_removals)
                 ORDER BY last_used_at DESC, id DESC",
            )?;
            let rows = statement.query_map([], read_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

/// Returns a repository of the list; one that was removed is not there.
pub(crate) fn get(transaction: &Transaction<'_>, id: RepoId) -> Result<RepositoryEntry, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT * FROM repositories WHERE id = ?1 AND id NOT IN (SELECT repo FROM repository_removals)",
    )?;
    let found = statement.query_row([id.0], read_row).optional()?;
    found.ok_or_else(|| StoreError::NoRepository(id).into())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<RepositoryEntry> {
    Ok(RepositoryEntry {
        id: RepoId(row.get("id")?),
        root: row.get("root")?,
        name: row.get("name")?,
        identity: row.get("identity")?,
        added_at: row.get("added_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}
