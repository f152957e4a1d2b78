//! The Custodian's memory: a summary of a file as it was in one blob.
//!
//! It does not make summaries, and does not know which blob is the current one.

use crate::error::DatabaseError;
use crate::{Store, StoreError, column};
use magis_core::{BlobId, RepoId, RepoPath, RunId};
use rusqlite::{OptionalExtension, Row, Transaction, named_params};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE summaries (
    id                  INTEGER PRIMARY KEY,
    repo                INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path                TEXT NOT NULL,
    blob                TEXT NOT NULL,
    summary             TEXT NOT NULL,
    from_skeleton       INTEGER NOT NULL CHECK (from_skeleton IN (0, 1)),
    file_bytes          INTEGER NOT NULL,
    tokens              INTEGER NOT NULL,
    model               TEXT NOT NULL,
    model_sha           TEXT NOT NULL,
    template_hash       TEXT NOT NULL,
    made_at             INTEGER NOT NULL,
    made_in             INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    corrected_by_person INTEGER NOT NULL DEFAULT 0 CHECK (corrected_by_person IN (0, 1)),
    UNIQUE (repo, path, blob)
) STRICT;
CREATE INDEX summaries_by_age ON summaries (repo, path, made_at);
CREATE INDEX summaries_of_run ON summaries (made_in);";

/// The key is what was described and what described it: another model or prompt is another summary of the same blob.
pub(crate) const VERSION_4: &str = "\
CREATE TABLE summaries_by_content (
    id                  INTEGER PRIMARY KEY,
    repo                INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path                TEXT NOT NULL,
    blob                TEXT NOT NULL,
    summary             TEXT NOT NULL,
    from_skeleton       INTEGER NOT NULL CHECK (from_skeleton IN (0, 1)),
    file_bytes          INTEGER NOT NULL,
    tokens              INTEGER NOT NULL,
    model               TEXT NOT NULL,
    model_sha           TEXT NOT NULL,
    template_hash       TEXT NOT NULL,
    made_at             INTEGER NOT NULL,
    made_in             INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    corrected_at        INTEGER,
    UNIQUE (repo, path, blob, model_sha, template_hash)
) STRICT;
INSERT INTO summaries_by_content
    SELECT id, repo, path, blob, summary, from_skeleton, file_bytes, tokens, model, model_sha, template_hash, made_at,
           made_in, CASE corrected_by_person WHEN 1 THEN made_at END
    FROM summaries;
DROP TABLE summaries;
ALTER TABLE summaries_by_content RENAME TO summaries;
CREATE INDEX summaries_by_blob ON summaries (repo, blob);
CREATE INDEX summaries_of_run ON summaries (made_in);";

/// The newest words come first; of one moment, the row that was written last.
const NEWEST: &str = "coalesce(corrected_at, made_at) DESC, id DESC";

/// What made a text: part of the key it is remembered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Maker<'a> {
    /// The SHA-256 of the model's file.
    pub model_sha: &'a str,
    /// The hash of the prompt's template.
    pub template_hash: &'a str,
}

/// A summary to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSummary {
    pub repo: RepoId,
    pub path: RepoPath,
    pub blob: BlobId,
    pub text: String,
    /// Whether they were made from a skeleton because the file is long.
    pub from_skeleton: bool,
    /// The file's size in bytes.
    pub file_bytes: u32,
    /// The summary's length in tokens of the model.
    pub tokens: u32,
    pub model: String,
    /// The SHA-256 of the model's file.
    pub model_sha: String,
    /// The hash of P2's template.
    pub template_hash: String,
    /// When, in milliseconds since the epoch.
    pub made_at: i64,
    /// In which run; none for one made outside a run.
    pub made_in: Option<RunId>,
}

/// A summary that memory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub kept: NewSummary,
    /// When a person rewrote it, in milliseconds since the epoch; none for a model's own words.
    pub corrected_at: Option<i64>,
}

impl Summary {
    /// Returns whether the words are a person's.
    pub fn is_corrected(&self) -> bool {
        self.corrected_at.is_some()
    }

    /// When the words were written, by a model or a person.
    pub fn written_at(&self) -> i64 {
        self.corrected_at.unwrap_or(self.kept.made_at)
    }
}

/// How much of a list of files memory knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Files whose very blob has a summary.
    pub fresh: u32,
    /// Files of which only other blobs have one.
    pub stale: u32,
    pub none: u32,
    /// Files without one of their very blob, that need none.
    pub needs_none: u32,
}

