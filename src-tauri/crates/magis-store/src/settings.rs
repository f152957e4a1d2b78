//! Settings, each a JSON value under its key.
//!
//! It knows no key; whoever owns a setting names it and gives its default.

use crate::{Store, StoreError, column};
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) const VERSION_1: &str = "\
CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;";

impl Store {
    /// Returns the setting under `key`; none where it was never set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        self.read("reading a setting", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT value FROM settings WHERE key = ?1")?;
            Ok(statement
                .query_row([key], |row| column::json(row, "value"))
                .optional()?)
        })
    }

    /// Sets `key` to `value`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_setting<T: Serialize>(&self, key: &str, value: &T) -> Result<(), StoreError> {
        self.write("writing a setting", |transaction| {
            transaction.execute(
                "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                (key, serde_json::to_string(value)?),
            )?;
            Ok(())
        })
    }

    /// Removes the setting, so that its default holds again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_setting(&self, key: &str) -> Result<(), StoreError> {
        self.write("clearing a setting", |transaction| {
            transaction.execute("DELETE FROM settings WHERE key = ?1", [key])?;
            Ok(())
        })
    }
}
