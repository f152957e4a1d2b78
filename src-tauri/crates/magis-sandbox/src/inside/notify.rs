//! Calls that the kernel asks about before it carries them out (`seccomp_unotify(2)`).
//!
//! No library offers these four calls of the kernel without `unsafe`, so they stand here by themselves.
#![expect(unsafe_code, reason = "four calls of the kernel that no library wraps")]

use nix::errno::Errno;
use nix::libc;
use seccompiler::BpfProgram;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// The end at which the kernel asks.
pub struct Listener(OwnedFd);

/// What the kernel is told of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It fails with `EPERM`.
    Refuse,
    /// The kernel carries it out, as far as all else lets it. What it was seen to be may have changed since, so this refuses nothing.
    GoOn,
}

nix::ioctl_readwrite!(receive, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(answer, b'!', 1, libc::seccomp_notif_resp);
nix::ioctl_write_int_bad!(set_flags, nix::request_code_write!(b'!', 4, size_of::<u64>()));

/// Applies a filter to this thread and what it starts. Where the filter refuses with `EPERM`, the kernel asks the listener instead.
///
/// # Errors
/// When the kernel cannot do that.
pub fn apply(filter: &BpfProgram) -> io::Result<Listener> {
    const RETURN: u16 = 0x06;
    const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let mut program: Vec<libc::sock_filter> = filter
        .iter()
        .map(|line| libc::sock_filter {
            code: line.code,
            jt: line.jt,
            jf: line.jf,
            k: if line.code == RETURN && line.k == REFUSE {
                libc::SECCOMP_RET_USER_NOTIF
            } else {
                line.k
            },
        })
        .collect();
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // A signal does not end the waiting of a call that was taken up; before Linux 5.19 it does, and the call is asked about again.
    let listening = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let made = [listening | WAIT_KILLABLE, listening].into_iter().find_map(|flags| {
        // SAFETY: `program` points to as many lines as it says, and both live until the call returns; the kernel copies them.
        let made = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        match Errno::result(made) {
            Err(Errno::EINVAL) => None,
            made => Some(made),
        }
    });
    let made = made.unwrap_or(Err(Errno::EINVAL))?;
    let made = i32::try_from(made).map_err(io::Error::other)?;
    // Asking and answering take turns, so they may share a processor: faster where the kernel knows it (6.6), as before where it does not.
    // SAFETY: the descriptor is the one just made, and the number is no pointer.
    let _ = unsafe { set_flags(made, SYNC_WAKE_UP) };
    // SAFETY: the kernel has just made this descriptor for us, and nothing else knows it.
    Ok(Listener(unsafe { OwnedFd::from_raw_fd(made) }))
}

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`, of Linux 5.19.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`, of Linux 6.6.
const SYNC_WAKE_UP: libc::c_int = 1;

impl Listener {
    /// Answers until no process is left that could ask.
    pub fn answer_all(&self, mut permit: impl FnMut(&libc::seccomp_notif) -> Permit) {
        while self.answer_one(&mut permit) {}
    }

    /// Waits for a call and answers. Returns whether to go on.
    fn answer_one(&self, permit: &mut impl FnMut(&libc::seccomp_notif) -> Permit) -> bool {
        let mut asked = libc::seccomp_notif {
            id: 0,
            pid: 0,
            flags: 0,
            data: libc::seccomp_data {
                nr: 0,
                arch: 0,
                instruction_pointer: 0,
                args: [0; 6],
            },
        };
        // SAFETY: the kernel wants a structure of zeros and fills it.
        match unsafe { receive(self.0.as_raw_fd(), &raw mut asked) } {
            Ok(_) => {}
            // The process that asked is gone, or a signal came.
            Err(Errno::ENOENT | Errno::EINTR) => return true,
            Err(_) => return false,
        }
        let (error, flags) = match permit(&asked) {
            Permit::Refuse => (-libc::EPERM, 0),
            Permit::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        };
        let mut told = libc::seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error,
            flags,
        };
        // SAFETY: the structure is whole, and the kernel only reads it. Whether the process still waits does not matter.
        let _ = unsafe { answer(self.0.as_raw_fd(), &raw mut told) };
        true
    }
}
