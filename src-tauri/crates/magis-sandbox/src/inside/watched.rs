//! Writes down what a command reaches for outside of what it was given: files, sockets, processes. Every call that is looked at here goes on to the
//! kernel, whatever is found: mounts, Landlock and the name spaces keep the command in, and this only names what they kept it from.

use super::loopback;
use super::paths::TEMPORARY;
use crate::job::SandboxJob;
use crate::outcome::Refused;
use nix::libc::{self, seccomp_notif};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

/// Things of one kind that are written down; a command may try any number.
const MOST: usize = 20;
/// Links that are followed to where a path leads.
const LINKS: usize = 20;
/// Parts of a path whose links are followed at the most; each costs a call.
const DEEP: usize = 60;
/// What the kernel and the C library take as the longest path.
const PATH: usize = 4096;
/// The smallest page that machines have; where pages are larger, their borders are borders of these, too.
const PAGE: usize = 4096;
/// Folders of the system, where programs look for what may be there without meaning anything by it.
const SYSTEM: [&str; 12] = [
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/var", "/run", "/dev", "/proc", "/sys",
];
/// What no program has a reason to look for there.
const SECRETS: [&str; 4] = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh"];
/// What of a process is nobody else's business.
const OF_PROCESS: [&str; 4] = ["environ", "mem", "maps", "root"];

/// What a call does with a path.
#[derive(Debug, Clone, Copy)]
enum PathUse {
    /// Opens it, for reading or writing, as the flags in this argument say.
    Open(usize),
    /// The same, with the flags at the beginning of what this argument points to.
    OpenHow(usize),
    /// Makes, changes or moves to it.
    Write,
    /// Makes a folder, or removes what is there.
    WriteIf(Presence),
    Run,
}

/// When a call does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    There,
    NotThere,
}

/// Calls that take a path: the argument of the folder it is relative to, where there is one, the path's, and what is done with it.
const PATHS: &[(i64, Option<usize>, usize, PathUse)] = &[
    (libc::SYS_openat, Some(0), 1, PathUse::Open(2)),
    (libc::SYS_openat2, Some(0), 1, PathUse::OpenHow(2)),
    (libc::SYS_mkdirat, Some(0), 1, PathUse::WriteIf(Presence::NotThere)),
    (libc::SYS_unlinkat, Some(0), 1, PathUse::WriteIf(Presence::There)),
    (libc::SYS_renameat2, Some(2), 3, PathUse::Write),
    (libc::SYS_symlinkat, Some(1), 2, PathUse::Write),
    (libc::SYS_linkat, Some(2), 3, PathUse::Write),
    (libc::SYS_truncate, None, 0, PathUse::WriteIf(Presence::There)),
    (libc::SYS_execve, None, 0, PathUse::Run),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, None, 0, PathUse::Open(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, None, 0, PathUse::Write),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, None, 0, PathUse::WriteIf(Presence::NotThere)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, None, 0, PathUse::WriteIf(Presence::There)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, None, 0, PathUse::WriteIf(Presence::There)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, None, 1, PathUse::Write),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_renameat, Some(2), 3, PathUse::Write),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, None, 1, PathUse::Write),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, None, 1, PathUse::Write),
];

/// Returns the calls that are looked at.
pub fn calls() -> impl Iterator<Item = i64> {
    let paths = PATHS.iter().map(|(call, ..)| *call);
    paths.chain([libc::SYS_connect, libc::SYS_kill])
}

/// What was seen so far.
#[derive(Debug)]
pub struct Watched {
    writable: Vec<PathBuf>,
    seen: BTreeSet<Refused>,
    /// What is not there inside. Whether it is there outside, where it was hidden from the command, cannot be told in here.
    absent: BTreeSet<Refused>,
}

impl Watched {
    /// Begins for a job.
    pub fn new(job: &SandboxJob) -> Self {
        let scratch = job.scratch.iter().map(|scratch| scratch.at.clone());
        Self {
            writable: scratch.chain(TEMPORARY.map(PathBuf::from)).collect(),
            seen: BTreeSet::new(),
            absent: BTreeSet::new(),
        }
    }

    /// Returns what was kept from the command, and what was not there.
    pub fn found(&self) -> (Vec<Refused>, Vec<Refused>) {
        (
            self.seen.iter().cloned().collect(),
            self.absent.iter().cloned().collect(),
        )
    }

