//! The last application of each run's patch: what undoing it needs, whole files of the repository among it. It goes with
//! its run.
//!
//! It does not know what an application consists of; whoever applies does.

use crate::{Store, StoreError, column, runs};
use magis_core::RunId;
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Before, they stood among the settings, where they outlived their runs; what these left is erased from the files.
pub(crate) const VERSION_7: &str = "\
CREATE TABLE applications (
    run         INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    application TEXT NOT NULL
) STRICT;
INSERT INTO applications (run, application)
    SELECT runs.id, value FROM settings JOIN runs ON settings.key = 'applied/' || runs.id;
DELETE FROM settings WHERE key LIKE 'applied/%';
INSERT OR IGNORE INTO pending_erasure (slot) VALUES (1);";

impl Store {
    /// Returns the last application of a run's patch; none where there was none, or it was taken back.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn application<T: DeserializeOwned>(&self, run: RunId) -> Result<Option<T>, StoreError> {
        self.read("reading an application", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT application FROM applications WHERE run = ?1")?;
            Ok(statement
                .query_row([run.0], |row| column::json(row, "application"))
                .optional()?)
        })
    }

    /// Keeps the application of a run's patch, in place of the one before.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn put_application<T: Serialize>(&self, run: RunId, application: &T) -> Result<(), StoreError> {
        self.write("keeping an application", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute(
                "INSERT INTO applications (run, application) VALUES (?1, ?2)
                 ON CONFLICT (run) DO UPDATE SET application = ?2",
                (run.0, serde_json::to_string(application)?),
            )?;
            Ok(())
        })
    }

    /// Forgets the application of a run's patch: it was taken back.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_application(&self, run: RunId) -> Result<(), StoreError> {
        self.write("forgetting an application", |transaction| {
            transaction.execute("DELETE FROM applications WHERE run = ?1", [run.0])?;
            Ok(())
        })
    }
}
