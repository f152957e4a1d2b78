//! `magis` from outside: what is typed, what comes back on which stream, and the exit code.
//!
//! Only `real_model` loads a model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod apply;
mod bad_input;
mod carried;
mod deleting;
#[cfg(target_os = "linux")]
mod disk;
mod help;
#[cfg(unix)]
mod hostile;
mod imported;
mod locate;
mod memory;
mod past_run;
mod real_model;
mod runs;
#[cfg(target_os = "linux")]
mod sandbox;
mod support;
#[cfg(target_os = "linux")]
mod tests_command;
mod watch;