    /// Looks at a call.
    pub fn look(&mut self, call: &seccomp_notif) {
        let number = i64::from(call.data.nr);
        let process = Process(call.pid.cast_signed());
        match number {
            libc::SYS_connect => self.connect(process, call.data.args[1], call.data.args[2]),
            // The kernel takes the lower half of the argument.
            libc::SYS_kill => self.kill(call.data.args[0] as i32),
            _ => {
                let path = PATHS.iter().find(|(path_call, ..)| *path_call == number);
                if let Some((_, folder, path, done)) = path {
                    let folder = folder.map(|at| call.data.args[at] as i32);
                    self.path(process, folder, call, *path, *done);
                }
            }
        }
    }

    fn path(&mut self, process: Process, folder: Option<i32>, call: &seccomp_notif, at: usize, done: PathUse) {
        let args = &call.data.args;
        let Some(path) = process
            .text(args[at])
            .and_then(|written| process.absolute(folder, &written))
        else {
            return;
        };
        match done {
            PathUse::Open(flags) => self.open(&path, args[flags]),
            PathUse::OpenHow(how) => self.open(&path, process.number(args[how]).unwrap_or(0)),
            PathUse::Write => self.write(&path),
            PathUse::WriteIf(when) => {
                let there = if path.symlink_metadata().is_ok() {
                    Presence::There
                } else {
                    Presence::NotThere
                };
                if there == when {
                    self.write(&path);
                }
            }
            PathUse::Run => {
                let rights = fs::metadata(&path).map_or(0, |file| file.permissions().mode());
                if rights & 0o6000 != 0 {
                    note(&mut self.seen, Refused::RightsOfOthers(shown(&path)));
                }
            }
        }
    }

    fn open(&mut self, path: &Path, flags: u64) {
        let has = |flag: libc::c_int| flags & u64::from(flag.unsigned_abs()) != 0;
        let writes = has(libc::O_WRONLY) || has(libc::O_RDWR);
        if is_of_first_process(path) {
            note(&mut self.seen, Refused::OtherProcess);
        }
        let is_meant = !SYSTEM.iter().any(|folder| path.starts_with(folder))
            || SECRETS.iter().any(|secret| path.starts_with(secret));
        if is_meant && !has(libc::O_CREAT) && path.symlink_metadata().is_err() {
            note(&mut self.absent, Refused::Read(shown(path)));
        } else if writes {
            self.write(path);
        }
    }

    fn write(&mut self, path: &Path) {
        let led = led(path);
        let is_allowed = |path: &Path| {
            self.writable.iter().any(|folder| path.starts_with(folder))
                // A device that is there may be written.
                || path.starts_with("/dev") && path.exists()
                || is_of_a_process(path)
                // Python writes what it compiled beside the source where it may, and lets it be where it may not.
                || path.components().any(|part| part.as_os_str() == "__pycache__")
        };
        if !is_allowed(&led) {
            note(&mut self.seen, Refused::Write(shown(&led)));
        }
    }

    fn kill(&mut self, to: i32) {
        // Numbers are given one after the other, so a greater one than the last is that of a process elsewhere.
        let last = || {
            let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
            text.split_whitespace().last().and_then(|number| number.parse().ok())
        };
        if to == 1 || to == -1 || to > 1 && last().is_some_and(|last: i32| to > last) {
            note(&mut self.seen, Refused::Signal);
        }
    }

