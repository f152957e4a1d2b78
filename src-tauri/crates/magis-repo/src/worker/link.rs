//! The parent's side of a process that reads: requests go in, answers come out in time, or it is lost.

use super::frames::{Kind, read_frame, write_request};
use super::{Begin, GitWorker};
use crate::RepoError;
use crate::reading::{Frame, Parts, Request};
use crate::stop::Stop;
use magis_core::text::count;
use std::fs;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a process may take to begin.
const BEGIN: Duration = Duration::from_secs(20);
/// How long an answer about one thing may take.
const SHORT: Duration = Duration::from_secs(10);
/// How long an answer about a whole repository may take, or the next part of one.
const LONG: Duration = Duration::from_mins(3);

/// How a process was lost, in words.
pub(crate) struct Lost(pub String);

/// A process that reads. It ends when this is dropped.
pub(crate) struct Link {
    process: Process,
    input: ChildStdin,
    output: BufReader<Timed>,
    folders: Vec<(PathBuf, Option<Identity>)>,
    memory: u64,
}

impl Link {
    /// Starts a process that may read these folders and take so much memory.
    pub fn start(worker: &GitWorker, folders: Vec<PathBuf>, memory: u64) -> Result<Self, Lost> {
        let begin = |error: io::Error| Lost(format!("its process cannot be started: {error}"));
        let mut command = Command::new(&worker.program);
        command
            .args(&worker.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What it would print there, strangers may have written.
            .stderr(Stdio::null());
        // Ctrl-C is for the parent to act on.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(begin)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let process = Process(Arc::new(Mutex::new(child)));
        let (input, output) = pipes.ok_or_else(|| begin(io::Error::other("it has no pipes")))?;
        let output = Timed { output, until: None };
        let mut link = Self {
            process,
            input,
            output: BufReader::with_capacity(1 << 16, output),
            folders: folders
                .iter()
                .map(|folder| (folder.clone(), Identity::of(folder)))
                .collect(),
            memory,
        };
        let first = serde_json::to_vec(&Begin { folders, memory }).map_err(|error| begin(error.into()))?;
        match link.exchange(&first, Some(BEGIN), &mut |_| std::ops::ControlFlow::Continue(())) {
            Ok(_) => Ok(link),
            Err(error) => Err(link.lost(&error)),
        }
    }

    /// Returns the answer to a request, after its parts. Where `parts` broke it off, the answer says nothing and the process is of no more use.
    pub fn ask(&mut self, request: &Request, parts: Parts<'_>) -> Result<Result<Frame, RepoError>, Lost> {
        let json = match serde_json::to_vec(request) {
            Ok(json) => json,
            Err(error) => return Ok(Err(RepoError::wire(error))),
        };
        let patience = request.patience();
        match self.exchange(&json, patience, parts) {
            Ok((Kind::Refusal, frame)) => Ok(Err(frame.value().unwrap_or_else(|error| error))),
            Ok((Kind::Part | Kind::Answer, frame)) => Ok(Ok(frame)),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Returns whether another folder lies in the place of one that the process may read.
    pub fn is_of_other_folders(&self) -> bool {
        self.folders.iter().any(|(folder, then)| Identity::of(folder) != *then)
    }

    /// Has the process end when `stop` says so.
    pub fn stop_by(&self, stop: &Stop) {
        let process = self.process.clone();
        stop.call(move || {
            process.end();
        });
    }

    fn exchange(&mut self, json: &[u8], patience: Option<Duration>, parts: Parts<'_>) -> io::Result<(Kind, Frame)> {
        write_request(&mut self.input, json)?;
        loop {
            self.output.get_mut().until = patience.map(|patience| (Instant::now() + patience, patience));
            match read_frame(&mut self.output)? {
                (Kind::Part, part) => {
                    if parts(part).is_break() {
                        return Ok((Kind::Part, Frame::default()));
                    }
                }
                ended => return Ok(ended),
            }
        }
    }

    /// Ends the process, and says what became of it.
    fn lost(&self, error: &io::Error) -> Lost {
        let status = self.process.end();
        Lost(match (error.kind(), status) {
            (ErrorKind::TimedOut | ErrorKind::InvalidData, _) | (_, None) => error.to_string(),
            (_, Some(status)) => self.how(status),
        })
    }

    fn how(&self, status: ExitStatus) -> String {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            let name = match signal {
                4 => " (SIGILL)",
                6 => " (SIGABRT)",
                7 => " (SIGBUS)",
                8 => " (SIGFPE)",
                9 => " (SIGKILL)",
                11 => " (SIGSEGV)",
                _ => "",
            };
            let megabytes = self.memory >> 20;
            let why = match signal {
                6 | 9 => format!(", as when it needs more than {megabytes} MiB of memory"),
                _ => String::new(),
            };
            return format!("its process was ended by signal {signal}{name}{why}");
        }
        format!("its process ended with {status}")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.process.end();
    }
}

/// The process of a link.
#[derive(Clone)]
struct Process(Arc<Mutex<Child>>);

impl Process {
    /// Ends it, and returns how it ended.
    pub fn end(&self) -> Option<ExitStatus> {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has ended already keeps its status.
        let _gone = child.kill();
        child.wait().ok()
    }
}

/// Output that is read until a moment. Where the system has no way to wait for it so long only, it is waited for.
struct Timed {
    output: ChildStdout,
    /// The moment, and how long that is from the beginning.
    until: Option<(Instant, Duration)>,
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        self.wait()?;
        self.output.read(into)
    }
}

#[cfg(unix)]
impl Timed {
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        let Some((until, patience)) = self.until else {
            return Ok(());
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = left.try_into().map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => {
                    let seconds = count(patience.as_secs() as usize, "second");
                    return Err(io::Error::new(
                        ErrorKind::TimedOut,
                        format!("it gave no answer for {seconds}"),
                    ));
                }
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// What tells a folder from another one in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity(u64, u64);

impl Identity {
    #[cfg(unix)]
    fn of(folder: &PathBuf) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(folder).ok().map(|found| Self(found.dev(), found.ino()))
    }

    #[cfg(not(unix))]
    fn of(folder: &PathBuf) -> Option<Self> {
        fs::metadata(folder).ok().map(|_| Self(0, 0))
    }
}

impl Request {
    /// Returns how long its answer is waited for, or the next part of that; none: without end.
    fn patience(&self) -> Option<Duration> {
        match self {
            Self::Watch { .. } => None,
            Self::State
            | Self::Uncommitted { .. }
            | Self::BuiltFiles
            | Self::WorkTree
            | Self::LookAt { .. }
            | Self::Files { .. }
            | Self::Walk { .. }
            | Self::TreeDiff { .. }
            | Self::CommitsSince { .. } => Some(LONG),
            Self::Open { .. }
            | Self::OpenStore { .. }
            | Self::Branches
            | Self::HeadPlace
            | Self::Has { .. }
            | Self::Base { .. }
            | Self::NewLines { .. }
            | Self::CommitSettings
            | Self::WorkFile { .. }
            | Self::Object { .. }
            | Self::Measure { .. }
            | Self::Size { .. }
            | Self::Missing { .. }
            | Self::Commits { .. }
            | Self::CommitTrees { .. } => Some(SHORT),
        }
    }
}

/// Has this process end as soon as nobody is there any more who could ask, also in the midst of an answer.
pub(super) fn end_with_the_parent() -> io::Result<()> {
    #[cfg(unix)]
    std::thread::Builder::new().name("magis-parent".to_owned()).spawn(|| {
        use rustix::event::{PollFd, PollFlags, poll};
        let input = io::stdin();
        loop {
            match poll(&mut [PollFd::new(&input, PollFlags::empty())], None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => std::process::exit(0),
            }
        }
    })?;
    Ok(())
}
