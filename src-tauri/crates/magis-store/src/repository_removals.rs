//! Repositories that a person took off the list a moment ago: no list shows them and no run names them, and they can still
//! be had back with all that memory holds of them.
//!
//! It does not erase anything; see [`Store::delete_repository`].

use crate::{Store, StoreError, repositories};
use magis_core::RepoId;

pub(crate) const VERSION_3: &str = "\
CREATE TABLE repository_removals (
    repo       INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    removed_at INTEGER NOT NULL
) STRICT;";

impl Store {
    /// Takes a repository off the list; its runs stay, as runs without a repository. Refused while one of them is worked
    /// on. Adding the repository again takes the removal back.
    pub fn remove_repository(&self, repo: RepoId, now: i64) -> Result<(), StoreError> {
        self.write("taking a repository off the list", |transaction| {
            repositories::get(transaction, repo)?;
            repositories::check_idle(transaction, repo, now)?;
            transaction.execute(
                "INSERT OR IGNORE INTO repository_removals (repo, removed_at) VALUES (?1, ?2)",
                (repo.0, now),
            )?;
            Ok(())
        })
    }

    /// Puts a removed repository back into the list. [`StoreError::NoRepository`] where it is erased by now.
    pub fn restore_repository(&self, repo: RepoId) -> Result<(), StoreError> {
        self.write("taking back the removal of a repository", |transaction| {
            transaction.execute("DELETE FROM repository_removals WHERE repo = ?1", [repo.0])?;
            repositories::get(transaction, repo)?;
            Ok(())
        })
    }

    /// The repositories that were removed at `before` or earlier, the first removed first: those to erase.
    pub fn removed_repositories(&self, before: i64) -> Result<Vec<RepoId>, StoreError> {
        self.read("listing removed repositories", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT repo FROM repository_removals WHERE removed_at <= ?1 ORDER BY removed_at, repo",
            )?;
            let rows = statement.query_map([before], |row| row.get(0).map(RepoId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
