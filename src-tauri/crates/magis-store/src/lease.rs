//! Who works: at most one driver, on one run, in the whole data folder. The table has a single row.
//!
//! A lease holds as long as its holder's process lives, whatever the clocks say. Where that cannot be known, and for the
//! process's own, it holds until it runs out. A person can break any.

use crate::error::DatabaseError;
use crate::{Store, StoreError, run_timeline, runs};
use magis_core::RunId;
use magis_platform::process::{Liveness, ProcessMark};
use rusqlite::{OptionalExtension, Transaction, named_params};
use thiserror::Error;

pub(crate) const VERSION_1: &str = "\
CREATE TABLE lease (
    slot        INTEGER PRIMARY KEY CHECK (slot = 1),
    run         INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    holder      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    acquired_at INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX lease_of_run ON lease (run);";

pub(crate) const VERSION_14: &str = "ALTER TABLE lease ADD COLUMN started TEXT;";

/// No lease is given for longer, in milliseconds. One that would last longer was taken while the clock was ahead, or the
/// clock was put back since: where it is not known whether its holder lives, it is not believed.
const LONGEST: i64 = 5 * 60_000;

/// The right to work on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    /// Who holds it: a text that no other driver uses.
    pub holder: String,
    pub process: ProcessMark,
    /// Since when, in milliseconds since the epoch.
    pub acquired_at: i64,
    /// Until when, unless renewed.
    pub expires_at: i64,
}

/// Why a lease could not be had or kept.
#[derive(Debug, Error)]
pub enum LeaseError {
    /// Another driver works on this run.
    #[error("run {} is being worked on by {} (process {})", .0.run, .0.holder, .0.process.pid)]
    HeldBy(Lease),
    /// Another run is being worked on; this one has to wait.
    #[error("run {} is active (by {}, process {}); only one run works at a time", .0.run, .0.holder, .0.process.pid)]
    OtherRunActive(Lease),
    /// The lease ran out and somebody else took the place, or it was released.
    #[error("the lease of run {run} is no longer held by {holder}")]
    Lost { run: RunId, holder: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LeaseError {
    /// Returns what a person can do about it, in a sentence.
    pub fn remedy(&self) -> String {
        match self {
            Self::HeldBy(lease) => format!(
                "follow run {0} where it is open, or stop it there; if that process hangs, end it, or take the run from \
                 it with 'magis runs break-lease {0}'",
                lease.run
            ),
            Self::OtherRunActive(lease) => format!(
                "wait until run {0} is over, or stop it; this run stays in the queue; if that process hangs, end it, or \
                 take the run from it with 'magis runs break-lease {0}'",
                lease.run
            ),
            Self::Lost { .. } => "load the run again; another window may be working on it".to_owned(),
            Self::Store(error) => error.remedy(),
        }
    }
}

impl Store {
    /// Takes the lease of `run` for `ttl` milliseconds, five minutes at most. One that ran out is replaced; the same holder gets its own again.
    /// A run that was queued or interrupted counts as running from here on.
    ///
    /// # Errors
    /// When somebody else holds it, or the database cannot be written.
    pub fn acquire_lease(
        &self,
        run: RunId,
        holder: &str,
        process: ProcessMark,
        now: i64,
        ttl: i64,
    ) -> Result<Lease, LeaseError> {
        let lease = Lease {
            run,
            holder: holder.to_owned(),
            process,
            acquired_at: now,
            expires_at: now.saturating_add(ttl.min(LONGEST)),
        };
        let standing = self.write("taking the lease of a run", |transaction| {
            runs::known(transaction, run)?;
            match live(transaction, now)? {
                Some(other) if other.run != run || other.holder != holder => Ok(Some(other)),
                Some(_) | None => {
                    put(transaction, &lease)?;
                    run_timeline::begin(transaction, run, now)?;
                    Ok(None)
                }
            }
        })?;
        match standing {
            None => Ok(lease),
            Some(other) if other.run == run => Err(LeaseError::HeldBy(other)),
            Some(other) => Err(LeaseError::OtherRunActive(other)),
        }
    }

    /// Prolongs a lease to `ttl` milliseconds from now. One that ran out is still its holder's while nobody took it.
    ///
    /// # Errors
    /// When it was lost, or the database cannot be written.
    pub fn renew_lease(&self, lease: &Lease, now: i64, ttl: i64) -> Result<Lease, LeaseError> {
        let renewed = Lease {
            expires_at: now.saturating_add(ttl.min(LONGEST)),
            ..lease.clone()
        };
        let held = self.write("renewing a lease", |transaction| {
            let held = current(transaction)?.is_some_and(|found| found.is_same_hold(lease));
            if held {
                put(transaction, &renewed)?;
            }
            Ok(held)
        })?;
        if held { Ok(renewed) } else { Err(lease.lost()) }
    }

    /// Gives a lease back. A run that neither ended nor was paused counts as interrupted.
    ///
    /// # Errors
    /// When it was lost, or the database cannot be written.
    pub fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError> {
        let held = self.write("releasing a lease", |transaction| {
            let held = current(transaction)?.is_some_and(|found| found.is_same_hold(lease));
            if held {
                transaction.execute("DELETE FROM lease", [])?;
                run_timeline::leave(transaction, lease.run)?;
            }
            Ok(held)
        })?;
        if held { Ok(()) } else { Err(lease.lost()) }
    }

    /// Marks running runs that nobody holds a live lease of as interrupted; returns them, oldest first. Called at start.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn interrupt_abandoned_runs(&self, now: i64) -> Result<Vec<RunId>, StoreError> {
        self.write("looking for interrupted runs", |transaction| {
            let driven = live(transaction, now)?.map(|lease| lease.run.0);
            let mut statement = transaction.prepare(
                "UPDATE runs SET status = 'interrupted' WHERE status = 'running' AND id IS NOT ?1 RETURNING id",
            )?;
            let rows = statement.query_map([driven], |row| row.get(0).map(RunId))?;
            let mut interrupted = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            interrupted.sort_unstable();
            Ok(interrupted)
        })
    }

    /// Takes the lease of a run from whoever holds it, so that another driver can go on with it; the run counts as
    /// interrupted. Its holder notices at its next step. Returns whether it was held.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn break_lease(&self, run: RunId) -> Result<bool, StoreError> {
        self.write("breaking the lease of a run", |transaction| {
            runs::known(transaction, run)?;
            let broken = transaction.execute("DELETE FROM lease WHERE run = ?1", [run.0])? > 0;
            if broken {
                run_timeline::leave(transaction, run)?;
            }
            Ok(broken)
        })
    }

