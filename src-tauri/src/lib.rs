//! The window of Magis: what it shows, what can be asked of it, and the runs it works on.
//!
//! Start with `commands`: each is unpacked there, carried out under `work` by the engine, and converted under `view`.
//! `driving` works on runs one after the other, `follow` tells the window of it, `shell` is the window itself.
//! It holds no SQL, no prompt and no git; those are the engine's.

#![allow(
    clippy::missing_errors_doc,
    reason = "every failure here is a `Problem`, which says what happened and what to do"
)]

mod arguments;
mod awake;
mod closing;
mod commands;
mod driving;
mod follow;
mod problem;
mod shell;
mod state;
mod view;
mod watching;
mod words;
mod work;

pub use arguments::{Arguments, GIT_WORKER, SANDBOX_HELPER, WORKER};
pub use commands::all as commands;
pub use problem::Problem;
pub use shell::run;
pub use state::{App, AppEvent, Halt, LaunchOptions, ModelSource, Notifier, Sink};
pub use work::ERASE_ALL;

/// What crosses to the window.
pub mod views {
    pub use crate::view::*;
}
