//! Programs one of whose system calls goes wrong, whichever one wants: the program is killed right before it, or the call is not carried out and fails. Between
//! two calls that change files nothing on the disk changes, so a kill before each of them leaves everything that a kill at any instruction can leave.

use nix::errno::Errno;
use nix::libc::{self, c_long};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// What goes wrong at a system call, and whether those after it fare the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallFault {
    /// The program is killed right before the call.
    Kill,
    /// A call that changes a file, or makes sure that a change is on the disk, fails with `EIO`; those after it do not.
    WriteError,
    /// A call that reads a file, or looks at one, fails with `EIO`; those after it do not.
    ReadError,
    /// From this call on, whatever needs room on the disk fails with `ENOSPC`, and none is said to be free.
    DiskFull,
    /// From this call on, whatever needs the permission to write fails with `EACCES`. What is open already can be written.
    Denied,
}

impl CallFault {
    /// All faults.
    pub const ALL: [Self; 5] = [
        Self::Kill,
        Self::WriteError,
        Self::ReadError,
        Self::DiskFull,
        Self::Denied,
    ];

    /// Returns its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::WriteError => "EIO (change)",
            Self::ReadError => "EIO (read)",
            Self::DiskFull => "ENOSPC",
            Self::Denied => "EACCES",
        }
    }

    /// Returns whether it can strike at such a call.
    fn strikes(self, effect: Effect) -> bool {
        match self {
            Self::Kill => matches!(effect, Effect::Change { .. }),
            Self::WriteError => matches!(effect, Effect::Change { .. } | Effect::OpenToWrite | Effect::Sync),
            Self::ReadError => effect == Effect::Read,
            Self::DiskFull => matches!(effect, Effect::Change { needs_room: true, .. }),
            Self::Denied => matches!(
                effect,
                Effect::OpenToWrite
                    | Effect::Change {
                        needs_permission: true,
                        ..
                    }
            ),
        }
    }

    /// Returns what a struck call fails with; none where the program is killed instead.
    fn error(self) -> Option<Errno> {
        match self {
            Self::Kill => None,
            Self::WriteError | Self::ReadError => Some(Errno::EIO),
            Self::DiskFull => Some(Errno::ENOSPC),
            Self::Denied => Some(Errno::EACCES),
        }
    }

    fn lasts(self) -> bool {
        matches!(self, Self::DiskFull | Self::Denied)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedEnd {
    /// It was killed where it was to be.
    Killed,
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that nobody here sent.
    Signaled(Signal),
}

/// What a traced program did.
#[derive(Debug, Clone)]
pub struct Traced {
    pub end: TracedEnd,
    pub out: String,
    pub err: String,
    /// The call that went wrong first, with its file; none where it was not reached.
    pub struck: Option<String>,
    /// How many calls each fault could strike at, in the order of [`CallFault::ALL`].
    calls: [usize; 5],
}

impl Traced {
    /// Returns how many of the program's calls the fault could strike at.
    pub fn calls(&self, fault: CallFault) -> usize {
        self.calls[fault as usize]
    }
}

/// Runs a program to its end; nothing goes wrong. Calls on files in the folders `within` are counted.
pub fn trace(command: &Command, within: &[&Path]) -> Traced {
    traced(command, within, None)
}

/// Runs a program of whose calls on files in the folders `within` number `call`, from 1, goes wrong, counted among those that the fault can strike at. Calls of all its
/// threads count, those of other programs that it starts do not.
pub fn strike(command: &Command, within: &[&Path], fault: CallFault, call: usize) -> Traced {
    traced(command, within, Some((fault, call)))
}

#[expect(clippy::zombie_processes, reason = "it is waited for by its number")]
fn traced(command: &Command, within: &[&Path], wanted: Option<(CallFault, usize)>) -> Traced {
    let mut child = stopped(command);
    let main = Pid::from_raw(i32::try_from(child.id()).expect("a number of a process"));
    let [out, err] = [collected(child.stdout.take()), collected(child.stderr.take())];
    let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
    ptrace::seize(main, options).expect("a program may be traced by the one that started it");
    kill(main, Signal::SIGCONT).expect("the program is there");
    // Other threads of this program may wait for programs of their own.
    let of_this_thread = Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD);
    let (mut calls, mut struck) = ([0; 5], None);
    let end = loop {
        let (thread, signal) = match waitpid(None, of_this_thread).expect("the program is there") {
            WaitStatus::Exited(pid, code) if pid == main => break TracedEnd::Exited(code),
            WaitStatus::Signaled(pid, signal, _) if pid == main => {
                let is_ours = struck.is_some() && wanted.is_some_and(|(fault, _)| fault == CallFault::Kill);
                break if is_ours {
                    TracedEnd::Killed
                } else {
                    TracedEnd::Signaled(signal)
                };
            }
            WaitStatus::PtraceSyscall(thread) => {
                if let Some(call) = Call::of(thread, within) {
                    for (count, fault) in calls.iter_mut().zip(CallFault::ALL) {
                        *count += usize::from(fault.strikes(call.effect));
                    }
                    if let Some((fault, number)) = wanted {
                        let reached = fault.strikes(call.effect) && calls[fault as usize] == number;
                        if reached && struck.is_none() {
                            struck = Some(call.to_string());
                        }
                        let lasts = fault.lasts() && struck.is_some();
                        call.suffer(fault, reached, lasts, main);
                    }
                }
                (thread, None)
            }
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            WaitStatus::PtraceEvent(thread, ..) => (thread, None),
            _ => continue,
        };
        match ptrace::syscall(thread, signal) {
            // It was killed meanwhile.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => unreachable!("{thread} cannot go on: {error}"),
        }
    };
    let said = |text: thread::JoinHandle<String>| text.join().expect("what a program writes can be read");
    Traced {
        end,
        out: said(out),
        err: said(err),
        struck,
        calls,
    }
}

