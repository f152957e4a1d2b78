//! The processes that this one started, by the kernel's folder of them, `/proc`.

use nix::unistd::{Pid, SysconfVar, sysconf};
use std::collections::BTreeMap;
use std::fs;

/// What is read of a process.
pub struct Process {
    pub pid: Pid,
    /// Its memory, in bytes.
    pub resident: u64,
    pub ended: bool,
}

/// Returns the processes that this one started, and those that they started.
pub fn descendants() -> Vec<Process> {
    let page = page();
    let mut parents = BTreeMap::new();
    let mut found = Vec::new();
    for pid in all() {
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
pub fn all() -> impl Iterator<Item = i32> {
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
