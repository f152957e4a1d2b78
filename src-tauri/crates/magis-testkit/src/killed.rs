//! Programs that are killed right before one of their system calls that change files, whichever one wants. Between two such calls nothing on the disk changes, so
//! a kill before each of them leaves everything that a kill at any instruction can leave.

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs;
use std::process::{Command, Stdio};

/// How a program ended that was to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traced {
    /// Before the call it was to be killed at.
    Killed,
    /// By itself, with this exit code, after so many calls that change files.
    Ended { code: i32, calls: usize },
}

/// Runs a program and kills it right before its call number `call`, from 1, that changes a file. Calls of all its threads count, those of other programs that it
/// starts do not; what it writes on its own streams changes no file.
pub fn before_call(command: &Command, call: usize) -> Traced {
    let main = stopped(command);
    let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
    ptrace::seize(main, options).expect("a program may be traced by the one that started it");
    kill(main, Signal::SIGCONT).expect("the program is there");
    // Other threads of this program may wait for programs of their own.
    let of_this_thread = Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD);
    let (mut calls, mut killed) = (0, false);
    loop {
        let (stopped, signal) = match waitpid(None, of_this_thread).expect("the program is there") {
            WaitStatus::Exited(pid, code) if pid == main => return Traced::Ended { code, calls },
            WaitStatus::Signaled(pid, signal, _) if pid == main => {
                assert!(killed, "the program ended by {signal}");
                return Traced::Killed;
            }
            WaitStatus::PtraceSyscall(pid) => {
                if !killed && is_before_a_change(pid) {
                    calls += 1;
                    if calls == call {
                        killed = true;
                        kill(main, Signal::SIGKILL).expect("the program is there");
                    }
                }
                (pid, None)
            }
            WaitStatus::Stopped(pid, signal) => (pid, Some(signal)),
            WaitStatus::PtraceEvent(pid, ..) => (pid, None),
            _ => continue,
        };
        match ptrace::syscall(stopped, signal) {
            // It was killed meanwhile.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => unreachable!("{stopped} cannot go on: {error}"),
        }
    }
}

/// Starts the program of a command, and stops it before its first instruction.
#[expect(clippy::zombie_processes, reason = "whoever traces it waits for it, by its number")]
fn stopped(command: &Command) -> Pid {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = shell.spawn().expect("a shell is there");
    let main = Pid::from_raw(i32::try_from(child.id()).expect("a number of a process"));
    let status = waitpid(main, Some(WaitPidFlag::WUNTRACED)).expect("the shell is there");
    assert!(matches!(status, WaitStatus::Stopped(..)), "{status:?}");
    main
}

/// Returns whether a stopped thread is about to change a file.
fn is_before_a_change(thread: Pid) -> bool {
    let Ok(registers) = ptrace::getregs(thread) else {
        return false;
    };
    // Before a call this stands where its result will.
    if registers.rax.cast_signed() != -i64::from(libc::ENOSYS) {
        return false;
    }
    let creates = |flags: u64| flags & u64::from((libc::O_CREAT | libc::O_TRUNC).cast_unsigned()) != 0;
    match registers.orig_rax.cast_signed() {
        libc::SYS_open => creates(registers.rsi),
        libc::SYS_openat => creates(registers.rdx),
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => {
            let descriptor = format!("/proc/{thread}/fd/{}", registers.rdi);
            fs::read_link(descriptor).is_ok_and(|file| file.starts_with("/") && !file.starts_with("/dev"))
        }
        libc::SYS_creat
        | libc::SYS_ftruncate
        | libc::SYS_truncate
        | libc::SYS_fallocate
        | libc::SYS_copy_file_range
        | libc::SYS_sendfile
        | libc::SYS_rename
        | libc::SYS_renameat
        | libc::SYS_renameat2
        | libc::SYS_link
        | libc::SYS_linkat
        | libc::SYS_symlink
        | libc::SYS_symlinkat
        | libc::SYS_unlink
        | libc::SYS_unlinkat
        | libc::SYS_mkdir
        | libc::SYS_mkdirat
        | libc::SYS_rmdir
        | libc::SYS_chmod
        | libc::SYS_fchmod
        | libc::SYS_fchmodat => true,
        _ => false,
    }
}
