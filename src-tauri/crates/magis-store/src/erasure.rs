//! Erasing deleted texts from the bytes of the database's files, and the note that this is still to be done.
//!
//! It does not decide what is deleted.

use crate::error::DatabaseError;
use crate::{Store, StoreError};
use rusqlite::{Connection, Transaction};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE pending_erasure (
    slot INTEGER PRIMARY KEY CHECK (slot = 1)
) STRICT;";

/// Whether deleted texts are gone from the files, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasure {
    /// No byte of them is left.
    Complete,
    /// They are deleted, but traces wait in the files; the next opening or deletion erases them.
    Pending {
        /// Why, in a sentence.
        why: String,
    },
}

impl Erasure {
    /// Complete where both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::Complete => other,
            Self::Pending { .. } => self,
        }
    }
}

/// A database above this size is rebuilt through a temporary file of SQLite's instead of in memory.
const REBUILD_IN_MEMORY_BYTES: i64 = 256 * 1024 * 1024;

/// Notes, in the transaction that deletes, that the files have to be cleaned afterwards.
pub(crate) fn note(transaction: &Transaction<'_>) -> Result<(), DatabaseError> {
    transaction.execute("INSERT OR IGNORE INTO pending_erasure (slot) VALUES (1)", [])?;
    Ok(())
}

impl Store {
    /// Erases what was deleted from every file of the database: the search index and the file are rebuilt from what is left,
    /// and the log is emptied. `secure_delete` alone does not reach copies that SQLite left behind when it moved rows
    /// between pages, and merging the search index keeps the words of deleted texts where earlier merges left it levels
    /// above.
    pub(crate) fn erase_deleted(&self) -> Erasure {
        erase(&self.lock()).unwrap_or_else(|error| Erasure::Pending {
            why: error.located("erasing deleted texts", self.path()).to_string(),
        })
    }

    /// Does what an earlier deletion could not, because it was interrupted or another program was reading.
    pub(crate) fn finish_erasure(&self) -> Result<(), StoreError> {
        let pending = self.read("opening", |transaction| {
            Ok(transaction.query_row("SELECT EXISTS (SELECT 1 FROM pending_erasure)", [], |row| row.get(0))?)
        })?;
        if pending {
            // Where it is still not possible the note stays, and the next opening tries again.
            let _: Erasure = self.erase_deleted();
        }
        Ok(())
    }
}

fn erase(connection: &Connection) -> Result<Erasure, DatabaseError> {
    connection.execute("INSERT INTO run_search (run_search) VALUES ('rebuild')", [])?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page_size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let through_a_file = pages * page_size > REBUILD_IN_MEMORY_BYTES;
    if through_a_file {
        connection.pragma_update(None, "temp_store", "FILE")?;
    }
    let rebuilt = connection.execute_batch("VACUUM");
    if through_a_file {
        connection.pragma_update(None, "temp_store", "MEMORY")?;
    }
    rebuilt?;
    if !log_is_emptied(connection)? {
        return Ok(Erasure::Pending {
            why: "another program is reading the database".to_owned(),
        });
    }
    connection.execute("DELETE FROM pending_erasure", [])?;
    Ok(Erasure::Complete)
}

/// Moves the whole log into the database and cuts it to nothing; not while another program reads from it.
fn log_is_emptied(connection: &Connection) -> Result<bool, DatabaseError> {
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(busy == 0)
}