/// Starts the program of a command, and stops it before its first instruction.
fn stopped(command: &Command) -> Child {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = shell.spawn().expect("a shell is there");
    let main = Pid::from_raw(i32::try_from(child.id()).expect("a number of a process"));
    let status = waitpid(main, Some(WaitPidFlag::WUNTRACED)).expect("the shell is there");
    assert!(matches!(status, WaitStatus::Stopped(..)), "{status:?}");
    child
}

/// Reads what a program writes, while it runs.
fn collected(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut stream = stream.expect("it is a pipe");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A system call that a thread is about to make.
struct Call {
    thread: Pid,
    registers: libc::user_regs_struct,
    name: &'static str,
    effect: Effect,
    file: PathBuf,
}

/// What a call does to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Change {
        needs_room: bool,
        needs_permission: bool,
    },
    OpenToWrite,
    /// Makes sure of what was written, or locks.
    Sync,
    Read,
    /// Asks how much room the disk has; the answer goes to this address.
    Room {
        answer: u64,
    },
}

/// Writes into what is open.
const FILLS: Effect = Effect::Change {
    needs_room: true,
    needs_permission: false,
};
/// Cuts what is open.
const CUTS: Effect = Effect::Change {
    needs_room: false,
    needs_permission: false,
};
/// Makes a new entry of a folder.
const ADDS: Effect = Effect::Change {
    needs_room: true,
    needs_permission: true,
};
/// Changes entries of a folder.
const ALTERS: Effect = Effect::Change {
    needs_room: false,
    needs_permission: true,
};

/// Where a call names its file.
enum Named {
    Open(u64),
    /// Its path is at this address, from the working folder.
    Path(u64),
    /// Its path is at this address, from the folder that is open as this descriptor.
    PathFrom(u64, u64),
}

