//! The Custodian's memory: a summary of a file as it was in one blob.
//!
//! It does not make summaries, and does not know which blob is the current one.

use crate::error::Fault;
use crate::{Store, StoreError, column};
use magis_core::{BlobId, RepoId, RepoPath, RunId};
use rusqlite::{OptionalExtension, Row, named_params};

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

/// A summary to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSummary {
    /// The repository.
    pub repo: RepoId,
    /// The file.
    pub path: RepoPath,
    /// The blob described.
    pub blob: BlobId,
    /// The words.
    pub text: String,
    /// Whether they were made from a skeleton because the file is long.
    pub from_skeleton: bool,
    /// The file's size in bytes.
    pub file_bytes: u32,
    /// The summary's length in tokens of the model.
    pub tokens: u32,
    /// The model's name.
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
    /// What was kept.
    pub kept: NewSummary,
    /// Whether a person rewrote it.
    pub corrected_by_person: bool,
}

/// How much of a list of files memory knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Files whose very blob has a summary.
    pub fresh: u32,
    /// Files of which only other blobs have one.
    pub stale: u32,
    /// Files without any.
    pub none: u32,
}

/// One use of a summary that was there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reuse {
    /// The day, where this machine is.
    pub day: String,
    /// The file.
    pub path: RepoPath,
}

impl Store {
    /// The summary of exactly this blob.
    pub fn summary_of(&self, repo: RepoId, path: &RepoPath, blob: &BlobId) -> Result<Option<Summary>, StoreError> {
        self.read("reading a summary", |transaction| {
            let mut statement =
                transaction.prepare_cached("SELECT * FROM summaries WHERE repo = ?1 AND path = ?2 AND blob = ?3")?;
            Ok(statement
                .query_row((repo.0, path.as_str(), &blob.0), read_row)
                .optional()?)
        })
    }

