//! The last application of each run's patch: what undoing it needs, whole files of the repository among it. It goes with
//! its run. Beside it, while it is being applied or taken back, what was begun: if that is still there when nobody works on it, it was broken off.
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

/// A run's patch may be under way only once.
pub(crate) const VERSION_12: &str = "\
CREATE TABLE unfinished_applications (
    run         INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    direction   TEXT NOT NULL CHECK (direction IN ('apply', 'undo')),
    application TEXT NOT NULL
) STRICT;";

/// What is done with an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyDirection {
    Apply,
    Undo,
}

impl ApplyDirection {
    fn word(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Undo => "undo",
        }
    }
}

/// An application that was begun and of which nobody noted yet what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedApplication<T> {
    pub run: RunId,
    pub direction: ApplyDirection,
    pub application: T,
}

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

    /// Notes that a run's patch is about to be applied or taken back. To be followed by [`Self::end_application`], or
    /// [`Self::forget_begun`] where nothing came of it.
    ///
    /// # Errors
    /// When there is no such run, one is under way already, or the database cannot be written.
    pub fn begin_application<T: Serialize>(
        &self,
        run: RunId,
        direction: ApplyDirection,
        application: &T,
    ) -> Result<(), StoreError> {
        self.write("noting what is to be applied", |transaction| {
            runs::get(transaction, run)?;
            transaction.execute(
                "INSERT INTO unfinished_applications (run, direction, application) VALUES (?1, ?2, ?3)",
                (run.0, direction.word(), serde_json::to_string(application)?),
            )?;
            Ok(())
        })
    }

    /// Returns what was begun and not ended, by run.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unfinished_applications<T: DeserializeOwned>(&self) -> Result<Vec<UnfinishedApplication<T>>, StoreError> {
        self.read("reading what was being applied", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT run, direction, application FROM unfinished_applications ORDER BY run")?;
            let rows = statement.query_map([], |row| {
                let direction: String = row.get("direction")?;
                Ok(UnfinishedApplication {
                    run: RunId(row.get("run")?),
                    direction: if direction == ApplyDirection::Undo.word() {
                        ApplyDirection::Undo
                    } else {
                        ApplyDirection::Apply
                    },
                    application: column::json(row, "application")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets what was begun, because all is as it was before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_begun(&self, run: RunId) -> Result<(), StoreError> {
        self.write("noting that nothing was applied", |transaction| {
            transaction.execute("DELETE FROM unfinished_applications WHERE run = ?1", [run.0])?;
            Ok(())
        })
    }

    /// Notes what became of what was begun: it stands as the run's last application in place of the one before, or none of it does. What was to be taken back
    /// and does not stand is no application any more; what was to be applied and does not stand leaves the one before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_application(&self, run: RunId, stands: bool) -> Result<(), StoreError> {
        self.write("noting what was applied", |transaction| {
            let statement = if stands {
                "INSERT INTO applications (run, application)
                     SELECT run, application FROM unfinished_applications WHERE run = ?1
                 ON CONFLICT (run) DO UPDATE SET application = excluded.application"
            } else {
                "DELETE FROM applications WHERE run = ?1
                     AND EXISTS (SELECT 1 FROM unfinished_applications WHERE run = ?1 AND direction = 'undo')"
            };
            transaction.execute(statement, [run.0])?;
            transaction.execute("DELETE FROM unfinished_applications WHERE run = ?1", [run.0])?;
            Ok(())
        })
    }
}
