//! P1's messages: what a file's change from one blob to another does, so that it is not asked twice.
//!
//! It does not know how such a message is made.

use crate::{Store, StoreError};
use magis_core::{BlobId, RepoId, RepoPath};
use rusqlite::{OptionalExtension, named_params};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE change_messages (
    repo          INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path          TEXT NOT NULL,
    from_blob     TEXT NOT NULL,
    to_blob       TEXT NOT NULL,
    message       TEXT NOT NULL,
    model         TEXT NOT NULL,
    model_sha     TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    made_at       INTEGER NOT NULL,
    made_in       INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    PRIMARY KEY (repo, path, from_blob, to_blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_messages_of_run ON change_messages (made_in);";

/// A message about one file's change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMessage {
    /// The repository.
    pub repo: RepoId,
    /// The file.
    pub path: RepoPath,
    /// Its blob before.
    pub from: BlobId,
    /// Its blob after.
    pub to: BlobId,
    /// What P1 said.
    pub message: String,
    /// The model's name.
    pub model: String,
    /// The SHA-256 of the model's file.
    pub model_sha: String,
    /// The hash of P1's template.
    pub template_hash: String,
    /// When, in milliseconds since the epoch.
    pub made_at: i64,
    /// In which run; none where that run was deleted.
    pub made_in: Option<magis_core::RunId>,
}

impl Store {
    /// The message about this file's change from one blob to the other.
    pub fn change_message(
        &self,
        repo: RepoId,
        path: &RepoPath,
        from: &BlobId,
        to: &BlobId,
    ) -> Result<Option<ChangeMessage>, StoreError> {
        self.read("reading a change message", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM change_messages WHERE repo = ?1 AND path = ?2 AND from_blob = ?3 AND to_blob = ?4",
            )?;
            let found = statement.query_row((repo.0, path.as_str(), &from.0, &to.0), |row| {
                Ok(ChangeMessage {
                    repo,
                    path: path.clone(),
                    from: from.clone(),
                    to: to.clone(),
                    message: row.get("message")?,
                    model: row.get("model")?,
                    model_sha: row.get("model_sha")?,
                    template_hash: row.get("template_hash")?,
                    made_at: row.get("made_at")?,
                    made_in: row.get::<_, Option<i64>>("made_in")?.map(magis_core::RunId),
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Keeps a message; one about the same change is replaced.
    pub fn put_change_message(&self, message: &ChangeMessage) -> Result<(), StoreError> {
        self.write("keeping a change message", |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO change_messages
                     (repo, path, from_blob, to_blob, message, model, model_sha, template_hash, made_at, made_in)
                 VALUES (:repo, :path, :from, :to, :message, :model, :model_sha, :template_hash, :made_at, :made_in)",
                named_params! {
                    ":repo": message.repo.0,
                    ":path": message.path.as_str(),
                    ":from": message.from.0,
                    ":to": message.to.0,
                    ":message": message.message,
                    ":model": message.model,
                    ":model_sha": message.model_sha,
                    ":template_hash": message.template_hash,
                    ":made_at": message.made_at,
                    ":made_in": message.made_in.map(|run| run.0),
                },
            )?;
            Ok(())
        })
    }
}
