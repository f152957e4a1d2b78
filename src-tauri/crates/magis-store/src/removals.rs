//! Runs that a person deleted: a moment ago, when no list shows them and they can still be had back, and then for good.
//!
//! How their texts leave the files is `erasure`'s.

use crate::{Erasure, Store, StoreError, erasure, lease, pending_prunings, runs};
use magis_core::RunId;

pub(crate) const VERSION_2: &str = "\
CREATE TABLE removals (
    run        INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    removed_at INTEGER NOT NULL
) STRICT;";

/// What became of a deleted run, and what of it stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedRun {
    /// Summaries it made, which memory keeps.
    pub summaries_kept: u32,
    /// Messages of changes it made, which memory keeps.
    pub change_messages_kept: u32,
    /// Runs that took over its first events, the issue among them, and keep their copies.
    pub reruns: Vec<RunId>,
    /// Whether its texts are gone from the files, too.
    pub erasure: Erasure,
}

impl Store {
    /// Takes a run out of every list. Refused while a driver works on it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
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
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn restore_run(&self, run: RunId) -> Result<(), StoreError> {
        self.write("taking back a removal", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute("DELETE FROM removals WHERE run = ?1", [run.0])?;
            Ok(())
        })
    }

    /// Returns the runs that were removed at `before` or earlier, oldest first: those to erase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn removed_runs(&self, before: i64) -> Result<Vec<RunId>, StoreError> {
        self.read("listing removed runs", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT run FROM removals WHERE removed_at <= ?1 ORDER BY removed_at, run")?;
            let rows = statement.query_map([before], |row| row.get(0).map(RunId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Deletes a run with its events, calls and texts, and erases them from the files; says what stays. Refused while a
    /// driver works on it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn delete_run(&self, id: RunId, now: i64) -> Result<DeletedRun, StoreError> {
        let (summaries_kept, change_messages_kept, reruns) = self.write("deleting a run", |transaction| {
            runs::get(transaction, id)?;
            if let Some(lease) = lease::live(transaction, now)?.filter(|lease| lease.run == id) {
                return Err(lease.into_active().into());
            }
            let count = |query| transaction.query_row(query, [id.0], |row| row.get::<_, u32>(0));
            let summaries = count("SELECT count(*) FROM summaries WHERE made_in = ?1")?;
            let messages = count("SELECT count(*) FROM change_messages WHERE made_in = ?1")?;
            let mut statement = transaction.prepare("SELECT id FROM runs WHERE parent = ?1 ORDER BY id")?;
            let reruns = statement
                .query_map([id.0], |row| row.get(0).map(RunId))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            pending_prunings::note(transaction, id)?;
            transaction.execute("DELETE FROM runs WHERE id = ?1", [id.0])?;
            erasure::note(transaction)?;
            Ok((summaries, messages, reruns))
        })?;
        Ok(DeletedRun {
            summaries_kept,
            change_messages_kept,
            reruns,
            erasure: self.erase_deleted(),
        })
    }
}