    /// Returns the lease that is live now, whoever holds it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn live_lease(&self, now: i64) -> Result<Option<Lease>, StoreError> {
        self.read("reading the lease", |transaction| live(transaction, now))
    }
}

impl Lease {
    /// Returns the time of taking tells two holds of one holder apart.
    fn is_same_hold(&self, other: &Self) -> bool {
        (self.run, &self.holder, self.acquired_at) == (other.run, &other.holder, other.acquired_at)
    }

    fn lost(&self) -> LeaseError {
        LeaseError::Lost {
            run: self.run,
            holder: self.holder.clone(),
        }
    }

    pub(crate) fn into_active(self) -> StoreError {
        StoreError::RunActive {
            run: self.run,
            holder: self.holder,
            pid: self.process.pid,
        }
    }

    /// Returns whether it holds now.
    fn is_live(&self, now: i64) -> bool {
        let runs = self.expires_at > now && self.expires_at <= now.saturating_add(LONGEST);
        match self.process.liveness() {
            // This process knows by itself what it still does.
            Liveness::Lives => runs || self.process.pid != std::process::id(),
            Liveness::Gone => false,
            Liveness::Unknown => runs,
        }
    }
}

/// Returns the lease, if it holds now.
pub(crate) fn live(transaction: &Transaction<'_>, now: i64) -> Result<Option<Lease>, DatabaseError> {
    Ok(current(transaction)?.filter(|lease| lease.is_live(now)))
}

fn current(transaction: &Transaction<'_>) -> Result<Option<Lease>, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("SELECT run, holder, pid, started, acquired_at, expires_at FROM lease")?;
    let found = statement.query_row([], |row| {
        Ok(Lease {
            run: RunId(row.get("run")?),
            holder: row.get("holder")?,
            process: ProcessMark {
                pid: row.get("pid")?,
                started: row.get("started")?,
            },
            acquired_at: row.get("acquired_at")?,
            expires_at: row.get("expires_at")?,
        })
    });
    Ok(found.optional()?)
}

fn put(transaction: &Transaction<'_>, lease: &Lease) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT OR REPLACE INTO lease (slot, run, holder, pid, started, acquired_at, expires_at)
         VALUES (1, :run, :holder, :pid, :started, :acquired_at, :expires_at)",
        named_params! {
            ":run": lease.run.0,
            ":holder": lease.holder,
            ":pid": lease.process.pid,
            ":started": lease.process.started,
            ":acquired_at": lease.acquired_at,
            ":expires_at": lease.expires_at,
        },
    )?;
    Ok(())
}
