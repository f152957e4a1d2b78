//! How the row of a run follows what happens: its events, its drivers, its calls. Each is part of the transaction that
//! records what happened.
//!
//! The table itself is `runs`'.

use crate::error::DatabaseError;
use crate::{DiffSize, Parent};
use magis_core::{Base, RunEvent, RunId, RunOutcome};
use rusqlite::Transaction;

/// Keeps the row in step with an event that was appended.
pub(crate) fn follow(transaction: &Transaction<'_>, id: RunId, at: i64, event: &RunEvent) -> Result<(), DatabaseError> {
    match event {
        RunEvent::RunStarted { base, .. } => {
            set_base(transaction, id, base)?;
            transaction.execute(
                "UPDATE runs SET status = 'running', started_at = coalesce(started_at, ?2) WHERE id = ?1",
                (id.0, at),
            )?;
        }
        RunEvent::Merged { result } => {
            let size = DiffSize::of(&result.patch);
            transaction.execute(
                "UPDATE runs SET added = ?2, deleted = ?3, files = ?4, proof = NULL WHERE id = ?1",
                (id.0, size.added, size.deleted, size.files),
            )?;
        }
        RunEvent::PatchTested { result } => {
            let proof = serde_json::to_string(&result.proof())?;
            transaction.execute("UPDATE runs SET proof = ?2 WHERE id = ?1", (id.0, proof))?;
        }
        RunEvent::RunEnded { outcome } => {
            let (kind, reason) = outcome_columns(outcome);
            transaction.execute(
                "UPDATE runs SET status = 'ended', outcome = ?2, outcome_reason = ?3, ended_at = ?4 WHERE id = ?1",
                (id.0, kind, reason, at),
            )?;
        }
        RunEvent::Paused { .. } => {
            transaction.execute("UPDATE runs SET status = 'paused' WHERE id = ?1", [id.0])?;
        }
        RunEvent::Resumed => {
            transaction.execute("UPDATE runs SET status = 'running' WHERE id = ?1", [id.0])?;
        }
        // The row shows nothing of the others.
        _ => {}
    }
    Ok(())
}

fn set_base(transaction: &Transaction<'_>, id: RunId, base: &Base) -> Result<(), DatabaseError> {
    transaction.execute(
        "UPDATE runs SET base_commit = ?2, base_tree = ?3, base_name = ?4, uncommitted = ?5 WHERE id = ?1",
        (id.0, &base.commit.0, &base.tree.0, &base.name, base.uncommitted),
    )?;
    Ok(())
}

/// Keeps the row in step with events taken over from another run: it reads the same tree, and still waits in the queue.
pub(crate) fn take_over(
    transaction: &Transaction<'_>,
    id: RunId,
    parent: Parent,
    events: &[RunEvent],
) -> Result<(), DatabaseError> {
    for event in events {
        if let RunEvent::RunStarted { base, .. } = event {
            set_base(transaction, id, base)?;
        }
    }
    transaction.execute(
        "UPDATE runs SET parent = ?2, shared_events = ?3 WHERE id = ?1",
        (id.0, parent.run.0, parent.shared_events),
    )?;
    Ok(())
}

/// Returns a driver took the run up.
pub(crate) fn begin(transaction: &Transaction<'_>, id: RunId, now: i64) -> Result<(), DatabaseError> {
    transaction.execute(
        "UPDATE runs SET status = 'running', started_at = coalesce(started_at, ?2)
         WHERE id = ?1 AND status IN ('queued', 'interrupted')",
        (id.0, now),
    )?;
    Ok(())
}

/// Returns the driver let go of the run.
pub(crate) fn leave(transaction: &Transaction<'_>, id: RunId) -> Result<(), DatabaseError> {
    transaction.execute(
        "UPDATE runs SET status = 'interrupted' WHERE id = ?1 AND status = 'running'",
        [id.0],
    )?;
    Ok(())
}

/// Adds a call to the tokens and the time a run has cost.
pub(crate) fn count_cost(
    transaction: &Transaction<'_>,
    id: RunId,
    tokens: u32,
    worked_ms: i64,
) -> Result<(), DatabaseError> {
    transaction.execute(
        "UPDATE runs SET tokens = tokens + ?2, worked_ms = worked_ms + ?3 WHERE id = ?1",
        (id.0, tokens, worked_ms),
    )?;
    Ok(())
}

fn outcome_columns(outcome: &RunOutcome) -> (&'static str, Option<&str>) {
    match outcome {
        RunOutcome::Approved => ("approved", None),
        RunOutcome::NotApproved => ("not_approved", None),
        RunOutcome::NoChange { reason } => ("no_change", Some(reason)),
        RunOutcome::Failed { reason } => ("failed", Some(reason)),
    }
}
