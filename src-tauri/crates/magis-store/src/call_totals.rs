//! What calls came to: by agent and step, by day, and how fast a model was.
//!
//! The calls themselves are `calls`'.

use crate::calls::CallOrigin;
use crate::{Store, StoreError, column};
use magis_core::{Agent, RepoId, RunId};
use rusqlite::Row;

/// What the calls of one agent and step came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTotals {
    pub agent: Agent,
    pub step: String,
    /// Whether this run made them.
    pub origin: CallOrigin,
    pub calls: u32,
    /// Tokens of their prompts that were read, without those reused.
    pub prompt_tokens: u64,
    /// Tokens that the cache held already.
    pub reused_tokens: u64,
    /// Tokens written.
    pub generated_tokens: u64,
    /// Milliseconds spent reading.
    pub prompt_ms: u64,
    /// Milliseconds spent writing.
    pub generate_ms: u64,
    /// How often they were asked again.
    pub retries: u32,
}

/// What the calls of one day and step came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayTotals {
    /// The day, `2026-11-21`, where this machine is.
    pub day: String,
    pub step: String,
    pub calls: u32,
    /// Tokens read, without those reused.
    pub prompt_tokens: u64,
    /// Tokens that the cache held already.
    pub reused_tokens: u64,
    /// Tokens written.
    pub generated_tokens: u64,
    /// Milliseconds they took.
    pub ms: u64,
}

/// How fast a model was on this machine, over all its calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Speed {
    /// Tokens read a second.
    pub read: f64,
    /// Tokens written a second.
    pub write: f64,
    /// Over how many calls.
    pub calls: u32,
}

impl Store {
    /// Returns what a run's calls came to, by agent and step.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn call_totals(&self, run: RunId) -> Result<Vec<CallTotals>, StoreError> {
        self.read("adding up a run's calls", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT agent, step, origin, count(*) AS calls, sum(prompt_tokens) AS prompt_tokens,
                        sum(reused_tokens) AS reused_tokens, sum(generated_tokens) AS generated_tokens,
                        sum(prompt_ms) AS prompt_ms, sum(generate_ms) AS generate_ms, sum(retries) AS retries
                 FROM calls WHERE run = ?1 GROUP BY agent, step, origin ORDER BY min(id)",
            )?;
            let sum = |row: &Row<'_>, name| row.get::<_, i64>(name).map(|sum| sum.max(0).cast_unsigned());
            let rows = statement.query_map([run.0], |row| {
                Ok(CallTotals {
                    agent: column::from_word(row, "agent")?,
                    step: row.get("step")?,
                    origin: column::from_word(row, "origin")?,
                    calls: row.get("calls")?,
                    prompt_tokens: sum(row, "prompt_tokens")?,
                    reused_tokens: sum(row, "reused_tokens")?,
                    generated_tokens: sum(row, "generated_tokens")?,
                    prompt_ms: sum(row, "prompt_ms")?,
                    generate_ms: sum(row, "generate_ms")?,
                    retries: row.get("retries")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
    /// Returns what calls came to by day and step, the last day first; of one repository, or of all runs together.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_totals(&self, repo: Option<RepoId>) -> Result<Vec<DayTotals>, StoreError> {
        self.read("adding up calls by day", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT date(at_ms / 1000, 'unixepoch', 'localtime') AS day, step, count(*) AS calls,
                        sum(prompt_tokens) AS prompt_tokens, sum(reused_tokens) AS reused_tokens,
                        sum(generated_tokens) AS generated_tokens, sum(prompt_ms + generate_ms) AS ms
                 FROM calls INDEXED BY calls_by_cost
                 WHERE origin = 'own' AND (?1 IS NULL OR run IN (SELECT id FROM runs WHERE repo = ?1))
                 GROUP BY day, step ORDER BY day DESC, step",
            )?;
            let sum = |row: &Row<'_>, name| row.get::<_, i64>(name).map(|sum| sum.max(0).cast_unsigned());
            let rows = statement.query_map([repo.map(|repo| repo.0)], |row| {
                Ok(DayTotals {
                    day: row.get("day")?,
                    step: row.get("step")?,
                    calls: row.get("calls")?,
                    prompt_tokens: sum(row, "prompt_tokens")?,
                    reused_tokens: sum(row, "reused_tokens")?,
                    generated_tokens: sum(row, "generated_tokens")?,
                    ms: sum(row, "ms")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns how many runs had a call on each day, the last day first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_by_day(&self) -> Result<Vec<(String, u32)>, StoreError> {
        self.read("counting runs by day", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT date(at_ms / 1000, 'unixepoch', 'localtime') AS day, count(DISTINCT run)
                 FROM calls INDEXED BY calls_by_cost WHERE origin = 'own' GROUP BY day ORDER BY day DESC",
            )?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns how fast the model with this hash was in its calls here; none where it made none that took time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn speed_of(&self, model_sha: &str) -> Result<Option<Speed>, StoreError> {
        self.read("measuring a model's speed", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT count(*), sum(prompt_tokens), sum(prompt_ms), sum(generated_tokens), sum(generate_ms)
                 FROM calls INDEXED BY calls_by_cost
                 WHERE origin = 'own' AND model_sha = ?1
                   AND run IN (SELECT id FROM runs WHERE origin = 'local')",
            )?;
            let sums = statement.query_row([model_sha], |row| {
                let sum = |column| {
                    row.get::<_, Option<i64>>(column)
                        .map(|sum| sum.unwrap_or(0).max(0) as f64)
                };
                Ok((row.get::<_, u32>(0)?, sum(1)?, sum(2)?, sum(3)?, sum(4)?))
            })?;
            let (calls, read, read_ms, written, write_ms) = sums;
            let a_second = |tokens: f64, ms: f64| if ms > 0.0 { tokens * 1000.0 / ms } else { 0.0 };
            Ok((read_ms > 0.0).then(|| Speed {
                read: a_second(read, read_ms),
                write: a_second(written, write_ms),
                calls,
            }))
        })
    }
}
