//! Runs commands that strangers wrote, tests above all: without a network, with nothing of the person's to read, on folders whose
//! originals stay as they are, within limits of time, memory, processes, disk and output. All that a command started ends with it.
//!
//! A [`SandboxJob`] goes in, an [`Outcome`] with a typed [`End`] comes out of [`Sandbox::run`]. On Linux isolation is made of name spaces (user,
//! mount, process, network, IPC), Landlock and seccomp, by a helper: this very program, started again with a hidden word, which calls
//! [`helper::serve`]. On macOS `sandbox-exec` makes it. Where there is none, [`Sandbox::confined`] says why, and nothing runs unless a caller asks for
//! [`Sandbox::limits_only`], which a person must have agreed to.
//!
//! A process of ours that reads what strangers wrote gives up by itself what it does not need: [`Pledge`].
//!
//! It knows nothing of repositories, tests or models.

mod captured;
mod error;
mod files;
#[cfg(target_os = "linux")]
mod helped;
#[cfg(target_os = "linux")]
mod hidden;
#[cfg(target_os = "linux")]
mod inside;
mod job;
mod layer;
mod outcome;
mod plain;
mod pledge;
mod sandbox;
mod seatbelt;
mod wire;

pub mod helper;

pub use error::{NotIsolated, SandboxError};
pub use files::FileError;
pub use helper::HelperCommand;
pub use job::{JobFile, Limits, SandboxJob, Scratch, Streams};
pub use layer::{LayerError, ScratchLayer, remove_tree};
pub use outcome::{Captured, End, Outcome, Refused};
pub use pledge::{NotPledged, Pledge, Pledged};
pub use sandbox::Sandbox;
pub use wire::{Isolation, IsolationPart};

/// The home that a command sees, an empty folder.
pub const SANDBOX_HOME: &str = "/home/sandbox";
