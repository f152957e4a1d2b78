//! Every model call of a run that came to an end: what was asked, what came back, what it cost.
//!
//! A call is recorded once, whole, when it has finished; an unfinished call leaves nothing, and is made again on resume.

use crate::error::DatabaseError;
use crate::{Store, StoreError, column, run_timeline, runs};
use magis_core::{Agent, AttemptNumber, RepoPath, Round, RunId, TaskId};
use rusqlite::{OptionalExtension, Row, Transaction, named_params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) const VERSION_1: &str = "\
CREATE TABLE calls (
    id               INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    origin           TEXT NOT NULL CHECK (origin IN ('own', 'inherited')),
    key              TEXT NOT NULL,
    after_seq        INTEGER NOT NULL,
    agent            TEXT NOT NULL,
    step             TEXT NOT NULL,
    template_hash    TEXT NOT NULL,
    task             INTEGER,
    round            INTEGER,
    candidate        INTEGER,
    path             TEXT,
    model            TEXT NOT NULL,
    model_sha        TEXT NOT NULL,
    seed             INTEGER NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('chat', 'score')),
    finish           TEXT NOT NULL,
    prompt_tokens    INTEGER NOT NULL,
    reused_tokens    INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    prompt_ms        INTEGER NOT NULL,
    generate_ms      INTEGER NOT NULL,
    retries          INTEGER NOT NULL,
    at_ms            INTEGER NOT NULL,
    left_out         TEXT NOT NULL,
    request          TEXT NOT NULL,
    reply            TEXT NOT NULL,
    UNIQUE (run, key)
) STRICT;
CREATE INDEX calls_of_run ON calls (run);";

/// For what calls cost over time and how fast a model is: everything asked stands in the index, so that the texts beside
/// are not read.
pub(crate) const VERSION_2: &str = "\
CREATE INDEX calls_by_cost ON calls (
    origin, model_sha, at_ms, run, agent, step, kind, prompt_tokens, reused_tokens, generated_tokens, prompt_ms, generate_ms
);";

/// A call's id within the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub i64);

/// What kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// The model wrote a reply.
    Chat,
    /// The model gave log-probabilities of given texts.
    Score,
}

/// Which run made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOrigin {
    Own,
    /// The run whose beginning it took over.
    Inherited,
}

/// A finished model call, as it is written into the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// A hash of the whole request and of how often it was made; unique within the run.
    pub key: String,
    /// How many events the run had when the call was made.
    pub after_seq: u32,
    pub agent: Agent,
    /// The step: `P2`, `open`, `naming`.
    pub step: String,
    /// The hash of the template.
    pub template_hash: String,
    pub task: Option<TaskId>,
    pub round: Option<Round>,
    /// For which answer of the round.
    #[serde(rename = "candidate")]
    pub attempt: Option<AttemptNumber>,
    pub path: Option<RepoPath>,
    pub model: String,
    /// The SHA-256 of the model's file.
    pub model_sha: String,
    pub seed: u64,
    /// What kind of call.
    pub kind: CallKind,
    /// What was asked, sampling included.
    pub request: Value,
    pub reply: Value,
    /// How it finished: `stop`, `length`, ...
    pub finish: String,
    /// Tokens of the prompt read in this call, without those reused.
    pub prompt_tokens: u32,
    /// Tokens of the prompt that the cache held already.
    pub reused_tokens: u32,
    /// Tokens written.
    pub generated_tokens: u32,
    /// Milliseconds spent reading.
    pub prompt_ms: u32,
    /// Milliseconds spent writing.
    pub generate_ms: u32,
    /// What was shortened or left out of the prompt.
    pub left_out: Value,
    /// How often it was asked again before this reply was usable.
    pub retries: u32,
    /// When it finished, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// A call that the store holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    /// Whether this run made it.
    pub origin: CallOrigin,
    pub record: CallRecord,
}

impl CallRecord {
    /// Returns milliseconds that the model worked.
    pub(crate) fn worked_ms(&self) -> i64 {
        i64::from(self.prompt_ms) + i64::from(self.generate_ms)
    }

    /// Returns tokens the model worked through: read and written, without those reused.
    pub(crate) fn spent_tokens(&self) -> u32 {
        self.prompt_tokens.saturating_add(self.generated_tokens)
    }
}

impl Store {
    /// Records a finished call of a run.
    ///
    /// # Errors
    /// When the run has a call with this key, or the database cannot be written.
    pub fn record_call(&self, run: RunId, record: &CallRecord) -> Result<CallId, StoreError> {
        self.write("recording a call", |transaction| {
            runs::known(transaction, run)?;
            let id = insert(transaction, run, CallOrigin::Own, record)?;
            run_timeline::count_cost(transaction, run, record.spent_tokens(), record.worked_ms())?;
            Ok(id)
        })
    }

    /// Returns the call of this key, where the run has it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_call(&self, run: RunId, key: &str) -> Result<Option<Call>, StoreError> {
        self.read("looking for a call", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT * FROM calls WHERE run = ?1 AND key = ?2")?;
            Ok(statement.query_row((run.0, key), read_row).optional()?)
        })
    }

    /// Returns all calls of a run, in the order in which they finished.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn calls(&self, run: RunId) -> Result<Vec<Call>, StoreError> {
        self.read("reading a run's calls", |transaction| read(transaction, run))
    }

    /// Reads one model call with its request and its reply.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn call(&self, id: CallId) -> Result<Option<Call>, StoreError> {
        self.read("reading a call", |transaction| {
            let mut statement = transaction.prepare_cached("SELECT * FROM calls WHERE id = ?1")?;
            Ok(statement.query_row([id.0], read_row).optional()?)
        })
    }
}