impl Call {
    /// Returns the call that a stopped thread is about to make, where it is one on a file in the folders `within`.
    fn of(thread: Pid, within: &[&Path]) -> Option<Self> {
        const IS_ENTERED: u8 = 1;
        if ptrace::syscall_info(thread).ok()?.op != IS_ENTERED {
            return None;
        }
        let registers = ptrace::getregs(thread).ok()?;
        let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10];
        let (name, named, effect) = recognised(registers.orig_rax.cast_signed(), arguments)?;
        let file = named.file(thread)?;
        if !within.iter().any(|folder| file.starts_with(folder)) {
            return None;
        }
        let effect = match effect {
            // Opening what is there already needs no room.
            ADDS if name.starts_with("open") && file.symlink_metadata().is_ok() => ALTERS,
            other => other,
        };
        Some(Self {
            thread,
            registers,
            name,
            effect,
            file,
        })
    }

    /// Lets the fault happen to it, where it is the one, or a later one and the fault lasts.
    fn suffer(mut self, fault: CallFault, reached: bool, lasts: bool, main: Pid) {
        if let (CallFault::DiskFull, true, Effect::Room { answer }) = (fault, lasts, self.effect) {
            let memory = File::options().write(true).open(format!("/proc/{}/mem", self.thread));
            let written = memory.and_then(|memory| memory.write_all_at(&full_disk(), answer));
            written.expect("the memory of a traced program can be written");
            return self.skip(0);
        }
        let is_struck = reached || (lasts && fault.strikes(self.effect));
        if !is_struck {
            return;
        }
        match fault.error() {
            None => kill(main, Signal::SIGKILL).expect("the program is there"),
            Some(error) => self.skip(-(error as i64)),
        }
    }

    /// Returns to the program with this result instead of making the call.
    fn skip(&mut self, result: i64) {
        self.registers.orig_rax = u64::MAX;
        self.registers.rax = result.cast_unsigned();
        ptrace::setregs(self.thread, self.registers).expect("a stopped thread can be changed");
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.file.display())
    }
}

impl Named {
    fn file(self, thread: Pid) -> Option<PathBuf> {
        let open = |descriptor: u64| match descriptor as i32 {
            libc::AT_FDCWD => fs::read_link(format!("/proc/{thread}/cwd")).ok(),
            open => fs::read_link(format!("/proc/{thread}/fd/{open}")).ok(),
        };
        match self {
            Self::Open(descriptor) => open(descriptor),
            Self::Path(address) => Some(open(libc::AT_FDCWD as u64)?.join(text(thread, address)?)),
            Self::PathFrom(descriptor, address) => {
                let path = text(thread, address)?;
                if path.is_absolute() {
                    return Some(path);
                }
                let folder = open(descriptor)?;
                Some(if path.as_os_str().is_empty() {
                    folder
                } else {
                    folder.join(path)
                })
            }
        }
    }
}

/// Reads a path of a traced program.
fn text(thread: Pid, address: u64) -> Option<PathBuf> {
    let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
    let mut bytes = [0; 4096];
    let read = memory.read_at(&mut bytes, address).ok()?;
    let end = bytes[..read].iter().position(|byte| *byte == 0)?;
    Some(PathBuf::from(OsStr::from_bytes(&bytes[..end])))
}

