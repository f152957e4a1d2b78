//! Runs that a person deleted a moment ago: no list shows them, and they can still be had back.
//!
//! It does not erase anything; see [`Store::delete_run`].

use crate::{Store, StoreError, lease, runs};
use magis_core::RunId;

pub(crate) const VERSION_2: &str = "\
CREATE TABLE removals (
    run        INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    removed_at INTEGER NOT NULL
) STRICT;";

impl Store {
    /// Takes a run out of every list. Refused while a driver works on it.
    pub fn remove_run(&self, run: RunId, now: i64) -> Result<(), StoreError> {
        self.write("removing a run", |transaction| {
            runs::get(transaction, run)?;
            if let Some(lease) = lease::live(transaction, now)?.filter(|lease| lease.run == run) {
                return Err(lease.into_active().into());
            }
            transaction.execute(
                "INSERT OR IGNORE INTO removals (run, removed_at) VALUES (?1, ?2)",
                (run.0, now),
            )?;
            Ok(())
        })
    }

    /// Puts a removed run back into the lists. [`StoreError::NoRun`] where it is erased by now.
    pub fn restore_run(&self, run: RunId) -> Result<(), StoreError> {
        self.write("taking back a removal", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute("DELETE FROM removals WHERE run = ?1", [run.0])?;
            Ok(())
        })
    }

    /// The runs that were removed at `before` or earlier, oldest first: those to erase.
    pub fn removed_runs(&self, before: i64) -> Result<Vec<RunId>, StoreError> {
        self.read("listing removed runs", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT run FROM removals WHERE removed_at <= ?1 ORDER BY removed_at, run")?;
            let rows = statement.query_map([before], |row| row.get(0).map(RunId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