/// Returns all calls of a run within a transaction.
pub(crate) fn read(transaction: &Transaction<'_>, run: RunId) -> Result<Vec<Call>, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT * FROM calls WHERE run = ?1 ORDER BY id")?;
    let rows = statement.query_map([run.0], read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Gives `to` the calls that led to the first `events` events of `from`; those made after the last of them belong to what
/// `to` will do anew.
pub(crate) fn inherit(transaction: &Transaction<'_>, from: RunId, events: u32, to: RunId) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT INTO calls (run, origin, key, after_seq, agent, step, template_hash, task, round, candidate, path, model,
                            model_sha, seed, kind, finish, prompt_tokens, reused_tokens, generated_tokens, prompt_ms,
                            generate_ms, retries, at_ms, left_out, request, reply)
         SELECT ?3, 'inherited', key, after_seq, agent, step, template_hash, task, round, candidate, path, model,
                model_sha, seed, kind, finish, prompt_tokens, reused_tokens, generated_tokens, prompt_ms,
                generate_ms, retries, at_ms, left_out, request, reply
         FROM calls WHERE run = ?1 AND after_seq < ?2 ORDER BY id",
        (from.0, events, to.0),
    )?;
    Ok(())
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    run: RunId,
    origin: CallOrigin,
    record: &CallRecord,
) -> Result<CallId, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO calls (run, origin, key, after_seq, agent, step, template_hash, task, round, candidate, path, model,
                            model_sha, seed, kind, finish, prompt_tokens, reused_tokens, generated_tokens, prompt_ms,
                            generate_ms, retries, at_ms, left_out, request, reply)
         VALUES (:run, :origin, :key, :after_seq, :agent, :step, :template_hash, :task, :round, :candidate, :path, :model,
                 :model_sha, :seed, :kind, :finish, :prompt_tokens, :reused_tokens, :generated_tokens, :prompt_ms,
                 :generate_ms, :retries, :at_ms, :left_out, :request, :reply)
         ON CONFLICT (run, key) DO NOTHING RETURNING id",
    )?;
    let id: Option<i64> = statement
        .query_row(
            named_params! {
                ":run": run.0,
                ":origin": column::word(&origin)?,
                ":key": record.key,
                ":after_seq": record.after_seq,
                ":agent": column::word(&record.agent)?,
                ":step": record.step,
                ":template_hash": record.template_hash,
                ":task": record.task.map(|task| task.0),
                ":round": record.round.map(|round| round.0),
                ":candidate": record.attempt.map(|attempt| attempt.0),
                ":path": record.path.as_ref().map(RepoPath::as_str),
                ":model": record.model,
                ":model_sha": record.model_sha,
                ":seed": record.seed.cast_signed(),
                ":kind": column::word(&record.kind)?,
                ":finish": record.finish,
                ":prompt_tokens": record.prompt_tokens,
                ":reused_tokens": record.reused_tokens,
                ":generated_tokens": record.generated_tokens,
                ":prompt_ms": record.prompt_ms,
                ":generate_ms": record.generate_ms,
                ":retries": record.retries,
                ":at_ms": record.at_ms,
                ":left_out": serde_json::to_string(&record.left_out)?,
                ":request": serde_json::to_string(&record.request)?,
                ":reply": serde_json::to_string(&record.reply)?,
            },
            |row| row.get(0),
        )
        .optional()?;
    id.map(CallId).ok_or_else(|| {
        StoreError::DoubleCall {
            run,
            key: record.key.clone(),
        }
        .into()
    })
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Call> {
    let path = if row.get_ref("path")? == rusqlite::types::ValueRef::Null {
        None
    } else {
        Some(column::parsed(row, "path")?)
    };
    let record = CallRecord {
        key: row.get("key")?,
        after_seq: row.get("after_seq")?,
        agent: column::from_word(row, "agent")?,
        step: row.get("step")?,
        template_hash: row.get("template_hash")?,
        task: row.get::<_, Option<u32>>("task")?.map(TaskId),
        round: row.get::<_, Option<u32>>("round")?.map(Round),
        attempt: row.get::<_, Option<u32>>("candidate")?.map(AttemptNumber),
        path,
        model: row.get("model")?,
        model_sha: row.get("model_sha")?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        kind: column::from_word(row, "kind")?,
        request: column::json(row, "request")?,
        reply: column::json(row, "reply")?,
        finish: row.get("finish")?,
        prompt_tokens: row.get("prompt_tokens")?,
        reused_tokens: row.get("reused_tokens")?,
        generated_tokens: row.get("generated_tokens")?,
        prompt_ms: row.get("prompt_ms")?,
        generate_ms: row.get("generate_ms")?,
        left_out: column::json(row, "left_out")?,
        retries: row.get("retries")?,
        at_ms: row.get("at_ms")?,
    };
    Ok(Call {
        id: CallId(row.get("id")?),
        origin: column::from_word(row, "origin")?,
        record,
    })
}