/// Returns what a call does to which file; none of those that do nothing to any.
fn recognised(number: c_long, [a, b, c, d]: [u64; 4]) -> Option<(&'static str, Named, Effect)> {
    use Named::{Open, Path, PathFrom};
    let opens = |flags: u64| {
        let has = |flag: i32| flags & u64::from(flag.cast_unsigned()) != 0;
        match (
            has(libc::O_CREAT),
            has(libc::O_TRUNC),
            has(libc::O_WRONLY | libc::O_RDWR),
        ) {
            (true, ..) => ADDS,
            (false, true, _) => ALTERS,
            (false, false, true) => Effect::OpenToWrite,
            (false, false, false) => Effect::Read,
        }
    };
    Some(match number {
        libc::SYS_open => ("open", Path(a), opens(b)),
        libc::SYS_openat => ("openat", PathFrom(a, b), opens(c)),
        libc::SYS_creat => ("creat", Path(a), ADDS),
        libc::SYS_write => ("write", Open(a), FILLS),
        libc::SYS_writev => ("writev", Open(a), FILLS),
        libc::SYS_pwrite64 => ("pwrite64", Open(a), FILLS),
        libc::SYS_pwritev => ("pwritev", Open(a), FILLS),
        libc::SYS_pwritev2 => ("pwritev2", Open(a), FILLS),
        libc::SYS_fallocate => ("fallocate", Open(a), FILLS),
        libc::SYS_sendfile => ("sendfile", Open(a), FILLS),
        libc::SYS_copy_file_range => ("copy_file_range", Open(c), FILLS),
        libc::SYS_ftruncate => ("ftruncate", Open(a), CUTS),
        libc::SYS_truncate => ("truncate", Path(a), ALTERS),
        libc::SYS_rename => ("rename", Path(b), ALTERS),
        libc::SYS_renameat => ("renameat", PathFrom(c, d), ALTERS),
        libc::SYS_renameat2 => ("renameat2", PathFrom(c, d), ALTERS),
        libc::SYS_link => ("link", Path(b), ADDS),
        libc::SYS_linkat => ("linkat", PathFrom(c, d), ADDS),
        libc::SYS_symlink => ("symlink", Path(b), ADDS),
        libc::SYS_symlinkat => ("symlinkat", PathFrom(b, c), ADDS),
        libc::SYS_mkdir => ("mkdir", Path(a), ADDS),
        libc::SYS_mkdirat => ("mkdirat", PathFrom(a, b), ADDS),
        libc::SYS_unlink => ("unlink", Path(a), ALTERS),
        libc::SYS_unlinkat => ("unlinkat", PathFrom(a, b), ALTERS),
        libc::SYS_rmdir => ("rmdir", Path(a), ALTERS),
        libc::SYS_chmod => ("chmod", Path(a), ALTERS),
        libc::SYS_fchmod => ("fchmod", Open(a), ALTERS),
        libc::SYS_fchmodat => ("fchmodat", PathFrom(a, b), ALTERS),
        libc::SYS_utimensat => ("utimensat", PathFrom(a, b), ALTERS),
        libc::SYS_fsync => ("fsync", Open(a), Effect::Sync),
        libc::SYS_fdatasync => ("fdatasync", Open(a), Effect::Sync),
        libc::SYS_flock => ("flock", Open(a), Effect::Sync),
        libc::SYS_read => ("read", Open(a), Effect::Read),
        libc::SYS_readv => ("readv", Open(a), Effect::Read),
        libc::SYS_pread64 => ("pread64", Open(a), Effect::Read),
        libc::SYS_preadv => ("preadv", Open(a), Effect::Read),
        libc::SYS_getdents64 => ("getdents64", Open(a), Effect::Read),
        libc::SYS_stat => ("stat", Path(a), Effect::Read),
        libc::SYS_lstat => ("lstat", Path(a), Effect::Read),
        libc::SYS_fstat => ("fstat", Open(a), Effect::Read),
        libc::SYS_newfstatat => ("newfstatat", PathFrom(a, b), Effect::Read),
        libc::SYS_statx => ("statx", PathFrom(a, b), Effect::Read),
        libc::SYS_access => ("access", Path(a), Effect::Read),
        libc::SYS_faccessat => ("faccessat", PathFrom(a, b), Effect::Read),
        libc::SYS_readlink => ("readlink", Path(a), Effect::Read),
        libc::SYS_readlinkat => ("readlinkat", PathFrom(a, b), Effect::Read),
        libc::SYS_statfs => ("statfs", Path(a), Effect::Room { answer: b }),
        libc::SYS_fstatfs => ("fstatfs", Open(a), Effect::Room { answer: b }),
        _ => return None,
    })
}

/// Returns the kernel's `struct statfs` of a disk on which nothing is free.
fn full_disk() -> [u8; 120] {
    let (ext4, block, blocks, longest_name) = (0xEF53_u64, 4096_u64, 1_000_000_u64, 255_u64);
    let mut answer = [0; 120];
    // Kind, size of a block, blocks, those free, those free for everybody, files, those free, the disk's number, longest name, size of a fragment.
    for (at, field) in [ext4, block, blocks, 0, 0, blocks, 0, 0, longest_name, block]
        .iter()
        .enumerate()
    {
        answer[at * 8..][..8].copy_from_slice(&field.to_ne_bytes());
    }
    answer
}
