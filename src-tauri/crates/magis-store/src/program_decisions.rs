//! What a person decided about programs that a repository names and that git would run for a commit.

use crate::{Store, StoreError};
use magis_core::RepoId;

pub(crate) const VERSION_13: &str = "\
CREATE TABLE program_decisions (
    repo       INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    program    TEXT NOT NULL,
    decision   TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (repo, program)
) STRICT, WITHOUT ROWID;";

/// A decision about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDecision {
    /// The program, as whoever asks describes it; of another description, nothing is decided.
    pub program: String,
    /// The answer, in the words of whoever asks.
    pub decision: String,
    /// In milliseconds since the epoch.
    pub decided_at: i64,
}

impl Store {
    /// Remembers decisions about programs of a repository. What was decided of the same programs before gives way.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn keep_program_decisions(&self, repo: RepoId, decisions: &[KeptDecision]) -> Result<(), StoreError> {
        self.write("keeping what may be run", |transaction| {
            let mut statement = transaction.prepare(
                "INSERT OR REPLACE INTO program_decisions (repo, program, decision, decided_at) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for kept in decisions {
                statement.execute((repo.0, &kept.program, &kept.decision, kept.decided_at))?;
            }
            Ok(())
        })
    }

    /// Returns all that was decided about programs of a repository, the first first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn program_decisions(&self, repo: RepoId) -> Result<Vec<KeptDecision>, StoreError> {
        self.read("reading what may be run", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT program, decision, decided_at FROM program_decisions WHERE repo = ?1 ORDER BY decided_at, program",
            )?;
            let rows = statement.query_map([repo.0], |row| {
                Ok(KeptDecision {
                    program: row.get("program")?,
                    decision: row.get("decision")?,
                    decided_at: row.get("decided_at")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Forgets what was decided about programs of a repository, so that it is asked again. Returns how many decisions it
    /// was.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_program_decisions(&self, repo: RepoId) -> Result<usize, StoreError> {
        self.write("forgetting what may be run", |transaction| {
            Ok(transaction.execute("DELETE FROM program_decisions WHERE repo = ?1", [repo.0])?)
        })
    }
}
