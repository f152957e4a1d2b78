//! What can go wrong before a command runs.

use crate::files::FileError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a job was not run, or its end is not known.
#[derive(Debug, Error)]
pub enum SandboxError {
    #[error("commands cannot be kept from the rest of this machine: {step} failed: {reason}")]
    NoIsolation { step: String, reason: String },
    #[error("the helper that runs commands failed: {0}")]
    Helper(#[source] io::Error),
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("cannot copy {folder} for a command to change: {source}")]
    Copy { folder: PathBuf, source: io::Error },
}

/// Why commands cannot be isolated on this machine, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct NotIsolated {
    pub reason: String,
    pub remedy: String,
}

impl NotIsolated {
    /// Returns what an error says about this machine, with a remedy.
    pub(crate) fn from_error(error: &SandboxError) -> Self {
        Self {
            reason: error.to_string(),
            remedy: remedy(error).into(),
        }
    }
}

fn remedy(error: &SandboxError) -> &'static str {
    if cfg!(not(target_os = "linux")) {
        return "tests can be run without isolation, if you allow it for this repository";
    }
    match error {
        SandboxError::NoIsolation { .. } => {
            "allow name spaces to ordinary users: on Ubuntu, `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`; on Debian, `sudo \
             sysctl kernel.unprivileged_userns_clone=1`; in a container, start it with the rights to make them"
        }
        SandboxError::Helper(_) | SandboxError::Copy { .. } | SandboxError::Files(_) => {
            "look whether the program can be started a second time and its data folder be written"
        }
    }
}
