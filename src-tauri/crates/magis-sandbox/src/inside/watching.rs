//! Starts the command, and watches it and all that it starts until it ends or goes over a limit.

use super::paths::TEMPORARY;
use super::{Failed, Step as _};
use crate::job::{Limits, SandboxJob};
use crate::outcome::{End, Refused};
use crate::wire::{Confinement, HelperReport, Isolation};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::statvfs::statvfs;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, SysconfVar, setsid, sysconf};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::iter;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How often memory and processes are looked at.
const TICK: Duration = Duration::from_millis(25);
/// How often the disk is looked at: it takes longer.
const DISK_TICK: Duration = Duration::from_millis(200);
/// Files that may be added to those that were there; whoever makes more has used up the disk.
const FILES: usize = 200_000;
/// How long processes that the command left may take to end by themselves.
const LEAVING: Duration = Duration::from_millis(200);

enum Event {
    Ended(WaitStatus),
    /// The program closed its end, or is gone.
    Stop,
}

/// Runs a command to its end; nothing that it started is left. `start` starts it; `written` are the folders that take up what it writes.
pub fn run(
    start: impl FnOnce() -> Result<io::Result<Child>, Failed>,
    job: &SandboxJob,
    confinement: Confinement,
    written: Vec<PathBuf>,
    control: impl Read + Send + 'static,
) -> Result<HelperReport, Failed> {
    let disk = Disk::new(written, &job.limits);
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
    let tell_of_stop = tell.clone();
    let (started_child, child) = mpsc::channel();
    // Before the command starts: one that makes processes without end leaves no room for a thread.
    thread::Builder::new()
        .spawn(move || wait_for_stop(control, &tell_of_stop))
        .step(|| "starting a thread".into())?;
    thread::Builder::new()
        .spawn(move || child.into_iter().for_each(|child| wait_for_end(child, &tell)))
        .step(|| "starting a thread".into())?;
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
    setsid().step(|| "leaving the session of the command".into())?;
    let mut next_look = started + DISK_TICK;
    report.end = loop {
        match events.recv_timeout(TICK) {
            Ok(Event::Ended(status)) => break end_of(status, &disk, &job.limits),
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => break End::Signalled(libc::SIGKILL),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // Reading about each takes long when there are many.
        if confinement == Confinement::Namespaces && processes().count() as u64 > 2 * job.limits.processes {
            break End::TooManyProcesses(job.limits.processes);
        }
        let all = descendants();
        let memory = memory_of(&all, confinement, job.limits.memory);
        report.peak_memory = report.peak_memory.max(memory);
        if started.elapsed() > job.limits.time {
            break End::TimeUsedUp(job.limits.time);
        }
        if memory > job.limits.memory {
            break End::MemoryUsedUp(job.limits.memory);
        }
        if all.len() as u64 > job.limits.processes {
            break End::TooManyProcesses(job.limits.processes);
        }
        if Instant::now() >= next_look {
            let begun = Instant::now();
            if let Some(end) = disk.over() {
                break end;
            }
            // Over a large tree it takes long, and memory and processes have to be looked at meanwhile.
            next_look = Instant::now() + DISK_TICK.max(4 * begun.elapsed());
        }
    };
    report.took = started.elapsed();
    if matches!(report.end, End::Exited(_) | End::Signalled(_)) {
        let left = left_running();
        if left > 0 {
            report.refused.push(Refused::LeftRunning(left));
        }
    }
    end_all(confinement);
    Ok(report)
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
    if let Some(end) = disk.over() {
        return end;
    }
    match status {
        WaitStatus::Exited(_, code) => End::Exited(code),
        WaitStatus::Signaled(_, Signal::SIGXFSZ, _) => End::FileTooLarge(limits.file),
        WaitStatus::Signaled(_, signal, _) => End::Signalled(signal as i32),
        _ => End::Signalled(libc::SIGKILL),
    }
}

/// What is read of a process.
struct Process {
    pid: Pid,
    resident: u64,
    ended: bool,
}

/// Returns the processes that this one started, and those that they started.
fn descendants() -> Vec<Process> {
    let page = page();
    let mut parents = BTreeMap::new();
    let mut found = Vec::new();
    for pid in processes() {
        // It may have ended since the folder was read.
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
            continue;
        };
        // The name stands in brackets and may hold anything.
        let fields: Vec<&str> = stat
            .rsplit_once(") ")
            .map_or(vec![], |(_, rest)| rest.split(' ').collect());
        let number = |field: usize| fields.get(field).and_then(|text| text.parse::<u64>().ok());
        let (Some(parent), Some(pages)) = (number(1), number(21)) else {
            continue;
        };
        parents.insert(pid, parent as i32);
        found.push(Process {
            pid: Pid::from_raw(pid),
            resident: pages * page,
            ended: matches!(fields.first(), Some(&"Z" | &"X")),
        });
    }
    let own = std::process::id().cast_signed();
    found.retain(|process| {
        let mut at = process.pid.as_raw();
        // As many steps as there are processes lead to the top of any tree.
        (0..parents.len()).any(|_| {
            at = parents.get(&at).copied().unwrap_or(0);
            at == own
        })
    });
    found
}

