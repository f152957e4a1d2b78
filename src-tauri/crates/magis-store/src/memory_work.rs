//! What the memory cost and saved, call by call.
//!
//! Calls of runs are recorded with the runs; here are those made outside of them, and what both tell of the memory.

use crate::{Store, StoreError, column};
use magis_core::{RepoId, RepoPath};
use rusqlite::named_params;

pub(crate) const VERSION_4: &str = "\
CREATE TABLE memory_work (
    id               INTEGER PRIMARY KEY,
    repo             INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path             TEXT NOT NULL,
    step             TEXT NOT NULL,
    prompt_tokens    INTEGER NOT NULL,
    reused_tokens    INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    at_ms            INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_work_by_time ON memory_work (repo, at_ms);";

/// A call that was made for the memory outside of any run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryWork {
    pub repo: RepoId,
    pub path: RepoPath,
    /// The prompt: `P1` or `P2`.
    pub step: String,
    /// Prompt tokens computed.
    pub prompt_tokens: u32,
    /// Prompt tokens that were there already.
    pub reused_tokens: u32,
    /// Tokens generated.
    pub generated_tokens: u32,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// Tokens worked through on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaySpent {
    /// The day, where this machine is.
    pub day: String,
    /// Prompt tokens computed and tokens generated.
    pub tokens: u64,
}

/// One use of a summary that was there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reuse {
    /// The day, where this machine is.
    pub day: String,
    pub path: RepoPath,
}

impl Store {
    /// Records a call made for the memory outside of any run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_memory_work(&self, work: &MemoryWork) -> Result<(), StoreError> {
        self.write("recording what a summary cost", |transaction| {
            transaction.execute(
                "INSERT INTO memory_work (repo, path, step, prompt_tokens, reused_tokens, generated_tokens, at_ms)
                 VALUES (:repo, :path, :step, :prompt, :reused, :generated, :at)",
                named_params! {
                    ":repo": work.repo.0,
                    ":path": work.path.as_str(),
                    ":step": work.step,
                    ":prompt": work.prompt_tokens,
                    ":reused": work.reused_tokens,
                    ":generated": work.generated_tokens,
                    ":at": work.at_ms,
                },
            )?;
            Ok(())
        })
    }

    /// Returns what was worked through for the memory outside of runs, by day, the last day first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_work_by_day(&self, repo: RepoId) -> Result<Vec<DaySpent>, StoreError> {
        self.read("adding up what summaries cost", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT date(at_ms / 1000, 'unixepoch', 'localtime') AS day,
                        sum(prompt_tokens + generated_tokens) AS tokens
                 FROM memory_work WHERE repo = ?1 GROUP BY day ORDER BY day DESC",
            )?;
            let rows = statement.query_map([repo.0], |row| {
                let tokens: i64 = row.get("tokens")?;
                Ok(DaySpent {
                    day: row.get("day")?,
                    tokens: tokens.max(0).cast_unsigned(),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// When runs used summaries of this repository instead of making them anew, and of which file, in the order of
    /// time. What P1 cost to bring one up to date is among the calls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn reuses(&self, repo: RepoId) -> Result<Vec<Reuse>, StoreError> {
        self.read("looking for used summaries", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT date(events.at_ms / 1000, 'unixepoch', 'localtime') AS day,
                        path
                 FROM runs JOIN run_file_descriptions ON run_file_descriptions.run = runs.id
                      JOIN events USING (run, seq)
                 WHERE runs.repo = ?1 AND seq > runs.shared_events AND source IN ('stored', 'updated')
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

    /// Returns what making the summary of each file cost the last time, in tokens, inside a run or outside of any.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn summary_costs(&self, repo: RepoId) -> Result<Vec<(RepoPath, u64)>, StoreError> {
        self.read("adding up what summaries cost", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT path, tokens, max(at_ms) FROM (
                     SELECT path, prompt_tokens + reused_tokens + generated_tokens AS tokens, calls.at_ms
                     FROM runs JOIN calls ON calls.run = runs.id
                     WHERE runs.repo = ?1 AND calls.step = 'P2' AND calls.path IS NOT NULL
                     UNION ALL
                     SELECT path, prompt_tokens + reused_tokens + generated_tokens, at_ms
                     FROM memory_work WHERE repo = ?1 AND step = 'P2')
                 GROUP BY path",
            )?;
            let rows = statement.query_map([repo.0], |row| {
                let tokens: i64 = row.get("tokens")?;
                Ok((column::parsed(row, "path")?, tokens.max(0).cast_unsigned()))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
