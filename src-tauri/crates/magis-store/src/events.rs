//! The log of each run: events in their order, without a gap and without a double.
//!
//! It does not fold them.

use crate::error::DatabaseError;
use crate::{Parent, Store, StoreError, calls, column, run_texts, run_timeline, runs};
use magis_core::{LOG_VERSION, RunEvent, RunId, Stage, read_event};
use rusqlite::{Transaction, named_params};
use serde::{Deserialize, Serialize};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE events (
    run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq   INTEGER NOT NULL CHECK (seq >= 1),
    at_ms INTEGER NOT NULL,
    stage TEXT NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;";

/// The version of the log that each event was written in; and what the memory's reports ask of events, outside of their JSON.
pub(crate) const VERSION_8: &str = "\
ALTER TABLE events ADD COLUMN log_version INTEGER NOT NULL DEFAULT 1 CHECK (log_version >= 1);
CREATE TABLE run_file_descriptions (
    run    INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    path   TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('stored', 'updated', 'fresh', 'itself')),
    PRIMARY KEY (run, seq),
    FOREIGN KEY (run, seq) REFERENCES events (run, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO run_file_descriptions (run, seq, path, source)
    SELECT run, seq, json_extract(event, '$.description.path'), json_extract(event, '$.description.source.kind')
    FROM events WHERE stage = 'locate' AND json_extract(event, '$.event') = 'file_described';";

/// A file may be described by its names alone.
pub(crate) const VERSION_11: &str = "\
ALTER TABLE run_file_descriptions RENAME TO run_file_descriptions_8;
CREATE TABLE run_file_descriptions (
    run    INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    path   TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('stored', 'updated', 'fresh', 'itself', 'names')),
    PRIMARY KEY (run, seq),
    FOREIGN KEY (run, seq) REFERENCES events (run, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO run_file_descriptions SELECT * FROM run_file_descriptions_8;
DROP TABLE run_file_descriptions_8;";

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Its number in the run, from 1.
    pub seq: u32,
    /// When it was appended, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The stage it belongs to; a person's event and a notice belong to the stage that was under way.
    pub stage: Stage,
    pub event: RunEvent,
}

impl Store {
    /// Appends event number `seq`, counted from 1, which has to be the next: so a log has no gap, and of two drivers that
    /// follow one run only one can go on. The run's row follows in the same transaction.
    ///
    /// # Errors
    /// When there is no such run, the event is not its next one, or the database cannot be written.
    pub fn append_event(&self, run: RunId, seq: u32, at: i64, event: &RunEvent) -> Result<(), StoreError> {
        self.write("appending an event", |transaction| {
            append(transaction, run, seq, at, event)
        })
    }

    /// Appends events, the first as number `seq`: all of them, or none.
    ///
    /// # Errors
    /// As of [`append_event`](Self::append_event).
    pub fn append_events(&self, run: RunId, seq: u32, at: i64, events: &[RunEvent]) -> Result<(), StoreError> {
        self.write("appending events", |transaction| {
            (seq..)
                .zip(events)
                .try_for_each(|(seq, event)| append(transaction, run, seq, at, event))
        })
    }

    /// Returns how many events a run has; also the number of its last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn event_count(&self, run: RunId) -> Result<u32, StoreError> {
        self.read("counting a run's events", |transaction| count(transaction, run))
    }

    /// Returns all events of a run, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events(&self, run: RunId) -> Result<Vec<StoredEvent>, StoreError> {
        self.events_after(run, 0)
    }

    /// Returns the events of a run whose number is greater than `seq`, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_after(&self, run: RunId, seq: u32) -> Result<Vec<StoredEvent>, StoreError> {
        self.read("reading a run's events", |transaction| {
            read(transaction, run, seq, u32::MAX)
        })
    }

    /// Gives `to`, which has no events yet, the first `events` events of `from` and the calls that led to them.
    ///
    /// # Errors
    /// When the run copied from has fewer events, the one copied to has some, or the database cannot be written.
    pub fn copy_run_prefix(&self, from: RunId, events: u32, to: RunId) -> Result<(), StoreError> {
        self.write("copying the beginning of a run", |transaction| {
            copy_prefix(transaction, from, events, to)
        })
    }
}

