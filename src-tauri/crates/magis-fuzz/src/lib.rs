//! Mutated inputs against everything that reads what strangers wrote: repositories, patches, archives, model files, what worker processes say, issues and
//! source texts.
//!
//! A [`FuzzTarget`](target::FuzzTarget) is one reader. [`work`] gives it inputs in a process that can be lost, [`campaign`] watches such processes and
//! counts. There is no instrumentation: an input is kept to be mutated further when it led to a sentence that no input before it led to.
//! Findings are faults of ours: a panic, a broken promise, an end of the process, a hang, or too much memory. A git worker that is lost is none, as
//! long as its parent says so in time.

pub mod campaign;
pub mod case_file;
pub mod corpus;
pub mod dice;
mod features;
pub mod mutate;
mod sha1;
pub mod target;
pub mod work;