impl Store {
    /// Returns what a run may read as the summary of exactly this blob: a person's words before all, else what this
    /// very model and prompt wrote. The content counts and not the name, so a file that was moved has its summary.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn known_summary(
        &self,
        repo: RepoId,
        path: &RepoPath,
        blob: &BlobId,
        maker: Maker<'_>,
    ) -> Result<Option<Summary>, StoreError> {
        self.read("reading a summary", |transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT * FROM summaries WHERE repo = ?1 AND blob = ?2
                     AND (corrected_at IS NOT NULL OR (model_sha = ?3 AND template_hash = ?4))
                 ORDER BY corrected_at IS NULL, path <> ?5, {NEWEST} LIMIT 1"
            ))?;
            let key = (repo.0, &blob.0, maker.model_sha, maker.template_hash, path.as_str());
            Ok(statement.query_row(key, read_row).optional()?)
        })
    }

    /// Returns the summaries of older versions of a file that a run may build upon, newest first, at most `most`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn versions_of(
        &self,
        repo: RepoId,
        path: &RepoPath,
        maker: Maker<'_>,
        most: u32,
    ) -> Result<Vec<Summary>, StoreError> {
        self.read("reading older summaries", |transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT * FROM summaries WHERE repo = ?1 AND path = ?2
                     AND (corrected_at IS NOT NULL OR (model_sha = ?3 AND template_hash = ?4))
                 ORDER BY {NEWEST} LIMIT ?5"
            ))?;
            let key = (repo.0, path.as_str(), maker.model_sha, maker.template_hash, most);
            let rows = statement.query_map(key, read_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the summary of exactly this blob as a person is shown it, whichever model made it: a person's words,
    /// else the newest; under another name only where this one has none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn summary_of(&self, repo: RepoId, path: &RepoPath, blob: &BlobId) -> Result<Option<Summary>, StoreError> {
        self.read("reading a summary", |transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT * FROM summaries WHERE repo = ?1 AND blob = ?2
                 ORDER BY corrected_at IS NULL, path <> ?3, {NEWEST} LIMIT 1"
            ))?;
            Ok(statement
                .query_row((repo.0, &blob.0, path.as_str()), read_row)
                .optional()?)
        })
    }

    /// Returns the last summary made of this file, whichever its blob.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn latest_summary(&self, repo: RepoId, path: &RepoPath) -> Result<Option<Summary>, StoreError> {
        self.read("reading a summary", |transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT * FROM summaries WHERE repo = ?1 AND path = ?2 ORDER BY {NEWEST} LIMIT 1"
            ))?;
            Ok(statement.query_row((repo.0, path.as_str()), read_row).optional()?)
        })
    }

    /// Keeps a summary; one of the same blob, model and prompt is replaced unless a person corrected it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_summary(&self, summary: &NewSummary) -> Result<(), StoreError> {
        self.write("keeping a summary", |transaction| put(transaction, summary))
    }

    /// Keeps a summary in the place of everything that is remembered of its file, a person's words included: all of it is
    /// done, or nothing.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn replace_summaries(&self, summary: &NewSummary) -> Result<(), StoreError> {
        self.write("making a summary anew", |transaction| {
            drop_of(transaction, summary.repo, &summary.path)?;
            put(transaction, summary)
        })
    }

    /// Puts a person's words in place of the summary of exactly this blob, at this moment; runs read them from now on,
    /// whichever model they use. None where this blob has no summary.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn correct_summary(
        &self,
        repo: RepoId,
        path: &RepoPath,
        blob: &BlobId,
        text: &str,
        at: i64,
    ) -> Result<Option<Summary>, StoreError> {
        self.write("correcting a summary", |transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "UPDATE summaries SET summary = ?4, corrected_at = ?5
                 WHERE id = (SELECT id FROM summaries WHERE repo = ?1 AND blob = ?3
                             ORDER BY corrected_at IS NULL, path <> ?2, {NEWEST} LIMIT 1)
                 RETURNING *"
            ))?;
            Ok(statement
                .query_row((repo.0, path.as_str(), &blob.0, text, at), read_row)
                .optional()?)
        })
    }

    /// Returns how many of `files` have a summary of that very blob, whatever it was called, of another blob, or none;
    /// without one of their very blob, those count apart that `needs_none` is true of.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(
        &self,
        repo: RepoId,
        files: &[(RepoPath, BlobId)],
        needs_none: impl Fn(&BlobId) -> bool,
    ) -> Result<Coverage, StoreError> {
        self.read("counting what memory covers", |transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT max(blob = ?3) FROM summaries WHERE repo = ?1 AND (path = ?2 OR blob = ?3)")?;
            let mut coverage = Coverage::default();
            for (path, blob) in files {
                match statement.query_row((repo.0, path.as_str(), &blob.0), |row| row.get::<_, Option<bool>>(0))? {
                    Some(true) => coverage.fresh += 1,
                    Some(false) | None if needs_none(blob) => coverage.needs_none += 1,
                    Some(false) => coverage.stale += 1,
                    None => coverage.none += 1,
                }
            }
            Ok(coverage)
        })
    }

    /// Returns every summary of every version of the repository's files, by path, a file's newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_summaries(&self, repo: RepoId) -> Result<Vec<Summary>, StoreError> {
        self.read("listing the summaries", |transaction| all(transaction, repo))
    }

    /// Returns the last summary of every file of the repository, by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn summaries(&self, repo: RepoId) -> Result<Vec<Summary>, StoreError> {
        let mut summaries = self.all_summaries(repo)?;
        summaries.dedup_by(|later, kept| later.kept.path == kept.kept.path);
        Ok(summaries)
    }

    /// Drops every summary of one file, and what is remembered of the same contents under other names, which would come
    /// back in its place; messages of changes included. Returns how many summaries there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_summaries_of(&self, repo: RepoId, path: &RepoPath) -> Result<u32, StoreError> {
        self.write("dropping summaries", |transaction| drop_of(transaction, repo, path))
    }

    /// Drops the whole memory of a repository, messages of changes included; returns how many summaries there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_summaries(&self, repo: RepoId) -> Result<u32, StoreError> {
        self.write("dropping summaries", |transaction| -> Result<u32, DatabaseError> {
            transaction.execute("DELETE FROM change_messages WHERE repo = ?1", [repo.0])?;
            Ok(transaction.execute("DELETE FROM summaries WHERE repo = ?1", [repo.0])? as u32)
        })
    }
}

