//! Starts the command, and watches it and all that it starts until it ends or goes over a limit.

use super::descriptors::Unnamed;
use super::disk::Disk;
use super::memory::{self, MachineMemory};
use super::processes::{self, descendants};
use super::{Failed, Step as _};
use crate::job::{Limits, SandboxJob};
use crate::outcome::{End, Refused};
use crate::wire::{Confinement, HelperReport, Isolation};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often memory, processes and files without a name are looked at.
const TICK: Duration = Duration::from_millis(25);
/// How often the disk is looked at: it takes longer.
const DISK_TICK: Duration = Duration::from_millis(200);
/// How long processes that the command left may take to end by themselves.
const LEAVING: Duration = Duration::from_millis(200);

enum Event {
    Ended(WaitStatus),
    /// What was written is over a limit.
    Over(End),
    /// The program closed its end, or is gone.
    Stop,
}

/// What the threads that watch a command tell each other.
#[derive(Default)]
struct Shared {
    processes: Mutex<Vec<Pid>>,
    unnamed: Mutex<Unnamed>,
}

/// Runs a command to its end; nothing that it started is left. `start` starts it; `written` are the folders that take up what it writes.
pub fn run(
    start: impl FnOnce() -> Result<io::Result<Child>, Failed>,
    job: &SandboxJob,
    confinement: Confinement,
    written: Vec<PathBuf>,
    control: impl Read + Send + 'static,
) -> Result<HelperReport, Failed> {
    let disk = Arc::new(Disk::new(written, &job.limits));
    let shared = Arc::new(Shared::default());
    let machine = MachineMemory::now();
    let started = Instant::now();
    let mut report = HelperReport {
        end: End::NotStarted(String::new()),
        took: Duration::ZERO,
        peak_memory: 0,
        refused: vec![],
        absent: vec![],
        isolation: Isolation::default(),
    };
    let (tell, events) = mpsc::channel();
    let (tell_of_stop, tell_of_disk) = (tell.clone(), tell.clone());
    let (started_child, child) = mpsc::channel();
    // Before the command starts: one that makes processes without end leaves no room for a thread.
    thread::Builder::new()
        .spawn(move || wait_for_stop(control, &tell_of_stop))
        .step(|| "starting a thread".into())?;
    thread::Builder::new()
        .spawn(move || child.into_iter().for_each(|child| wait_for_end(child, &tell)))
        .step(|| "starting a thread".into())?;
    watch_files(&disk, &shared, tell_of_disk)?;
    let child = match start()? {
        Ok(child) => Pid::from_raw(child.id().cast_signed()),
        Err(error) => {
            report.end = End::NotStarted(format!("{}: {error}", job.command.first().map_or("", String::as_str)));
            return Ok(report);
        }
    };
    // Its thread is waiting for it.
    let _ = started_child.send(child);
    // The scheduler shares the processor out between sessions first, so a command of many processes cannot keep its watcher from it.
    if let Err(failed) = setsid().step(|| "leaving the session of the command".into()) {
        end_all(confinement);
        return Err(failed);
    }
    let mut was_stopped = false;
    report.end = loop {
        match events.recv_timeout(TICK) {
            Ok(Event::Ended(status)) => break end_of(status, &disk, &job.limits),
            Ok(Event::Over(end)) => break end,
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => {
                was_stopped = true;
                break End::Signalled(libc::SIGKILL);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        // Reading about each takes long when there are many.
        if confinement == Confinement::Namespaces && processes::all().count() as u64 > 2 * job.limits.processes {
            break End::TooManyProcesses(job.limits.processes);
        }
        let all = descendants();
        *lock(&shared.processes) = all.iter().map(|process| process.pid).collect();
        let unnamed = lock(&shared.unnamed).memory;
        let memory = memory::used(&all, confinement, unnamed, job.limits.memory);
        report.peak_memory = report.peak_memory.max(memory);
        if started.elapsed() > job.limits.time {
            break End::TimeUsedUp(job.limits.time);
        }
        let at_first_and_now = machine.zip(MachineMemory::now());
        let runs_out = at_first_and_now.is_some_and(|(at_first, now)| at_first.runs_out_at(&now, job.limits.memory));
        if memory > job.limits.memory || runs_out {
            break End::MemoryUsedUp(job.limits.memory);
        }
        if all.len() as u64 > job.limits.processes {
            break End::TooManyProcesses(job.limits.processes);
        }
    };
    report.took = started.elapsed();
    if !was_stopped && matches!(report.end, End::Exited(_) | End::Signalled(_)) {
        let left = left_running();
        if left > 0 {
            report.refused.push(Refused::LeftRunning(left));
        }
    }
    end_all(confinement);
    Ok(report)
}

/// Starts to look at what is written. Over a large tree, or many descriptors, it takes long, and memory and processes have to be looked at
/// meanwhile.
fn watch_files(disk: &Arc<Disk>, shared: &Arc<Shared>, tell: Sender<Event>) -> Result<(), Failed> {
    let ours = Arc::clone(shared);
    let descriptors = move || {
        look_every(TICK, || {
            let processes = lock(&ours.processes).clone();
            *lock(&ours.unnamed) = Unnamed::of(&processes);
            None
        });
    };
    let (disk, shared) = (Arc::clone(disk), Arc::clone(shared));
    let folders = move || {
        let end = look_every(DISK_TICK, || {
            let unnamed = lock(&shared.unnamed).disk;
            disk.over(unnamed)
        });
        let _ = tell.send(Event::Over(end));
    };
    for look in [Box::new(descriptors) as Box<dyn FnOnce() + Send>, Box::new(folders)] {
        thread::Builder::new().spawn(look).step(|| "starting a thread".into())?;
    }
    Ok(())
}

/// Looks again and again until there is an end, and takes a fifth of the time at most.
fn look_every(tick: Duration, mut look: impl FnMut() -> Option<End>) -> End {
    let mut pause = tick;
    loop {
        thread::sleep(pause);
        let begun = Instant::now();
        if let Some(end) = look() {
            return end;
        }
        pause = tick.max(4 * begun.elapsed());
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_for_stop(mut control: impl Read, tell: &Sender<Event>) {
    // Whatever comes, and that nothing more comes, means the same.
    let _ = control.read(&mut [0]);
    let _ = tell.send(Event::Stop);
}

/// Takes in every process that ends, until the command itself does.
fn wait_for_end(child: Pid, tell: &Sender<Event>) {
    loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL)) {
            Ok(status) if status.pid() == Some(child) => {
                let _ = tell.send(Event::Ended(status));
                return;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

fn end_of(status: WaitStatus, disk: &Disk, limits: &Limits) -> End {
    // A program may take the kernel's word that its file is too large as an error like any other.
    if let Some(end) = disk.over(0) {
        return end;
    }
    match status {
        WaitStatus::Exited(_, code) => End::Exited(code),
        WaitStatus::Signaled(_, Signal::SIGXFSZ, _) => End::FileTooLarge(limits.file),
        WaitStatus::Signaled(_, signal, _) => End::Signalled(signal as i32),
        _ => End::Signalled(libc::SIGKILL),
    }
}

/// Returns how many processes the command left behind that do not end by themselves at once.
fn left_running() -> u64 {
    let until = Instant::now() + LEAVING;
    loop {
        reap();
        let left = descendants().iter().filter(|process| !process.ended).count();
        if left == 0 || Instant::now() >= until {
            return left as u64;
        }
        thread::sleep(TICK / 5);
    }
}

/// Ends every process that is left, as often as new ones come.
fn end_all(confinement: Confinement) {
    loop {
        if confinement == Confinement::Namespaces {
            // All at once, so that none has the time to make another. There are no others in this name space.
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
        }
        let left = descendants();
        if left.is_empty() {
            return;
        }
        for process in &left {
            let _ = kill(process.pid, Signal::SIGKILL);
        }
        reap();
        thread::sleep(Duration::from_millis(1));
    }
}

/// Takes in the processes that have ended.
fn reap() {
    let flags = WaitPidFlag::__WALL | WaitPidFlag::WNOHANG;
    while let Ok(status) = waitpid(Pid::from_raw(-1), Some(flags)) {
        if status == WaitStatus::StillAlive {
            return;
        }
    }
}
