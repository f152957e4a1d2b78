//! The deadline of an input in this process: a git worker that computes for longer is ended, as its parent would end it later.

use anyhow::Result;
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a worker may compute over one input, in hundredths of a second. Its parent waits for ten seconds and more, which would leave a campaign waiting,
/// too; and another program's load shall not count.
const MOST_COMPUTED: u64 = 100;
/// How long the questions about one repository may take together, whatever the workers do.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the workers are looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// Ends workers that take too long.
pub(super) struct Overdue {
    begun: Arc<Mutex<Option<Instant>>>,
}

/// Marks an input as one that is tried, until it is dropped.
pub(super) struct InTime<'o>(&'o Overdue);

impl Overdue {
    /// Begins to watch; where there are no workers, nothing is ended.
    pub fn watch(there_are_workers: bool) -> Result<Self> {
        let begun: Arc<Mutex<Option<Instant>>> = Arc::default();
        let watched = Arc::downgrade(&begun);
        if there_are_workers {
            thread::Builder::new().name("overdue".to_owned()).spawn(move || {
                // What each worker had computed when it was first seen during an input.
                let (mut input, mut before) = (None, BTreeMap::new());
                while let Some(begun) = watched.upgrade() {
                    let begun = *begun.lock().unwrap_or_else(PoisonError::into_inner);
                    if begun != input {
                        (input, before) = (begun, BTreeMap::new());
                    }
                    if let Some(begun) = begun {
                        let is_late = begun.elapsed() > PATIENCE;
                        for (worker, computed) in workers() {
                            let first = *before.entry(worker).or_insert(computed);
                            if is_late || computed - first > MOST_COMPUTED {
                                end(worker);
                            }
                        }
                    }
                    thread::sleep(GLANCE);
                }
            })?;
        }
        Ok(Self { begun })
    }

    pub fn begin(&self) -> InTime<'_> {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        InTime(self)
    }
}

impl Drop for InTime<'_> {
    fn drop(&mut self) {
        *self.0.begun.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns the git workers that this process has started, and how long each has computed, in hundredths of a second.
fn workers() -> Vec<(i32, u64)> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let ids: Vec<i32> = lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|id| id.parse().ok())
                .collect::<Vec<i32>>()
        })
        .collect();
    let worker = |id: i32| {
        let words = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let is_worker = words.windows(10).any(|word| word == b"git-worker");
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // Behind the name, which may hold anything: eleven words, then the time in the program and in the system.
        let (_, words) = stat.rsplit_once(')')?;
        let times = words.split_whitespace().skip(11).take(2);
        let computed = times.filter_map(|time| time.parse::<u64>().ok()).sum();
        is_worker.then_some((id, computed))
    };
    ids.into_iter().filter_map(worker).collect()
}

fn end(worker: i32) {
    if let Some(id) = rustix::process::Pid::from_raw(worker) {
        // One that has just ended is as good.
        let _gone = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
}
