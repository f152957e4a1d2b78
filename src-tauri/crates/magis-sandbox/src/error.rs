//! What can go wrong before a command runs.

use crate::files::FileError;
use crate::outcome::End;
use crate::wire::IsolationPart;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a job was not run, or its end is not known.
#[derive(Debug, Error)]
pub enum SandboxError {
    #[error("commands cannot be kept from the rest of this machine: {step} failed: {reason}")]
    NoIsolation {
        part: IsolationPart,
        /// What was being done: "mounting /proc".
        step: String,
        /// What the system said.
        reason: String,
    },
    /// The system has nothing that keeps commands apart, as far as is known here.
    #[error(
        "commands cannot be kept from the rest of this machine: looking for what keeps commands apart failed: this system has nothing that \
         Magis knows to use"
    )]
    UnknownSystem,
    #[error("the helper that runs commands failed: {0}")]
    Helper(#[source] io::Error),
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("cannot copy {folder} for a command to change: {source}")]
    Copy { folder: PathBuf, source: io::Error },
}

/// Why commands cannot be isolated on this machine.
#[derive(Debug, Error)]
pub enum NotIsolated {
    /// A command could not be run, or its end is not known.
    #[error(transparent)]
    NotRun(#[from] SandboxError),
    /// A command that does nothing did not end well.
    #[error("a command that does nothing {0}")]
    Failed(End),
}

impl NotIsolated {
    /// Returns what to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Failed(_) => "report this with the output of `magis doctor`",
            Self::NotRun(_) if cfg!(not(target_os = "linux")) => {
                "tests can be run without isolation, if you allow it for this repository"
            }
            Self::NotRun(SandboxError::NoIsolation { .. } | SandboxError::UnknownSystem) => {
                "allow name spaces to ordinary users: on Ubuntu, `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`; on Debian, `sudo \
                 sysctl kernel.unprivileged_userns_clone=1`; in a container, start it with the rights to make them"
            }
            Self::NotRun(SandboxError::Helper(_) | SandboxError::Copy { .. } | SandboxError::Files(_)) => {
                "look whether the program can be started a second time and its data folder be written"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NotIsolated, SandboxError};
    use crate::outcome::End;
    use crate::wire::IsolationPart;

    #[track_caller]
    fn check(missing: &NotIsolated, expected: &str) {
        assert_eq!(missing.to_string(), expected);
    }

    #[test]
    fn what_keeps_commands_from_being_isolated_is_one_sentence() {
        let refused = SandboxError::NoIsolation {
            part: IsolationPart::NameSpaces,
            step: "taking name spaces of its own".to_owned(),
            reason: "EPERM: Operation not permitted".to_owned(),
        };
        check(
            &refused.into(),
            "commands cannot be kept from the rest of this machine: taking name spaces of its own failed: EPERM: Operation not permitted",
        );
        check(
            &SandboxError::UnknownSystem.into(),
            "commands cannot be kept from the rest of this machine: looking for what keeps commands apart failed: this system has nothing \
             that Magis knows to use",
        );
        check(
            &NotIsolated::Failed(End::Exited(1)),
            "a command that does nothing ended with exit code 1",
        );
    }
}
