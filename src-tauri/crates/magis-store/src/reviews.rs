//! How far a person is with the review of a run's patch: kept until it is changed, also over restarts.
//!
//! It does not know what a review consists of; whoever shows the patch does.

use crate::{Store, StoreError, column, runs};
use magis_core::RunId;
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) const VERSION_2: &str = "\
CREATE TABLE reviews (
    run      INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    review   TEXT NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT;";

impl Store {
    /// Returns the review of a run; none where nobody began one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn review<T: DeserializeOwned>(&self, run: RunId) -> Result<Option<T>, StoreError> {
        self.read("reading a review", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT review FROM reviews WHERE run = ?1")?;
            Ok(statement
                .query_row([run.0], |row| column::json(row, "review"))
                .optional()?)
        })
    }

    /// Keeps the review of a run.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn put_review<T: Serialize>(&self, run: RunId, review: &T, now: i64) -> Result<(), StoreError> {
        self.write("keeping a review", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute(
                "INSERT INTO reviews (run, review, saved_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (run) DO UPDATE SET review = ?2, saved_at = ?3",
                (run.0, serde_json::to_string(review)?, now),
            )?;
            Ok(())
        })
    }
}
