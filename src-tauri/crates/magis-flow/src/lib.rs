//! The run as a pure state machine: fold the log into a [`Run`], ask it what is to be done next.
//!
//! It knows the order of the method (algorithms 1, 2 and 3) and nothing of models, git, `SQLite` or time. Whoever drives
//! it appends an event to the store, hands it to [`Run::handle`], and carries out the first [`Effect`] that comes back.
//! Resuming is folding the stored log and asking again; steering is one more event.

mod claims;
mod effect;
mod evidence;
mod next;
mod run;
mod task;

pub use effect::{Effect, TaskQuestion};
pub use run::{FlowError, Run, events_before, events_of_attempts};
pub use task::{Attempt, AttemptState, RoundState, TaskState};
