//! Runs: created, driven to their end by the agents, steered by a person, shown, applied and deleted.
//!
//! `driver` is the loop (append an event, hand it to the flow, carry out the next effect); `roles` holds the steps of each kind
//! of agent, `workspace` what they work on.

mod apply;
mod archive;
mod bench;
mod broken_off;
mod call_log;
mod code_names;
mod deleting;
mod driver;
mod eta;
mod evidence;
mod opening;
mod past_fix;
mod programs;
mod roles;
mod starting;
mod steering;
mod texts;
pub mod transcript;
mod trying;
mod worked;
mod workspace;

pub use apply::{Application, AppliedRun, ApplyTarget, Review};
pub use broken_off::{BrokenOffApplication, BrokenOffOutcome};
pub use driver::DriveEnd;
pub use eta::{Eta, StageTimes};
pub use opening::{DataCheck, check_data};
pub use starting::{Effort, Prepared, SolveRequest};
pub use steering::Steering;
pub use texts::RunTexts;
pub use trying::TriedCheck;
pub use worked::Worked;
