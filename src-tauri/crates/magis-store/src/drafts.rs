//! What a person has typed for a run that is not begun yet, one draft a repository.
//!
//! It does not know what a draft consists of; whoever asks for it does.

use crate::{Store, StoreError, column, repositories};
use magis_core::RepoId;
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) const VERSION_2: &str = "\
CREATE TABLE drafts (
    repo     INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    draft    TEXT NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT;";

impl Store {
    /// Returns the draft of a repository; none where there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn draft<T: DeserializeOwned>(&self, repo: RepoId) -> Result<Option<T>, StoreError> {
        self.read("reading a draft", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT draft FROM drafts WHERE repo = ?1")?;
            Ok(statement
                .query_row([repo.0], |row| column::json(row, "draft"))
                .optional()?)
        })
    }

    /// Keeps the draft of a repository.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn put_draft<T: Serialize>(&self, repo: RepoId, draft: &T, now: i64) -> Result<(), StoreError> {
        self.write("keeping a draft", |transaction| {
            repositories::get(transaction, repo)?;
            transaction.execute(
                "INSERT INTO drafts (repo, draft, saved_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (repo) DO UPDATE SET draft = ?2, saved_at = ?3",
                (repo.0, serde_json::to_string(draft)?, now),
            )?;
            Ok(())
        })
    }

    /// Drops the draft of a repository, because a run was begun with it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_draft(&self, repo: RepoId) -> Result<(), StoreError> {
        self.write("dropping a draft", |transaction| {
            transaction.execute("DELETE FROM drafts WHERE repo = ?1", [repo.0])?;
            Ok(())
        })
    }
}
