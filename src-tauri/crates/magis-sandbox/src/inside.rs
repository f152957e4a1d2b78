//! The helper's side on Linux. It is two processes: the outer one takes new name spaces and starts the inner one, which is the first
//! process there: it sets up what the command sees, starts it, watches it, and reports. When the inner one ends, the kernel ends
//! everything else in its name space.

mod command;
mod descriptors;
mod disk;
mod keys;
mod loopback;
mod memory;
mod namespaces;
mod notify;
mod paths;
mod processes;
mod restrictions;
mod root;
mod watched;
mod watching;

use crate::files;
use crate::job::SandboxJob;
use crate::outcome::Refused;
use crate::wire::{Answer, Confinement, HelperReport, INNER, Isolation, IsolationPart, Request};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use notify::{Listener, Permit};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use watched::Watched;

/// A step of setting up isolation that the system refused.
#[derive(Debug)]
pub struct Failed {
    pub part: IsolationPart,
    pub step: String,
    pub reason: String,
}

impl Failed {
    /// Returns what says that a failure is one of this part.
    fn of(part: IsolationPart) -> impl FnOnce(Self) -> Self {
        move |failed| Self { part, ..failed }
    }
}

/// Names the step at which something failed, as one of the helper itself.
trait Step<T> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failed>;
}

impl<T, E: std::fmt::Display> Step<T> for Result<T, E> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failed> {
        self.map_err(|reason| Failed {
            part: IsolationPart::Helper,
            step: step(),
            reason: reason.to_string(),
        })
    }
}

/// Gives up for this thread, and those it starts, all but these files, folders and devices. Returns whether files could be closed.
pub fn pledge(
    readable: &[PathBuf],
    writable: &[PathBuf],
    devices: &[PathBuf],
    memory: Option<u64>,
) -> Result<bool, Failed> {
    memory.map_or(Ok(()), restrictions::limit_memory)?;
    let are_closed = restrictions::keep_files(readable, writable, devices)?;
    restrictions::alone()?;
    Ok(are_closed)
}

