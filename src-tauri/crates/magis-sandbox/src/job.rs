//! What is to be run, what it may touch, and how much it may take.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A command to run, with what it may read, what it may write and how much it may take.
///
/// Beside what is named here, a command sees the system's programs and libraries, empty folders for temporary files and for a home, and
/// the few devices that every program expects. Paths are those that the command sees; they must be absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxJob {
    /// The program and its arguments. A program without a slash is looked up in `PATH`.
    pub command: Vec<String>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// Its environment, beside the few variables that are always set (`PATH`, `HOME`, `LANG`, `TZ`, `TMPDIR`); nothing is inherited.
    pub environment: BTreeMap<String, String>,
    /// Files and folders of this machine that it may read, each at its own path.
    pub readable: Vec<PathBuf>,
    /// Folders it may change, without the change reaching the original.
    pub scratch: Vec<Scratch>,
    /// Files written before it starts, in folders that it may change.
    pub files: Vec<JobFile>,
    pub limits: Limits,
    /// Whether both streams of output go into one.
    pub streams: Streams,
}

/// Where a command's standard error goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    #[default]
    Apart,
    /// To standard output, in the order in which it was written.
    Merged,
}

/// A folder that the command sees and may change, while the original stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// Where the command sees it.
    pub at: PathBuf,
    /// What it holds at first; read, never written.
    pub original: PathBuf,
    /// The folder that takes up the changes; see [`ScratchLayer`](crate::ScratchLayer).
    pub layer: PathBuf,
}

/// A file that is written, or removed, before the command starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFile {
    pub path: PathBuf,
    /// None: it is removed.
    pub contents: Option<Vec<u8>>,
}

/// How much a command may take. What goes over a limit is ended, with all that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// By the clock on the wall.
    pub time: Duration,
    /// Main memory of all its processes together, in bytes.
    pub memory: u64,
    /// Processes alive at one time.
    pub processes: u64,
    /// The size of one file, in bytes.
    pub file: u64,
    /// What all files written hold together, in bytes.
    pub disk: u64,
    /// What is printed, in bytes.
    pub output: u64,
}

const MIB: u64 = 1 << 20;

impl Default for Limits {
    /// Returns limits that an ordinary suite of tests stays within: ten minutes, 4 GiB of memory, 512 processes, files of 1 GiB, 4 GiB on
    /// disk, 64 MiB of output.
    fn default() -> Self {
        Self {
            time: Duration::from_mins(10),
            memory: 4096 * MIB,
            processes: 512,
            file: 1024 * MIB,
            disk: 4096 * MIB,
            output: 64 * MIB,
        }
    }
}

impl SandboxJob {
    /// Returns a job for a command that starts in `folder`, may change nothing but its temporary files, and has the usual limits.
    pub fn new(command: impl IntoIterator<Item = impl Into<String>>, folder: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            environment: BTreeMap::new(),
            readable: Vec::new(),
            scratch: Vec::new(),
            files: Vec::new(),
            limits: Limits::default(),
            streams: Streams::default(),
        }
    }
}
