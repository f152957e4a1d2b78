//! P1's messages: what a file's change from one blob to another does, so that it is not asked twice.
//!
//! It does not know how such a message is made.

use crate::error::DatabaseError;
use crate::{Maker, Store, StoreError, column};
use magis_core::{BlobId, RepoId, RepoPath, RunId};
use rusqlite::{Row, Transaction, named_params};

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

/// As for summaries, the key is what was compared and what told the difference, and not the file's name.
pub(crate) const VERSION_4: &str = "\
CREATE TABLE change_messages_by_content (
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
    PRIMARY KEY (repo, from_blob, to_blob, model_sha, template_hash)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO change_messages_by_content SELECT * FROM change_messages;
DROP TABLE change_messages;
ALTER TABLE change_messages_by_content RENAME TO change_messages;
CREATE INDEX change_messages_of_run ON change_messages (made_in);";

/// A message about one file's change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChangeMessage {
    pub repo: RepoId,
    pub path: RepoPath,
    pub from: BlobId,
    pub to: BlobId,
    /// What P1 said.
    pub message: String,
    /// The model's name; empty where the message needed no model.
    pub model: String,
    /// The SHA-256 of the model's file; empty where the message needed no model.
    pub model_sha: String,
    /// The hash of P1's template.
    pub template_hash: String,
    /// When, in milliseconds since the epoch.
    pub made_at: i64,
    /// In which run; none where that run was deleted.
    pub made_in: Option<RunId>,
}

impl Store {
    /// Returns the messages about what became of this version, newest first: those of this model and prompt, and those
    /// that needed no model.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn changes_from(
        &self,
        repo: RepoId,
        from: &BlobId,
        maker: Maker<'_>,
    ) -> Result<Vec<StoredChangeMessage>, StoreError> {
        self.read("reading change messages", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM change_messages WHERE repo = ?1 AND from_blob = ?2
                     AND ((model_sha = ?3 AND template_hash = ?4) OR model_sha = '')
                 ORDER BY made_at DESC, to_blob",
            )?;
            let key = (repo.0, &from.0, maker.model_sha, maker.template_hash);
            let rows = statement.query_map(key, read_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns every message about changes of a repository's files, by path, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_change_messages(&self, repo: RepoId) -> Result<Vec<StoredChangeMessage>, StoreError> {
        self.read("listing change messages", |transaction| all(transaction, repo))
    }

    /// Keeps a message; one of the same model and prompt about the same change is replaced.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_change_message(&self, message: &StoredChangeMessage) -> Result<(), StoreError> {
        self.write("keeping a change message", |transaction| {
            put(transaction, message)?;
            Ok(())
        })
    }
}

pub(crate) fn put(transaction: &Transaction<'_>, message: &StoredChangeMessage) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT OR REPLACE INTO change_messages
             (repo, path, from_blob, to_blob, message, model, model_sha, template_hash, made_at, made_in)
         VALUES (:repo, :path, :from, :to, :message, :model, :model_sha, :template_hash, :made_at, :made_in)",
    )?;
    statement.execute(named_params! {
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
    })?;
    Ok(())
}

pub(crate) fn all(transaction: &Transaction<'_>, repo: RepoId) -> Result<Vec<StoredChangeMessage>, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("SELECT * FROM change_messages WHERE repo = ?1 ORDER BY path, made_at, to_blob")?;
    let rows = statement.query_map([repo.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<StoredChangeMessage> {
    Ok(StoredChangeMessage {
        repo: RepoId(row.get("repo")?),
        path: column::parsed(row, "path")?,
        from: BlobId(row.get("from_blob")?),
        to: BlobId(row.get("to_blob")?),
        message: row.get("message")?,
        model: row.get("model")?,
        model_sha: row.get("model_sha")?,
        template_hash: row.get("template_hash")?,
        made_at: row.get("made_at")?,
        made_in: row.get::<_, Option<i64>>("made_in")?.map(RunId),
    })
}