    /// The last summary made of this file, whichever its blob.
    pub fn latest_summary(&self, repo: RepoId, path: &RepoPath) -> Result<Option<Summary>, StoreError> {
        self.read("reading a summary", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM summaries WHERE repo = ?1 AND path = ?2 ORDER BY made_at DESC, id DESC LIMIT 1",
            )?;
            Ok(statement.query_row((repo.0, path.as_str()), read_row).optional()?)
        })
    }

    /// Keeps a summary; one of the same blob is replaced unless a person corrected it.
    pub fn put_summary(&self, summary: &NewSummary) -> Result<(), StoreError> {
        self.write("keeping a summary", |transaction| {
            transaction.execute(
                "INSERT INTO summaries (repo, path, blob, summary, from_skeleton, file_bytes, tokens, model, model_sha,
                                        template_hash, made_at, made_in)
                 VALUES (:repo, :path, :blob, :summary, :from_skeleton, :file_bytes, :tokens, :model, :model_sha,
                         :template_hash, :made_at, :made_in)
                 ON CONFLICT (repo, path, blob) DO UPDATE SET
                     summary = excluded.summary, from_skeleton = excluded.from_skeleton,
                     file_bytes = excluded.file_bytes, tokens = excluded.tokens, model = excluded.model,
                     model_sha = excluded.model_sha, template_hash = excluded.template_hash,
                     made_at = excluded.made_at, made_in = excluded.made_in
                 WHERE corrected_by_person = 0",
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
                },
            )?;
            Ok(())
        })
    }

    /// Puts a person's words in place of the summary of exactly this blob; runs read them from now on.
    pub fn correct_summary(
        &self,
        repo: RepoId,
        path: &RepoPath,
        blob: &BlobId,
        text: &str,
    ) -> Result<Option<Summary>, StoreError> {
        self.write("correcting a summary", |transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE summaries SET summary = ?4, corrected_by_person = 1
                 WHERE repo = ?1 AND path = ?2 AND blob = ?3 RETURNING *",
            )?;
            Ok(statement
                .query_row((repo.0, path.as_str(), &blob.0, text), read_row)
                .optional()?)
        })
    }

    /// When summaries of this repository were used instead of being made anew, and of which file, in the order of time.
    pub fn reuses(&self, repo: RepoId) -> Result<Vec<Reuse>, StoreError> {
        self.read("looking for used summaries", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT date(events.at_ms / 1000, 'unixepoch', 'localtime') AS day,
                        json_extract(event, '$.description.path') AS path
                 FROM runs JOIN events ON events.run = runs.id
                 WHERE runs.repo = ?1 AND events.seq > runs.shared_events AND events.stage = 'locate'
                   AND json_extract(event, '$.event') = 'file_described'
                   AND json_extract(event, '$.description.source.kind') = 'stored'
                 ORDER BY events.at_ms",
            )?;
            let rows = statement.query_map([repo.0], |row| {
                Ok(Reuse {
                    day: row.get("day")?,
                    path: column::parsed(row, "path")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// What making the summary of each file cost the last time, in tokens.
    pub fn summary_costs(&self, repo: RepoId) -> Result<Vec<(RepoPath, u64)>, StoreError> {
        self.read("adding up what summaries cost", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT path, prompt_tokens + reused_tokens + generated_tokens AS tokens, max(calls.id)
                 FROM runs JOIN calls ON calls.run = runs.id
                 WHERE runs.repo = ?1 AND calls.step = 'P2' AND calls.path IS NOT NULL GROUP BY path",
            )?;
            let rows = statement.query_map([repo.0], |row| {
                let tokens: i64 = row.get("tokens")?;
                Ok((column::parsed(row, "path")?, tokens.max(0).cast_unsigned()))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// How many of `files` have a summary of that very blob, of another blob, or none.
    pub fn coverage(&self, repo: RepoId, files: &[(RepoPath, BlobId)]) -> Result<Coverage, StoreError> {
        self.read("counting what memory covers", |transaction| {
            let mut statement =
                transaction.prepare_cached("SELECT max(blob = ?3) FROM summaries WHERE repo = ?1 AND path = ?2")?;
            let mut coverage = Coverage::default();
            for (path, blob) in files {
                match statement.query_row((repo.0, path.as_str(), &blob.0), |row| row.get::<_, Option<bool>>(0))? {
                    Some(true) => coverage.fresh += 1,
                    Some(false) => coverage.stale += 1,
                    None => coverage.none += 1,
                }
            }
            Ok(coverage)
        })
    }

    /// The last summary of every file of the repository, by path.
    pub fn summaries(&self, repo: RepoId) -> Result<Vec<Summary>, StoreError> {
        self.read("listing the summaries", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT * FROM summaries AS one WHERE repo = ?1 AND id = (
                     SELECT id FROM summaries WHERE repo = one.repo AND path = one.path
                     ORDER BY made_at DESC, id DESC LIMIT 1)
                 ORDER BY path",
            )?;
            let rows = statement.query_map([repo.0], read_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Drops every summary of one file; returns how many there were.
    pub fn drop_summaries_of(&self, repo: RepoId, path: &RepoPath) -> Result<u32, StoreError> {
        self.write("dropping summaries", |transaction| {
            let dropped = transaction.execute(
                "DELETE FROM summaries WHERE repo = ?1 AND path = ?2",
                (repo.0, path.as_str()),
            )?;
            Ok(dropped as u32)
        })
    }

    /// Drops the whole memory of a repository, messages of changes included; returns how many summaries there were.
    pub fn drop_summaries(&self, repo: RepoId) -> Result<u32, StoreError> {
        self.write("dropping summaries", |transaction| -> Result<u32, Fault> {
            transaction.execute("DELETE FROM change_messages WHERE repo = ?1", [repo.0])?;
            Ok(transaction.execute("DELETE FROM summaries WHERE repo = ?1", [repo.0])? as u32)
        })
    }
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
        corrected_by_person: row.get("corrected_by_person")?,
    })
}
