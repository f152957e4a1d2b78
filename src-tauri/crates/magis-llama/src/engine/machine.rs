//! What the machine has to compute with, and what other programs take of it.

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
