//! The memory of the command: that of its processes, and what lies in memory as files.

use super::paths::TEMPORARY;
use super::processes::Process;
use crate::wire::Confinement;
use nix::sys::statvfs::statvfs;
use std::fs;

/// Returns the memory of all processes together, with the files they keep in memory, of which `unnamed` is what no folder names, in bytes. Pages
/// that processes share are counted once, where counting them each time would be over the limit.
pub fn used(processes: &[Process], confinement: Confinement, unnamed: u64, limit: u64) -> u64 {
    let temporary = match confinement {
        // All of the temporary folders lie on one file system.
        Confinement::Namespaces => {
            statvfs(TEMPORARY[0]).map_or(0, |disk| (disk.blocks() - disk.blocks_free()) * disk.fragment_size())
        }
        Confinement::LimitsOnly => 0,
    };
    let files = temporary + unnamed + of_segments(processes, confinement);
    let resident: u64 = processes.iter().map(|process| process.resident).sum();
    if resident + files <= limit {
        return resident + files;
    }
    let (mut own, mut in_files) = (0, 0);
    for process in processes {
        let share = Share::of(process);
        own += share.own;
        in_files += share.in_files;
    }
    // What is mapped is a part of the files, as a rule. Memory that processes share without a file is none, so a command can come to twice the limit;
    // but none is ended that stays within it.
    own + files.max(in_files)
}

/// A process' share of the memory it uses, in bytes: what several use is divided among them.
struct Share {
    own: u64,
    /// What it maps of files in memory, and of memory that processes share.
    in_files: u64,
}

impl Share {
    fn of(process: &Process) -> Self {
        let path = format!("/proc/{}/smaps_rollup", process.pid);
        let text = fs::read_to_string(path).unwrap_or_default();
        let whole = bytes(&text, "Pss:").unwrap_or(process.resident);
        // Old kernels do not tell it apart.
        let in_files = bytes(&text, "Pss_Shmem:").unwrap_or(0);
        Self {
            own: whole.saturating_sub(in_files),
            in_files,
        }
    }
}

/// The machine's memory, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineMemory {
    /// Files in memory and memory that processes share, in bytes.
    shared: u64,
    /// What programs can still get, in bytes.
    available: u64,
}

impl MachineMemory {
    /// Reads it, where the kernel tells.
    pub fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/meminfo").ok()?)
    }

    /// Returns whether the machine runs out of memory: what is shared has grown by more than `limit` since, and less than that is left. Other
    /// programs share memory as well, so growth says nothing by itself; but a command that shares it where nobody can count it must not take it all.
    pub fn runs_out_at(&self, now: &Self, limit: u64) -> bool {
        now.shared.saturating_sub(self.shared) > limit && now.available < limit
    }

    fn read(text: &str) -> Option<Self> {
        Some(Self {
            shared: bytes(text, "Shmem:")?,
            available: bytes(text, "MemAvailable:")?,
        })
    }
}

/// Returns the number of a line that begins with `name`, as the kernel writes amounts of memory.
fn bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns what segments of shared memory hold (`shmget(2)`), attached or not, in bytes. Where the command has no name space of its own, other
/// programs have segments too, so those count that its processes made.
fn of_segments(processes: &[Process], confinement: Confinement) -> u64 {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    held_by_segments(&table, |maker| match confinement {
        Confinement::Namespaces => true,
        Confinement::LimitsOnly => processes.iter().any(|process| process.pid.as_raw() == maker),
    })
}

/// Adds up the kernel's table of segments, of those whose maker, a process, counts.
fn held_by_segments(table: &str, counts: impl Fn(i32) -> bool) -> u64 {
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let column = |name: &str| names.iter().position(|other| *other == name);
    let (Some(maker), Some(resident), Some(swapped)) = (column("cpid"), column("rss"), column("swap")) else {
        return 0;
    };
    let amount = |line: &[&str], at: usize| line.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    lines
        .filter(|line| {
            line.get(maker)
                .and_then(|text| text.parse::<i32>().ok())
                .is_some_and(&counts)
        })
        .map(|line| amount(&line, resident) + amount(&line, swapped))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::{MachineMemory, held_by_segments};

    const TABLE: &str = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap
         0          0  1600               8000000     7     7      0  1000  1000  1000  1000          1          1          1               8003584                     0
         0          1  1600               8000000     9     9      1  1000  1000  1000  1000          1          1          1                  4096                  8192
";

    #[track_caller]
    fn check(table: &str, counts: impl Fn(i32) -> bool, expected: u64) {
        assert_eq!(held_by_segments(table, counts), expected);
    }

    #[test]
    fn segments_are_added_up_by_their_makers() {
        check(TABLE, |_| true, 8_003_584 + 4096 + 8192);
        check(TABLE, |maker| maker == 9, 4096 + 8192);
        check("", |_| true, 0);
    }

    #[test]
    fn a_machine_runs_out_where_more_than_the_limit_became_shared_and_less_is_left() {
        let machine = |shared: u64, available: u64| {
            let text =
                format!("MemTotal: 1000 kB\nMemAvailable:  {available} kB\nShmem: {shared} kB\nShmemHugePages: 0 kB\n");
            MachineMemory::read(&text).expect("its memory")
        };
        let at_first = machine(10, 100);
        for (now, expected) in [
            (machine(10, 100), false),
            (machine(41, 60), false),
            (machine(41, 29), true),
            (machine(40, 29), false),
            (machine(0, 0), false),
        ] {
            assert_eq!(at_first.runs_out_at(&now, 30 * 1024), expected, "{now:?}");
        }
    }
}
