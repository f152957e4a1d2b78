//! What the program and its helper say to each other over the helper's standard input, a socket: a job in, a report out, each a line of JSON.
//! When the program closes its end, or dies, the helper ends all that it started.

use crate::job::SandboxJob;
use crate::outcome::{End, Refused};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The last argument of the helper's inner process. With it, the helper takes no name spaces of its own.
pub const INNER: &str = "inner";

/// What the helper is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub job: SandboxJob,
    pub confinement: Confinement,
}

/// How a command is kept from the rest of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// By name spaces of its own, Landlock and seccomp.
    Namespaces,
    /// Not at all: only the limits hold.
    LimitsOnly,
}

/// What the helper answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Ended(HelperReport),
    /// Isolation could not be set up, so nothing was run.
    NoIsolation {
        part: IsolationPart,
        /// What was being done: "mounting /proc".
        step: String,
        /// What the system said.
        reason: String,
    },
}

/// What the helper saw of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelperReport {
    pub end: End,
    pub took: Duration,
    pub peak_memory: u64,
    pub refused: Vec<Refused>,
    /// Files and sockets that the command looked for and that are not there inside: kept from it where they are there outside.
    pub absent: Vec<Refused>,
    /// What of the isolation there is; see [`Isolation`].
    pub isolation: Isolation,
}

/// A part of the isolation that can fail to be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolationPart {
    /// The processes and threads of the helper itself.
    Helper,
    /// The name spaces, with the users and the network in them.
    NameSpaces,
    /// The files that the command sees.
    Files,
    /// Limits, Landlock and seccomp.
    Restrictions,
}

/// What isolates commands on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a machine")]
pub struct Isolation {
    pub namespaces: bool,
    /// `sandbox-exec` of macOS, with a profile for the job.
    pub seatbelt: bool,
    /// Folders are changed through an overlay, without copying them.
    pub overlay: bool,
    pub landlock: bool,
    pub seccomp: bool,
}

impl fmt::Display for Isolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.namespaces, "name spaces"),
            (self.seatbelt, "sandbox-exec of macOS"),
            (self.seccomp, "seccomp"),
            (self.landlock, "Landlock"),
            (self.overlay, "overlays"),
        ];
        let there: Vec<&str> = parts
            .iter()
            .filter(|(there, _)| *there)
            .map(|(_, name)| *name)
            .collect();
        formatter.write_str(&there.join(", "))?;
        if !self.overlay {
            formatter.write_str("; folders are copied, as there are no overlays")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Isolation;

    #[track_caller]
    fn check(isolation: Isolation, expected: &str) {
        assert_eq!(isolation.to_string(), expected);
    }

    #[test]
    fn what_isolates_commands_is_named_on_every_system() {
        let linux = Isolation {
            namespaces: true,
            seatbelt: false,
            overlay: true,
            landlock: true,
            seccomp: true,
        };
        check(linux, "name spaces, seccomp, Landlock, overlays");
        let without_overlays = Isolation {
            overlay: false,
            ..linux
        };
        check(
            without_overlays,
            "name spaces, seccomp, Landlock; folders are copied, as there are no overlays",
        );
        let macos = Isolation {
            seatbelt: true,
            ..Isolation::default()
        };
        check(
            macos,
            "sandbox-exec of macOS; folders are copied, as there are no overlays",
        );
    }
}
