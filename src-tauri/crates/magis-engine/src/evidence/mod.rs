//! Evidence: what running things says about a repository and about changes to it. Commands run in the sandbox, with the toolchains that the
//! person has installed.
//!
//! A run stands on this; here nothing knows of runs.

mod checkout;
mod installed;
mod nearest;
mod scratch;
mod test_commands;
mod toolchains;

pub use checkout::{ChangedFiles, Checkout, TestsRun};
pub(crate) use nearest::{TestFile, nearest};
pub use scratch::ScratchFolder;
pub use toolchains::Toolchains;
