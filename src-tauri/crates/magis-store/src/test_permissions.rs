//! Which test commands a person allowed to be run in which repository.

use crate::{Store, StoreError};
use magis_core::RepoId;
use rusqlite::OptionalExtension as _;

pub(crate) const VERSION_9: &str = "\
CREATE TABLE test_permissions (
    repo       INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    folder     TEXT NOT NULL,
    command    TEXT NOT NULL,
    isolation  TEXT NOT NULL CHECK (isolation IN ('required', 'waived')),
    allowed_at INTEGER NOT NULL,
    PRIMARY KEY (repo, folder, command)
) STRICT, WITHOUT ROWID;";

/// A test command that a person allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPermission {
    /// Where it runs, relative to the repository's root.
    pub folder: String,
    /// Its words and variables, as a line.
    pub command: String,
    pub isolation: IsolationTerm,
    /// In milliseconds since the epoch.
    pub allowed_at: i64,
}

/// On which terms a command may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationTerm {
    /// Only isolated from the machine.
    Required,
    /// Also where it cannot be isolated.
    Waived,
}

impl Store {
    /// Remembers that a person allows a command. What was allowed of the same command before gives way.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn allow_tests(&self, repo: RepoId, permission: &TestPermission) -> Result<(), StoreError> {
        self.write("allowing a test command", |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO test_permissions (repo, folder, command, isolation, allowed_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    repo.0,
                    &permission.folder,
                    &permission.command,
                    word(permission.isolation),
                    permission.allowed_at,
                ),
            )?;
            Ok(())
        })
    }

    /// Returns what a person allowed of a command.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn test_permission(
        &self,
        repo: RepoId,
        folder: &str,
        command: &str,
    ) -> Result<Option<TestPermission>, StoreError> {
        self.read("reading what tests are allowed", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT * FROM test_permissions WHERE repo = ?1 AND folder = ?2 AND command = ?3")?;
            Ok(statement.query_row((repo.0, folder, command), permission).optional()?)
        })
    }

    /// Returns all commands that a person allowed in a repository, the last first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn test_permissions(&self, repo: RepoId) -> Result<Vec<TestPermission>, StoreError> {
        self.read("reading what tests are allowed", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT * FROM test_permissions WHERE repo = ?1 ORDER BY allowed_at DESC, command")?;
            let rows = statement.query_map([repo.0], permission)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Takes back what a person allowed in a repository. Returns how many commands it was.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forbid_tests(&self, repo: RepoId) -> Result<usize, StoreError> {
        self.write("taking permissions back", |transaction| {
            Ok(transaction.execute("DELETE FROM test_permissions WHERE repo = ?1", [repo.0])?)
        })
    }
}

fn permission(row: &rusqlite::Row<'_>) -> rusqlite::Result<TestPermission> {
    let isolation: String = row.get("isolation")?;
    Ok(TestPermission {
        folder: row.get("folder")?,
        command: row.get("command")?,
        isolation: if isolation == word(IsolationTerm::Waived) {
            IsolationTerm::Waived
        } else {
            IsolationTerm::Required
        },
        allowed_at: row.get("allowed_at")?,
    })
}

fn word(isolation: IsolationTerm) -> &'static str {
    match isolation {
        IsolationTerm::Required => "required",
        IsolationTerm::Waived => "waived",
    }
}
