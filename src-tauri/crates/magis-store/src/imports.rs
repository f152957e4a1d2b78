//! Where imported runs came from, and whether a person named the repository they are applied to.

use crate::error::DatabaseError;
use crate::{Store, StoreError, runs};
use magis_core::RunId;
use rusqlite::{OptionalExtension as _, Transaction};

pub(crate) const VERSION_15: &str = "\
CREATE TABLE imports (
    run              INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    file             TEXT NOT NULL,
    imported_at      INTEGER NOT NULL,
    repository_named INTEGER NOT NULL DEFAULT 0 CHECK (repository_named IN (0, 1))
) STRICT;";

/// How a run came here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    /// The name of the file it was read from.
    pub file: String,
    /// When, in milliseconds since the epoch.
    pub at: i64,
}

impl Store {
    /// Returns how a run came here; none where it was made here, or by a version that did not note it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn import_of(&self, run: RunId) -> Result<Option<ImportSource>, StoreError> {
        self.read("reading where a run came from", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT file, imported_at FROM imports WHERE run = ?1")?;
            let found = statement.query_row([run.0], |row| {
                Ok(ImportSource {
                    file: row.get("file")?,
                    at: row.get("imported_at")?,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Returns whether a person named the repository of an imported run.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_repository_named(&self, run: RunId) -> Result<bool, StoreError> {
        self.read("reading where a run came from", |transaction| {
            let mut statement =
                transaction.prepare_cached("SELECT 1 FROM imports WHERE run = ?1 AND repository_named = 1")?;
            Ok(statement.exists([run.0])?)
        })
    }

    /// Notes that a person named the repository of an imported run.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn note_named_repository(&self, run: RunId, now: i64) -> Result<(), StoreError> {
        self.write("noting the repository of a run", |transaction| {
            runs::known(transaction, run)?;
            // One that was imported before files were noted has no row.
            transaction.execute(
                "INSERT INTO imports (run, file, imported_at, repository_named) VALUES (?1, '', ?2, 1)
                 ON CONFLICT (run) DO UPDATE SET repository_named = 1",
                (run.0, now),
            )?;
            Ok(())
        })
    }
}

pub(crate) fn insert(transaction: &Transaction<'_>, run: RunId, import: &ImportSource) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT INTO imports (run, file, imported_at) VALUES (?1, ?2, ?3)",
        (run.0, &import.file, import.at),
    )?;
    Ok(())
}