fn put(transaction: &Transaction<'_>, summary: &NewSummary) -> Result<(), DatabaseError> {
    transaction.execute(
        &format!("{KEEP} WHERE corrected_at IS NULL"),
        named_params! {
            ":repo": summary.repo.0,
            ":path": summary.path.as_str(),
            ":blob": summary.blob.0,
            ":summary": summary.text,
            ":from_skeleton": summary.from_skeleton,
            ":file_bytes": summary.file_bytes,
            ":tokens": summary.tokens,
            ":model": summary.model,
            ":model_sha": summary.model_sha,
            ":template_hash": summary.template_hash,
            ":made_at": summary.made_at,
            ":made_in": summary.made_in.map(|run| run.0),
            ":corrected_at": None::<i64>,
        },
    )?;
    Ok(())
}

fn drop_of(transaction: &Transaction<'_>, repo: RepoId, path: &RepoPath) -> Result<u32, DatabaseError> {
    let of_file = "SELECT blob FROM summaries WHERE repo = ?1 AND path = ?2";
    transaction.execute(
        &format!("DELETE FROM change_messages WHERE repo = ?1 AND (path = ?2 OR from_blob IN ({of_file}))"),
        (repo.0, path.as_str()),
    )?;
    let dropped = transaction.execute(
        &format!("DELETE FROM summaries WHERE repo = ?1 AND blob IN ({of_file})"),
        (repo.0, path.as_str()),
    )?;
    Ok(dropped as u32)
}

/// Writes a row, or the words of the row with its key; what may be replaced is said behind it.
pub(crate) const KEEP: &str = "\
INSERT INTO summaries (repo, path, blob, summary, from_skeleton, file_bytes, tokens, model, model_sha, template_hash,
                       made_at, made_in, corrected_at)
VALUES (:repo, :path, :blob, :summary, :from_skeleton, :file_bytes, :tokens, :model, :model_sha, :template_hash,
        :made_at, :made_in, :corrected_at)
ON CONFLICT (repo, path, blob, model_sha, template_hash) DO UPDATE SET
    summary = excluded.summary, from_skeleton = excluded.from_skeleton, file_bytes = excluded.file_bytes,
    tokens = excluded.tokens, model = excluded.model, made_at = excluded.made_at, made_in = excluded.made_in,
    corrected_at = excluded.corrected_at";

/// Returns every summary of a repository, by path, a file's newest first.
pub(crate) fn all(transaction: &Transaction<'_>, repo: RepoId) -> Result<Vec<Summary>, DatabaseError> {
    let mut statement = transaction.prepare_cached(&format!(
        "SELECT * FROM summaries WHERE repo = ?1 ORDER BY path, {NEWEST}"
    ))?;
    let rows = statement.query_map([repo.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let kept = NewSummary {
        repo: RepoId(row.get("repo")?),
        path: column::parsed(row, "path")?,
        blob: BlobId(row.get("blob")?),
        text: row.get("summary")?,
        from_skeleton: row.get("from_skeleton")?,
        file_bytes: row.get("file_bytes")?,
        tokens: row.get("tokens")?,
        model: row.get("model")?,
        model_sha: row.get("model_sha")?,
        template_hash: row.get("template_hash")?,
        made_at: row.get("made_at")?,
        made_in: row.get::<_, Option<i64>>("made_in")?.map(RunId),
    };
    Ok(Summary {
        kept,
        corrected_at: row.get("corrected_at")?,
    })
}
