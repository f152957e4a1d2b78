//! Writes down which refused system calls are made: the kernel asks here before each (`seccomp_unotify(2)`), and the answer is always no.
//!
//! No library offers these three calls of the kernel without `unsafe`, so they stand here by themselves.
#![expect(unsafe_code, reason = "three calls of the kernel that no library wraps")]

use nix::errno::Errno;
use nix::libc;
use seccompiler::BpfProgram;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The end at which the kernel asks.
pub struct Listener(OwnedFd);

/// The names of the calls that were made so far.
pub type Calls = Arc<Mutex<BTreeSet<&'static str>>>;

nix::ioctl_readwrite!(receive, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(answer, b'!', 1, libc::seccomp_notif_resp);

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
    // SAFETY: `program` points to as many lines as it says, and both live until the call returns; the kernel copies them.
    let made = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    let made = i32::try_from(Errno::result(made)?).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made this descriptor for us, and nothing else knows it.
    Ok(Listener(unsafe { OwnedFd::from_raw_fd(made) }))
}

impl Listener {
    /// Answers in a thread of its own, as long as this process lives. `name_of` gives a call's name by its number.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn listen(self, name_of: fn(i64) -> Option<&'static str>) -> io::Result<Calls> {
        let calls = Calls::default();
        let written = Arc::clone(&calls);
        thread::Builder::new().spawn(move || while self.refuse_one(&written, name_of) {})?;
        Ok(calls)
    }

    /// Waits for a call and refuses it. Returns whether to go on.
    fn refuse_one(&self, calls: &Calls, name_of: fn(i64) -> Option<&'static str>) -> bool {
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
        if let Some(name) = name_of(asked.data.nr.into()) {
            calls.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        }
        let mut no = libc::seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error: -libc::EPERM,
            flags: 0,
        };
        // SAFETY: the structure is whole, and the kernel only reads it. Whether the process still waits does not matter.
        let _ = unsafe { answer(self.0.as_raw_fd(), &raw mut no) };
        true
    }
}