/// Copies the first events of a run, and the calls that led to them, within a transaction.
pub(crate) fn copy_prefix(
    transaction: &Transaction<'_>,
    from: RunId,
    events: u32,
    to: RunId,
) -> Result<(), DatabaseError> {
    runs::get(transaction, from)?;
    runs::get(transaction, to)?;
    let refused = |why: &str| StoreError::NoPrefix {
        from,
        to,
        events,
        why: why.to_owned(),
    };
    let prefix = read(transaction, from, 0, events)?;
    if prefix.len() != events as usize {
        return Err(refused("the first has fewer events").into());
    }
    if from == to || count(transaction, to)? > 0 {
        return Err(refused("the second has events already").into());
    }
    for stored in &prefix {
        insert(transaction, to, stored)?;
    }
    let facts: Vec<RunEvent> = prefix.into_iter().map(|stored| stored.event).collect();
    run_timeline::take_over(
        transaction,
        to,
        Parent {
            run: from,
            shared_events: events,
        },
        &facts,
    )?;
    calls::inherit(transaction, from, events, to)
}

/// Appends within a transaction; the run's row and texts follow.
pub(crate) fn append(
    transaction: &Transaction<'_>,
    run: RunId,
    seq: u32,
    at: i64,
    event: &RunEvent,
) -> Result<(), DatabaseError> {
    let next = count(transaction, run)? + 1;
    if next != seq {
        return Err(StoreError::OutOfOrder { run, given: seq, next }.into());
    }
    let stage = match event.stage() {
        Some(stage) => stage,
        None => last_stage(transaction, run)?,
    };
    insert(
        transaction,
        run,
        &StoredEvent {
            seq,
            at_ms: at,
            stage,
            event: event.clone(),
        },
    )?;
    run_timeline::follow(transaction, run, at, event)
}

/// Returns the number of the last event; 0 for a run without any.
pub(crate) fn count(transaction: &Transaction<'_>, run: RunId) -> Result<u32, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT (SELECT max(seq) FROM events WHERE run = ?1) AS last, EXISTS (SELECT 1 FROM runs WHERE id = ?1)",
    )?;
    let (last, known) = statement.query_row([run.0], |row| {
        Ok((row.get::<_, Option<u32>>(0)?, row.get::<_, bool>(1)?))
    })?;
    if known {
        Ok(last.unwrap_or(0))
    } else {
        Err(StoreError::NoRun(run).into())
    }
}

/// Returns the events numbered from `after` + 1 to `upto`.
pub(crate) fn read(
    transaction: &Transaction<'_>,
    run: RunId,
    after: u32,
    upto: u32,
) -> Result<Vec<StoredEvent>, DatabaseError> {
    count(transaction, run)?;
    let mut statement = transaction.prepare_cached(
        "SELECT seq, at_ms, stage, log_version, event FROM events WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
    )?;
    let rows = statement.query_map((run.0, after, upto), |row| {
        Ok(StoredEvent {
            seq: row.get("seq")?,
            at_ms: row.get("at_ms")?,
            stage: column::from_word(row, "stage")?,
            event: column::logged(row, "event", read_event)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn insert(transaction: &Transaction<'_>, run: RunId, stored: &StoredEvent) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO events (run, seq, at_ms, stage, log_version, event)
         VALUES (:run, :seq, :at, :stage, :log_version, :event)",
    )?;
    statement.execute(named_params! {
        ":run": run.0,
        ":seq": stored.seq,
        ":at": stored.at_ms,
        ":stage": stored.stage.name(),
        ":log_version": LOG_VERSION,
        ":event": serde_json::to_string(&stored.event)?,
    })?;
    if let RunEvent::FileDescribed { description } = &stored.event {
        let mut statement = transaction
            .prepare_cached("INSERT INTO run_file_descriptions (run, seq, path, source) VALUES (?1, ?2, ?3, ?4)")?;
        statement.execute((run.0, stored.seq, description.path.as_str(), description.source.name()))?;
    }
    run_texts::add_event(transaction, run, stored.seq, &stored.event)
}

fn last_stage(transaction: &Transaction<'_>, run: RunId) -> Result<Stage, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("SELECT stage FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1")?;
    let mut rows = statement.query_map([run.0], |row| column::from_word(row, "stage"))?;
    Ok(rows.next().transpose()?.unwrap_or(Stage::Locate))
}
