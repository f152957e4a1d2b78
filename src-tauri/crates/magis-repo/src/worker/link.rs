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
/// How long a processor may work on an answer about one thing, or on the next part of one. A disk that is slow takes longer than that; who spins does not.
const WORK: Duration = Duration::from_millis(1500);
/// How long an answer about a whole repository may take, or the next part of one.
const LONG: Duration = Duration::from_mins(3);
/// How often it is looked at how long the processor worked, while nothing comes.
#[cfg(unix)]
const LOOK: Duration = Duration::from_millis(100);

/// So many bytes of an answer are on their way at a time: to be woken for a few costs more than to read them.
pub(super) const AT_ONCE: usize = 1 << 20;

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
        let id = child.id();
        let process = Process(Arc::new(Mutex::new(child)));
        let (input, output) = pipes.ok_or_else(|| begin(io::Error::other("it has no pipes")))?;
        // Where it cannot hold so much, each side waits for the other more often.
        #[cfg(target_os = "linux")]
        let _size = rustix::pipe::fcntl_setpipe_size(&output, AT_ONCE);
        let output = Timed {
            output,
            process: id,
            patience: None,
        };
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
        let begin = Patience {
            time: BEGIN,
            work: None,
        };
        match link.exchange(&first, Some(begin), &mut |_| std::ops::ControlFlow::Continue(())) {
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

    fn exchange(&mut self, json: &[u8], patience: Option<Patience>, parts: Parts<'_>) -> io::Result<(Kind, Frame)> {
        write_request(&mut self.input, json)?;
        loop {
            self.output.get_mut().patience = patience.map(|patience| (Instant::now(), patience));
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

/// How long an answer is waited for, or the next part of one.
#[derive(Debug, Clone, Copy)]
struct Patience {
    time: Duration,
    /// How long a processor may work on it; none: as long as the time lasts.
    work: Option<Duration>,
}

/// Output that is waited for with patience. Where the system has no way to wait for it so long only, it is waited for.
struct Timed {
    output: ChildStdout,
    /// The process that writes to it, whose work is looked up.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the work of a process is looked up on Linux alone")
    )]
    process: u32,
    /// How long, and from when.
    patience: Option<(Instant, Patience)>,
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
        let Some((from, patience)) = self.patience else {
            return Ok(());
        };
        let until = from + patience.time;
        let mut begun = None;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let slice = if patience.work.is_some() { left.min(LOOK) } else { left };
            let timeout = slice.try_into().map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&timeout)) {
                Ok(0) if slice < left => {
                    let (Some(most), Some(now)) = (patience.work, self.worked()) else {
                        continue;
                    };
                    // What it worked before the first look is not counted.
                    if now.saturating_sub(*begun.get_or_insert(now)) >= most {
                        let seconds = most.as_secs_f32();
                        return Err(too_long(format!("it worked for {seconds} seconds without an answer")));
                    }
                }
                Ok(0) => {
                    let seconds = count(patience.time.as_secs() as usize, "second");
                    return Err(too_long(format!("it gave no answer for {seconds}")));
                }
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns how long processors have worked for the process; none where the system does not say.
    #[cfg(target_os = "linux")]
    fn worked(&self) -> Option<Duration> {
        /// The unit in which Linux tells it to programs, in milliseconds.
        const TICK: u64 = 10;
        let line = fs::read_to_string(format!("/proc/{}/stat", self.process)).ok()?;
        // The second word is the program's name, which may hold anything; it ends at the last bracket.
        let (_, after) = line.rsplit_once(')')?;
        let mut words = after.split_whitespace().skip(11);
        let (user, system): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Duration::from_millis((user + system) * TICK))
    }

    #[cfg(not(target_os = "linux"))]
    fn worked(&self) -> Option<Duration> {
        None
    }
}

#[cfg(unix)]
fn too_long(how: String) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, how)
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
    fn patience(&self) -> Option<Patience> {
        let (time, work) = match self {
            Self::Watch { .. } => return None,
            Self::State
            | Self::Uncommitted { .. }
            | Self::BuiltFiles
            | Self::WorkTree
            | Self::LookAt { .. }
            | Self::TreeDiff { .. }
            | Self::CommitsSince { .. } => (LONG, None),
            Self::Files { .. } | Self::Walk { .. } => (LONG, Some(WORK)),
            // Of these there may be a hundred thousand.
            Self::Branches | Self::Missing { .. } => (SHORT, None),
            Self::Open { .. }
            | Self::OpenStore { .. }
            | Self::HeadPlace
            | Self::Has { .. }
            | Self::Base { .. }
            | Self::NewLines { .. }
            | Self::CommitSettings
            | Self::WorkFile { .. }
            | Self::Object { .. }
            | Self::Blobs { .. }
            | Self::Measure { .. }
            | Self::Size { .. }
            | Self::Commits { .. }
            | Self::CommitTrees { .. } => (SHORT, Some(WORK)),
        };
        Some(Patience { time, work })
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