/// Runs as the outer or the inner process, by its last argument.
pub fn serve() -> ExitCode {
    let closed = descriptors::close_inherited();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let socket = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(socket) => UnixStream::from(socket),
        Err(_) => return ExitCode::FAILURE,
    };
    let done = closed.and_then(|()| {
        if args.last().is_some_and(|last| last == INNER) {
            inner(&socket).map(|report| Some(Answer::Ended(report)))
        } else {
            outer(&args).map(|()| None)
        }
    });
    let answer = match done {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(answer)) => answer,
        Err(Failed { part, step, reason }) => Answer::NoIsolation { part, step, reason },
    };
    match send(&socket, &answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Takes the name spaces and waits for the inner process.
fn outer(args: &[OsString]) -> Result<(), Failed> {
    end_with_parent()?;
    nix::unistd::setsid().step(|| "leaving the terminal".into())?;
    namespaces::enter().map_err(Failed::of(IsolationPart::NameSpaces))?;
    let program = std::env::current_exe().step(|| "finding this program's own file".into())?;
    let status = Command::new(program)
        .args(args)
        .arg(INNER)
        .status()
        .step(|| "starting the first process inside".into())?;
    if status.success() {
        Ok(())
    } else {
        // It reports itself wherever it can; so this was an end from outside, by the system's out-of-memory killer say.
        Err(Failed {
            part: IsolationPart::Helper,
            step: "running the first process inside".into(),
            reason: status.to_string(),
        })
    }
}

fn inner(socket: &UnixStream) -> Result<HelperReport, Failed> {
    let mut line = String::new();
    let mut reader = BufReader::new(socket.try_clone().step(|| "reading the job".into())?);
    reader.read_line(&mut line).step(|| "reading the job".into())?;
    let Request { job, confinement } = serde_json::from_str(&line).step(|| "reading the job".into())?;
    match confinement {
        Confinement::Namespaces => isolated(&job, reader),
        Confinement::LimitsOnly => with_limits_only(&job, reader),
    }
}

/// What the program says while the command runs: nothing, and that is over.
type Control = BufReader<UnixStream>;

fn isolated(job: &SandboxJob, control: Control) -> Result<HelperReport, Failed> {
    end_with_parent()?;
    loopback::bring_up().map_err(Failed::of(IsolationPart::NameSpaces))?;
    restrictions::limit_process_ids(&job.limits);
    let built = root::build(job).map_err(Failed::of(IsolationPart::Files))?;
    let keys = keys::watch(job).map_err(Failed::of(IsolationPart::Files))?;
    namespaces::take_ordinary_user().map_err(Failed::of(IsolationPart::NameSpaces))?;
    files::write(job)
        .step(|| "writing the files of the job".into())
        .map_err(Failed::of(IsolationPart::Files))?;
    restrictions::limit(&job.limits).map_err(Failed::of(IsolationPart::Restrictions))?;
    let mut isolation = Isolation {
        namespaces: true,
        overlay: built.overlay,
        ..Isolation::default()
    };
    let asked = Arc::new(Mutex::new(Asked {
        refused: BTreeSet::new(),
        watched: Watched::new(job),
    }));
    let start = || {
        let (child, landlock) = start_restricted(job, &answer(Arc::clone(&asked))?)?;
        isolation.landlock = landlock;
        isolation.seccomp = true;
        Ok(child)
    };
    let folders = changed_folders(&built.changed);
    let mut report = watching::run(start, job, Confinement::Namespaces, folders, control)?;
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let calls = asked.refused.iter();
    report
        .refused
        .extend(calls.map(|name| Refused::SystemCall((*name).to_owned())));
    let (seen, absent) = asked.watched.found();
    report.refused.extend(seen);
    report.absent = absent;
    report
        .refused
        .extend(loopback::network_was_wanted().then_some(Refused::Network));
    report.refused.extend(keys.opened());
    report.refused.sort();
    report.refused.dedup();
    report.isolation = isolation;
    Ok(report)
}

/// What the kernel asked about.
struct Asked {
    /// The names of the calls that were refused.
    refused: BTreeSet<&'static str>,
    watched: Watched,
}

/// Starts to answer the kernel, once there is a listener, which the first call that is asked about waits for.
fn answer(asked: Arc<Mutex<Asked>>) -> Result<Sender<Listener>, Failed> {
    let (give, given) = mpsc::channel::<Listener>();
    let answering = move || {
        let Ok(listener) = given.recv() else { return };
        listener.answer_all(|call| {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            match restrictions::name_of(call.data.nr.into()) {
                Some(name) => {
                    asked.refused.insert(name);
                    Permit::Refuse
                }
                None => {
                    asked.watched.look(call);
                    Permit::GoOn
                }
            }
        });
    };
    std::thread::Builder::new()
        .spawn(answering)
        .step(|| "starting a thread".into())?;
    Ok(give)
}

/// Starts the command with all restrictions. They are those of a thread and of what it starts, so the threads that watch stay free of them.
fn start_restricted(job: &SandboxJob, give: &Sender<Listener>) -> Result<(io::Result<Child>, bool), Failed> {
    let restricted = || {
        let landlock = restrictions::landlock(job).map_err(Failed::of(IsolationPart::Restrictions))?;
        if let Some(listener) = restrictions::seccomp().map_err(Failed::of(IsolationPart::Restrictions))? {
            give.send(listener).step(|| "listening to the kernel".into())?;
        }
        Ok((command::prepare(job, Confinement::Namespaces).spawn(), landlock))
    };
    std::thread::scope(|threads| match threads.spawn(restricted).join() {
        Ok(started) => started,
        Err(_) => Err(Failed {
            part: IsolationPart::Helper,
            step: "starting the command".into(),
            reason: "the thread panicked".into(),
        }),
    })
}

/// Without name spaces nobody but this process knows what the command started. So it is not bound to the program, whose end it sees by the end
/// of what controls it.
fn with_limits_only(job: &SandboxJob, control: Control) -> Result<HelperReport, Failed> {
    prctl::set_child_subreaper(true).step(|| "taking in orphaned processes".into())?;
    files::write(job).step(|| "writing the files of the job".into())?;
    restrictions::limit(&job.limits)?;
    let start = || Ok(command::prepare(job, Confinement::LimitsOnly).spawn());
    let folders = job.scratch.iter().map(|scratch| scratch.at.clone()).collect();
    watching::run(start, job, Confinement::LimitsOnly, folders, control)
}

/// Returns the folders that take up what the command writes: those of the job by their descriptors, as the new root does not show them.
fn changed_folders(changed: &[File]) -> Vec<PathBuf> {
    let open = changed
        .iter()
        .map(|folder| PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())));
    open.chain(paths::TEMPORARY.map(PathBuf::from)).collect()
}

/// Has the kernel end this process when the one that started it ends, and with the first process of a name space all others there.
fn end_with_parent() -> Result<(), Failed> {
    prctl::set_pdeathsig(Signal::SIGKILL).step(|| "binding the helper to the program".into())
}

fn send(mut socket: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    socket.write_all(&line)
}
