//! Runs with the events that they begin with: both in one transaction, so that no run is ever there without its beginning,
//! which says what it reads.

use crate::{NewRun, Store, StoreError, events, runs};
use magis_core::{RunEvent, RunId};

impl Store {
    /// Creates a run with its first events; it waits in the queue.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn begin_run(&self, run: &NewRun, first: &[RunEvent]) -> Result<RunId, StoreError> {
        self.write("creating a run", |transaction| {
            let id = runs::create(transaction, run)?;
            for (seq, event) in (1..).zip(first) {
                events::append(transaction, id, seq, run.created_at, event)?;
            }
            Ok(id)
        })
    }

    /// Creates a run that has the first `shared` events of the run `from`, with the calls that led to them, and `then` behind them.
    ///
    /// # Errors
    /// When there is no such repository, the run copied from has fewer events, or the database cannot be written.
    pub fn begin_rerun(&self, run: &NewRun, from: RunId, shared: u32, then: &[RunEvent]) -> Result<RunId, StoreError> {
        self.write("creating a run", |transaction| {
            let id = runs::create(transaction, run)?;
            events::copy_prefix(transaction, from, shared, id)?;
            for (seq, event) in (shared + 1..).zip(then) {
                events::append(transaction, id, seq, run.created_at, event)?;
            }
            Ok(id)
        })
    }
}
