//! Open descriptors: those that were left open to this process, and the files that the command keeps by nothing else.

use super::{Failed, Step as _};
use nix::libc;
use nix::unistd::{Pid, close};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Closes all descriptors but those of standard input, output and errors, so that the command inherits no other. To be called first, while this
/// process has opened nothing itself.
pub fn close_inherited() -> Result<(), Failed> {
    let list = fs::read_dir("/proc/self/fd").step(|| "listing what was left open to the helper".into())?;
    let numbers = list
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
    // Collected, so that the list itself is closed before its number could be given again.
    let open: Vec<RawFd> = numbers.filter(|number| *number > libc::STDERR_FILENO).collect();
    for number in open {
        // The list's own is closed already.
        let _ = close(number);
    }
    Ok(())
}

/// What files hold that no folder names, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unnamed {
    pub memory: u64,
    pub disk: u64,
}

impl Unnamed {
    /// Adds up the files that processes have open and that have no name: those made by `memfd_create(2)`, and those that were removed or had none
    /// from the start. Each is counted once.
    pub fn of(processes: &[Pid]) -> Self {
        let mut seen = BTreeSet::new();
        let mut held = Self::default();
        let mut add = |lies: Lies, file: &Metadata| {
            if !file.is_file() || file.nlink() > 0 || !seen.insert((file.dev(), file.ino())) {
                return;
            }
            let bytes = file.blocks() * 512;
            match lies {
                Lies::InMemory => held.memory += bytes,
                Lies::OnDisk => held.disk += bytes,
            }
        };
        for process in processes {
            match fs::read_dir(format!("/proc/{process}/fd")) {
                Ok(list) => {
                    for path in list.flatten().map(|descriptor| descriptor.path()) {
                        if let Some(lies) = unnamed_at(&path)
                            && let Ok(file) = fs::metadata(&path)
                        {
                            add(lies, &file);
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    for copy in copies(*process).into_iter().flatten() {
                        let path = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
                        if let Some(lies) = unnamed_at(&path)
                            && let Ok(file) = copy.metadata()
                        {
                            add(lies, &file);
                        }
                    }
                }
                // It has ended.
                Err(_) => {}
            }
        }
        held
    }
}

/// Where a file without a name lies.
#[derive(Debug, Clone, Copy)]
enum Lies {
    InMemory,
    OnDisk,
}

/// Returns where the file behind a descriptor lies, if it may be one without a name.
fn unnamed_at(descriptor: &Path) -> Option<Lies> {
    // What the kernel puts before the name that was given to `memfd_create(2)`, and what after the path of a file whose name was removed.
    const IN_MEMORY: &[u8] = b"/memfd:";
    const REMOVED: &[u8] = b" (deleted)";
    let Ok(name) = fs::read_link(descriptor) else {
        // The path is too long to be one, or the descriptor is closed.
        return Some(Lies::OnDisk);
    };
    let name = name.as_os_str().as_bytes();
    if name.starts_with(IN_MEMORY) {
        return Some(Lies::InMemory);
    }
    name.ends_with(REMOVED).then_some(Lies::OnDisk)
}

/// Returns copies of a process' descriptors, one after the other. The kernel gives them to who may trace it, also of a process that hides its own
/// (`PR_SET_DUMPABLE` of `prctl(2)`), from Linux 5.6.
fn copies(process: Pid) -> Option<impl Iterator<Item = File>> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"))?;
    let size: RawFd = size.trim().parse().ok()?;
    let process = rustix::process::Pid::from_raw(process.as_raw())?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    let copies = (0..size).map(move |number| pidfd_getfd(&process, number, PidfdGetfdFlags::empty()));
    Some(
        copies
            .take_while(|copy| !matches!(copy, Err(Errno::PERM)))
            .flatten()
            .map(File::from),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use std::io::Write as _;

    #[test]
    fn descriptors_can_be_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("file")).expect("a file");
        let same = |copy: File| {
            copy.metadata()
                .is_ok_and(|copy| copy.ino() == file.metadata().expect("a file").ino())
        };
        assert!(copies(Pid::this()).expect("its descriptors").any(same));
    }

    #[test]
    fn files_without_a_name_count_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let (own, block) = (Pid::this(), vec![1_u8; 1 << 20]);
        let before = Unnamed::of(&[own]);
        let mut named = File::create(&path).expect("a file");
        named.write_all(&block).expect("its contents");
        let mut memory = File::from(memfd_create("file", MFdFlags::empty()).expect("a file in memory"));
        memory.write_all(&block).expect("its contents");
        let _same = memory.try_clone().expect("a second descriptor");
        let now = Unnamed::of(&[own, own]);
        assert_eq!((now.memory - before.memory, now.disk - before.disk), (1 << 20, 0));

        fs::remove_file(&path).expect("a file without a name");
        let now = Unnamed::of(&[own, own]);
        let disk = now.disk - before.disk;
        assert!(((1 << 20)..(2 << 20)).contains(&disk), "{disk}");
    }
}
