//! `magis` from outside: what is typed, what comes back on which stream, and the exit code.
//!
//! Only `real_model` loads a model of use; `solve` loads one of half a megabyte, whose words are noise.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod apply;
mod bad_input;
mod carried;
mod deleting;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod help;
#[cfg(unix)]
mod hostile;
#[cfg(target_os = "linux")]
mod hostile_corpus;
#[cfg(target_os = "linux")]
mod hostile_list;
mod imported;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod killed;
mod locate;
mod memory;
mod models;
mod output;
mod past_run;
mod real_model;
mod runs;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod scene;
#[cfg(target_os = "linux")]
mod solve;
mod support;
#[cfg(target_os = "linux")]
mod tests_command;
mod watch;