/// Returns the ids of all processes that this one sees.
fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the unit in which `/proc/PID/stat` counts memory, a page, in bytes.
fn page() -> u64 {
    /// That of most machines.
    const USUAL: u64 = 4096;
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| u64::try_from(size).ok()).unwrap_or(USUAL)
}

/// Returns the memory of all processes together, with the files they keep in memory. Pages that processes share are counted once, where
/// counting them each time would be over the limit.
fn memory_of(processes: &[Process], confinement: Confinement, limit: u64) -> u64 {
    let files = match confinement {
        // All of the temporary folders lie on one file system.
        Confinement::Namespaces => {
            statvfs(TEMPORARY[0]).map_or(0, |disk| (disk.blocks() - disk.blocks_free()) * disk.fragment_size())
        }
        Confinement::LimitsOnly => 0,
    };
    let resident: u64 = processes.iter().map(|process| process.resident).sum();
    if resident + files <= limit {
        return resident + files;
    }
    processes
        .iter()
        .map(|process| proportional(process.pid).unwrap_or(process.resident))
        .sum::<u64>()
        + files
}

/// Returns a process' share of the memory it uses, in bytes.
fn proportional(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
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

/// What the command writes, and how much it may.
struct Disk {
    folders: Vec<PathBuf>,
    limits: Limits,
    /// What was there at first, in bytes: a whole tree, where it is copied.
    bytes: u64,
    /// The files and folders that were there at first.
    files: usize,
    /// Files that were larger at first than the command may write one, by their device and number, with their sizes.
    large: BTreeMap<(u64, u64), u64>,
}

impl Disk {
    fn new(folders: Vec<PathBuf>, limits: &Limits) -> Self {
        let (mut bytes, mut files, mut large) = (0, 0, BTreeMap::new());
        for found in all_in(&folders) {
            files += 1;
            bytes += held(&found);
            if !found.is_dir() && found.len() > limits.file {
                large.insert((found.dev(), found.ino()), found.len());
            }
        }
        Self {
            folders,
            limits: *limits,
            bytes,
            files,
            large,
        }
    }

    /// Returns the end of a command that wrote a file, or files, larger than allowed.
    fn over(&self) -> Option<End> {
        let (mut bytes, mut files) = (0_u64, 0_usize);
        for found in all_in(&self.folders) {
            files += 1;
            bytes += held(&found);
            if !found.is_dir() && found.len() > self.most(&found) {
                return Some(End::FileTooLarge(self.limits.file));
            }
            if bytes.saturating_sub(self.bytes) > self.limits.disk || files.saturating_sub(self.files) > FILES {
                return Some(End::DiskUsedUp(self.limits.disk));
            }
        }
        None
    }

    /// Returns how large a file may be: one that was larger than that at first may not grow.
    fn most(&self, file: &Metadata) -> u64 {
        let at_first = self.large.get(&(file.dev(), file.ino()));
        at_first.copied().unwrap_or(self.limits.file)
    }
}

/// Returns all files and folders in some folders, and in those. What has gone since, or cannot be named any more, is left out.
fn all_in(folders: &[PathBuf]) -> impl Iterator<Item = Metadata> {
    let mut open = folders.to_vec();
    let mut entries = None;
    iter::from_fn(move || {
        loop {
            let Some(entry) = entries.as_mut().and_then(fs::ReadDir::next) else {
                entries = fs::read_dir(open.pop()?).ok();
                continue;
            };
            let Ok(entry) = entry else { continue };
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                open.push(entry.path());
            }
            return Some(found);
        }
    })
}

/// Returns how many bytes a file holds on the disk.
fn held(found: &Metadata) -> u64 {
    if found.is_dir() { 0 } else { found.blocks() * 512 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Writes a file of so many bytes.
    fn write(path: &Path, bytes: usize) {
        fs::write(path, vec![1_u8; bytes]).expect("a file");
    }

    /// Writes ten files of 10000 bytes into a folder.
    fn write_ten(folder: &Path) {
        fs::create_dir(folder).expect("a folder");
        for number in 0..10 {
            write(&folder.join(number.to_string()), 10_000);
        }
    }

    #[test]
    fn what_was_there_at_first_is_not_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = |name: &str| folder.path().join(name);
        let limits = Limits {
            file: 20_000,
            disk: 60_000,
            ..Limits::default()
        };
        write_ten(&inside("before"));
        write(&inside("before/large"), 50_000);
        let disk = Disk::new(vec![folder.path().to_owned()], &limits);
        assert_eq!(disk.over(), None);

        fs::rename(inside("before/large"), inside("moved")).expect("moving a file");
        assert_eq!(disk.over(), None);
        write(&inside("new"), 20_001);
        assert_eq!(disk.over(), Some(End::FileTooLarge(20_000)));
        write(&inside("new"), 20_000);
        assert_eq!(disk.over(), None);
        write(&inside("moved"), 50_001);
        assert_eq!(disk.over(), Some(End::FileTooLarge(20_000)));
        write(&inside("moved"), 50_000);
        assert_eq!(disk.over(), None);

        write_ten(&inside("after"));
        assert_eq!(disk.over(), Some(End::DiskUsedUp(60_000)));
    }
}
