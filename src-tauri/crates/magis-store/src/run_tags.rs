//! Words a person puts on runs, to find them again.
//!
//! It does not search; see `run_pages`.

use crate::error::DatabaseError;
use crate::{Store, StoreError, runs};
use magis_core::RunId;
use rusqlite::Transaction;

pub(crate) const VERSION_2: &str = "\
CREATE TABLE run_tags (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_tags_by_tag ON run_tags (tag, run);";

impl Store {
    /// Returns the tags of a run, in the order of the alphabet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tags(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        self.read("reading a run's tags", |transaction| of(transaction, run))
    }

    /// Gives a run exactly these tags. White space around a tag is dropped, and so is an empty tag.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn set_tags(&self, run: RunId, tags: &[String]) -> Result<(), StoreError> {
        self.write("tagging a run", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute("DELETE FROM run_tags WHERE run = ?1", [run.0])?;
            let mut statement = transaction.prepare("INSERT OR IGNORE INTO run_tags (run, tag) VALUES (?1, ?2)")?;
            for tag in tags.iter().map(|tag| tag.trim()).filter(|tag| !tag.is_empty()) {
                statement.execute((run.0, tag))?;
            }
            Ok(())
        })
    }
}

pub(crate) fn of(transaction: &Transaction<'_>, run: RunId) -> Result<Vec<String>, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT tag FROM run_tags WHERE run = ?1 ORDER BY tag")?;
    let rows = statement.query_map([run.0], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
