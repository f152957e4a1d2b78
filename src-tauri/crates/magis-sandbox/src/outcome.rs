//! How a command ended, and what it did on the way.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What came of running a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub end: End,
    pub stdout: Captured,
    pub stderr: Captured,
    /// From the start of the command to its end.
    pub took: Duration,
    /// The most main memory that its processes had together at one time, in bytes; measured some forty times a second.
    pub peak_memory: u64,
    /// What it tried and was kept from, each kind once.
    pub refused: Vec<Refused>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal of this number that did not come from here.
    Signalled(i32),
    /// It could not be started.
    NotStarted(String),
    TimeUsedUp(Duration),
    MemoryUsedUp(u64),
    TooManyProcesses(u64),
    FileTooLarge(u64),
    DiskUsedUp(u64),
    TooMuchOutput(u64),
}

/// Something that a command tried and was kept from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// It wanted to reach another machine.
    Network,
    /// It made a system call that no test needs: its name.
    SystemCall(String),
    /// It opened a file in which people keep keys or passwords: the path. It was empty.
    Keys(String),
    /// It tried to read this file or folder of the machine, which it is not shown.
    Read(String),
    /// It tried to write this file or folder, which it may not.
    Write(String),
    /// It tried to reach this socket of the machine.
    Socket(String),
    /// It tried to reach this port of the machine, where nothing of its own listened.
    Port(u16),
    /// It sent a signal to what it did not start.
    Signal,
    /// It tried to look into a process that it did not start.
    OtherProcess,
    /// It ran a program that gives the rights of another user elsewhere: the path.
    RightsOfOthers(String),
    /// Processes that it left behind were ended with it.
    LeftRunning(u64),
}

/// What a command printed: whole, or its beginning and end.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    pub beginning: Vec<u8>,
    /// What follows the beginning, or the last part of it where some was left out.
    pub rest: Vec<u8>,
    /// How many bytes between the two were not kept.
    pub left_out: u64,
}

impl Outcome {
    /// Returns all that the command printed, what it printed of errors first.
    pub fn printed(&self) -> String {
        format!("{}\n{}", self.stderr.text(), self.stdout.text())
    }
}

impl End {
    /// Returns whether the command ended by itself with status 0.
    pub fn success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(formatter, "ended with exit code {status}"),
            Self::Signalled(signal) => write!(formatter, "ended by signal {signal}"),
            Self::NotStarted(why) => write!(formatter, "could not be started: {why}"),
            Self::TimeUsedUp(limit) => write!(formatter, "stopped after {} s, the time it had", limit.as_secs_f64()),
            Self::MemoryUsedUp(limit) => write!(formatter, "stopped: it took more than {} of memory", Size(*limit)),
            Self::TooManyProcesses(limit) => write!(formatter, "stopped: it had more than {limit} processes at a time"),
            Self::FileTooLarge(limit) => write!(formatter, "stopped: it wrote a file larger than {}", Size(*limit)),
            Self::DiskUsedUp(limit) => write!(formatter, "stopped: it wrote more than {} to disk", Size(*limit)),
            Self::TooMuchOutput(limit) => write!(formatter, "stopped: it printed more than {}", Size(*limit)),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network => formatter.write_str("it tried to reach the network"),
            Self::SystemCall(name) => write!(formatter, "it made the system call {name}, which is refused here"),
            Self::Keys(path) => write!(formatter, "it opened {path}, which was empty"),
            Self::Read(path) => write!(formatter, "it tried to read {path}, which it is not shown"),
            Self::Write(path) => write!(formatter, "it tried to write {path}, which it may not"),
            Self::Socket(name) => write!(formatter, "it tried to reach the socket {name}"),
            Self::Port(port) => write!(
                formatter,
                "it tried to reach port {port} of this machine, where nothing of its own listened"
            ),
            Self::Signal => formatter.write_str("it sent a signal to a process that is not its own"),
            Self::OtherProcess => formatter.write_str("it tried to look into a process that is not its own"),
            Self::RightsOfOthers(path) => {
                write!(
                    formatter,
                    "it ran {path}, which would give it the rights of another user"
                )
            }
            Self::LeftRunning(1) => formatter.write_str("it left a process running, which was ended"),
            Self::LeftRunning(count) => write!(formatter, "it left {count} processes running, which were ended"),
        }
    }
}

impl Captured {
    /// Returns the text, with a line in the place of what was left out. Bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        if self.left_out == 0 {
            let whole: Vec<u8> = self.beginning.iter().chain(&self.rest).copied().collect();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        format!(
            "{}\n[{} left out]\n{}",
            String::from_utf8_lossy(&self.beginning),
            Size(self.left_out),
            String::from_utf8_lossy(&self.rest)
        )
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), formatter)
    }
}

/// A number of bytes as people read it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
        let mut unit = 0;
        let mut number = self.0;
        while number >= 1024 && number.is_multiple_of(1024) && unit + 1 < UNITS.len() {
            number /= 1024;
            unit += 1;
        }
        write!(formatter, "{number} {}", UNITS[unit])
    }
}
