//! What of the network a command sees: where the system allows it, loopback alone, in a name space of its own.
//!
//! It proves that the program needs no other; it is no defence (the program's own sandbox holds code that came out of a model).

use std::ffi::OsStr;
use std::process::Command;

use crate::{cargo, setup};

/// Brings loopback up in the new name space and becomes the program named behind it.
const WITH_LOOPBACK: [&str; 5] = ["-rn", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];

/// What of the network is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A name space of its own, in which loopback is the only interface.
    Loopback,
    /// All that this machine has.
    Whole,
}

/// Finds out whether a command can be left with loopback alone here.
pub fn least() -> Network {
    let words: Vec<&str> = WITH_LOOPBACK.into_iter().chain(["true"]).collect();
    if setup::answers("unshare", &words) {
        Network::Loopback
    } else {
        Network::Whole
    }
}

impl Network {
    /// Returns a call of a program that sees this much.
    pub fn command(self, program: impl AsRef<OsStr>) -> Command {
        match self {
            Self::Whole => cargo::in_checkout(program),
            Self::Loopback => {
                let mut command = cargo::in_checkout("unshare");
                command.args(WITH_LOOPBACK).arg(program);
                command
            }
        }
    }

    /// Says for the summary how much of the network a step had.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Loopback => "no network but loopback",
            Self::Whole => {
                "with this machine's network, since the system allows no name space without it (unshare -rn)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_up_and_alone_where_the_system_allows_that() {
        if least() == Network::Loopback {
            let links = Network::Loopback
                .command("ip")
                .args(["-oneline", "link"])
                .output()
                .expect("ip was there a moment ago");
            let links = String::from_utf8_lossy(&links.stdout).into_owned();
            assert_eq!(links.lines().count(), 1, "{links}");
            assert!(links.contains("lo: <LOOPBACK,UP"), "{links}");
        }
    }
}
