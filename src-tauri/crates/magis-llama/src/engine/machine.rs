//! What the machine has: cores to compute with, memory to hold a model in, and what other programs take of them.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

/// Physical cores this process may use; where the system does not say, its hardware threads.
///
/// Two threads of one core share its arithmetic units: computing with both is slower than with one.
pub fn physical_cores() -> u32 {
    let threads = available_parallelism().map_or(1, NonZero::get);
    let mut cores = BTreeSet::new();
    for cpu in 0..1024 {
        match fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list")) {
            Ok(siblings) => _ = cores.insert(siblings),
            Err(_) if cpu > 0 => break,
            Err(_) => {}
        }
    }
    let cores = if cores.is_empty() { threads } else { cores.len() };
    cores.min(threads).max(1) as u32
}

/// Bytes of memory that can still be had, by the system and by the limit of the control group; none where neither says.
pub fn available_memory() -> Option<u64> {
    let system = field("/proc/meminfo", "MemAvailable:").map(|kib| kib * 1024);
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    // Pages of mapped files count as used there, but are given up on demand.
    let cached = field("/sys/fs/cgroup/memory.stat", "file").unwrap_or(0);
    let group = limit.map(|limit| (limit + cached).saturating_sub(used).min(limit));
    [system, group].into_iter().flatten().min()
}

/// Bytes of memory this process holds; 0 where the system does not say.
pub fn resident_memory() -> u64 {
    field("/proc/self/status", "VmRSS:").unwrap_or(0) * 1024
}

/// How long the threads of this process were ready to compute and had no processor: what other programs cost them.
#[derive(Debug, Default)]
pub struct Waits {
    until_now: Duration,
}

impl Waits {
    /// Time since the last call, of all threads together; nothing where the system does not say.
    pub fn since_last(&mut self) -> Duration {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        // Fields: nanoseconds computed, nanoseconds waited, turns.
        let waited = threads.filter_map(|thread| -> Option<u64> {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().nth(1)?.parse().ok()
        });
        let now = Duration::from_nanos(waited.sum());
        now.saturating_sub(std::mem::replace(&mut self.until_now, now))
    }
}

fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok())?)
}