    fn connect(&mut self, process: Process, address: u64, length: u64) {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(128);
        let Some(bytes) = process.bytes(address, length) else {
            return;
        };
        let Some((family, rest)) = bytes.split_first_chunk::<2>() else {
            return;
        };
        let port = |rest: &[u8]| rest.first_chunk::<2>().map(|bytes| u16::from_be_bytes(*bytes));
        match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_INET => {
                let to = rest.get(2..6).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
                if to.is_some_and(|to| Ipv4Addr::from(to).is_loopback()) {
                    self.port(port(rest));
                }
            }
            libc::AF_INET6 => {
                let to = rest.get(6..22).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
                if to.is_some_and(|to| Ipv6Addr::from(to).is_loopback()) {
                    self.port(port(rest));
                }
            }
            libc::AF_UNIX => self.socket(process, rest),
            _ => {}
        }
    }

    fn port(&mut self, port: Option<u16>) {
        if let Some(port) = port.filter(|port| !loopback::is_listened_at(*port)) {
            note(&mut self.seen, Refused::Port(port));
        }
    }

    fn socket(&mut self, process: Process, name: &[u8]) {
        match name.split_first() {
            None => {}
            Some((0, name)) => {
                let name = format!("@{}", String::from_utf8_lossy(name).trim_end_matches('\0'));
                if !loopback::has_abstract_socket(&name) {
                    note(&mut self.seen, Refused::Socket(name));
                }
            }
            Some(_) => {
                let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
                let path = process.absolute(None, Path::new(OsStr::from_bytes(&name[..end])));
                if let Some(path) = path.filter(|path| path.symlink_metadata().is_err()) {
                    note(&mut self.absent, Refused::Socket(shown(&path)));
                }
            }
        }
    }
}

/// Writes something down, as long as there are few of its kind.
fn note(seen: &mut BTreeSet<Refused>, refused: Refused) {
    let kind = std::mem::discriminant(&refused);
    if seen.iter().filter(|one| std::mem::discriminant(*one) == kind).count() < MOST {
        seen.insert(refused);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Returns whether a path is about a process: what the kernel allows there, a test may do.
fn is_of_a_process(path: &Path) -> bool {
    let of = path
        .strip_prefix("/proc")
        .ok()
        .and_then(|rest| rest.components().next());
    of.is_some_and(|of| of.as_os_str().as_bytes().first().is_some_and(u8::is_ascii_digit))
}

/// Returns whether a path looks into the first process, the helper.
fn is_of_first_process(path: &Path) -> bool {
    path.strip_prefix("/proc/1")
        .is_ok_and(|rest| OF_PROCESS.iter().any(|name| rest.starts_with(name)))
}

/// Returns where a path leads, over links, as far as there is something. One too deep to follow in a moment is taken as it is.
fn led(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    if path.components().count() > DEEP {
        return path;
    }
    for _ in 0..LINKS {
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            path = fs::canonicalize(folder)
                .unwrap_or_else(|_| folder.to_owned())
                .join(name);
        }
        let Ok(to) = fs::read_link(&path) else { break };
        path = normal(&path.parent().unwrap_or(&path).join(to));
    }
    path
}

/// Returns an absolute path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(name) => whole.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    whole
}

/// A process that made a call.
#[derive(Debug, Clone, Copy)]
struct Process(i32);

impl Process {
    /// Reads up to so many bytes of its memory.
    fn bytes(self, address: u64, length: usize) -> Option<Vec<u8>> {
        let address = usize::try_from(address).ok().filter(|address| *address != 0)?;
        let mut bytes = vec![0; length];
        // What is read stops at the first part that is not there as a whole, so the parts end where pages do.
        let first = (PAGE - address % PAGE).min(length);
        let parts = [
            RemoteIoVec {
                base: address,
                len: first,
            },
            RemoteIoVec {
                base: address + first,
                len: length - first,
            },
        ];
        let read = process_vm_readv(Pid::from_raw(self.0), &mut [IoSliceMut::new(&mut bytes)], &parts).ok()?;
        bytes.truncate(read);
        Some(bytes)
    }

    fn text(self, address: u64) -> Option<PathBuf> {
        // Most paths are short.
        for length in [256, PATH] {
            let bytes = self.bytes(address, length)?;
            if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
                return Some(PathBuf::from(OsStr::from_bytes(&bytes[..end])));
            }
        }
        None
    }

    fn number(self, address: u64) -> Option<u64> {
        let bytes = self.bytes(address, 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// Returns a path of this process from the root. `folder` is what a relative one begins at, as the kernel has it.
    fn absolute(self, folder: Option<i32>, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().is_empty() {
            return None;
        }
        let own = format!("/proc/{}", self.0);
        if let Ok(rest) = path.strip_prefix("/proc/self") {
            return Some(Path::new(&own).join(rest));
        }
        if path.is_absolute() {
            return Some(normal(path));
        }
        let link = match folder {
            None | Some(libc::AT_FDCWD) => format!("{own}/cwd"),
            Some(folder) => format!("{own}/fd/{folder}"),
        };
        Some(normal(&fs::read_link(link).ok()?.join(path)))
    }
}
