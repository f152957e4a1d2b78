//! The deadline of an input in this process: a git worker that takes longer is ended, as its parent would end it later.

use anyhow::Result;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the questions about one repository may take together. Their own deadlines are longer, ten seconds and more for each.
const PATIENCE: Duration = Duration::from_secs(5);

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
                while let Some(begun) = watched.upgrade() {
                    let begun = *begun.lock().unwrap_or_else(PoisonError::into_inner);
                    if begun.is_some_and(|begun| begun.elapsed() > PATIENCE) {
                        end_workers();
                    }
                    thread::sleep(Duration::from_millis(200));
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

/// Ends the git workers that this process has started.
fn end_workers() {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for thread in threads {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for id in children.split_whitespace() {
            let is_worker = fs::read(format!("/proc/{id}/cmdline"))
                .is_ok_and(|words| words.windows(10).any(|word| word == b"git-worker"));
            let id = id.parse().ok().and_then(rustix::process::Pid::from_raw);
            if let (true, Some(id)) = (is_worker, id) {
                // One that has just ended is as good.
                let _gone = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
    }
}
