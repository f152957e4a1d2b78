//! What rendering a chat template may cost. A template is a program that came with the model's file.
//!
//! Steps are counted where they are run, and a template that takes too many is not used. What a step may still cost, a
//! text that is doubled forty times say, ends the worker instead: with more memory or time than any form needs, the
//! process aborts and says why, and its parent goes on without it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Steps of one rendering: a form of hundreds of messages takes some ten thousand.
pub(super) const STEPS: u64 = 2_000_000;
/// The longest template that is read, in bytes. The longest that are in use have some 30,000.
pub(super) const LONGEST: usize = 1 << 20;
/// The longest time of one rendering.
const TIME: Duration = Duration::from_secs(10);
/// The most memory that a rendering may take in addition, in bytes.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 256 << 20;

/// Renders within the limits.
pub(super) fn limited<T>(render: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    let _memory = memory::Limited::set(MEMORY);
    let (done, is_done) = channel::<()>();
    let watch = thread::Builder::new().name("template".to_owned()).spawn(move || {
        if is_done.recv_timeout(TIME) == Err(RecvTimeoutError::Timeout) {
            eprintln!("the chat template of the model takes more than {} s", TIME.as_secs());
            std::process::abort();
        }
    });
    let rendered = render();
    drop(done);
    if let Ok(watch) = watch {
        let _ = watch.join();
    }
    rendered
}

#[cfg(target_os = "linux")]
mod memory {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::fs;

    /// The process has little more memory for its own data than it had before. Dropped, it has what it had.
    pub(super) struct Limited {
        before: Rlimit,
    }

    impl Limited {
        /// None where the system does not say how much there is now, or allows less already.
        pub(super) fn set(more: u64) -> Option<Self> {
            let before = getrlimit(Resource::Data);
            let limit = data_bytes()? + more;
            if before.current.is_some_and(|current| current <= limit) {
                return None;
            }
            let lowered = Rlimit {
                current: Some(limit),
                ..before
            };
            setrlimit(Resource::Data, lowered).ok()?;
            Some(Self { before })
        }
    }

    impl Drop for Limited {
        fn drop(&mut self) {
            let _ = setrlimit(Resource::Data, self.before);
        }
    }

    /// Returns the size of what the process has for its own data.
    fn data_bytes() -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib << 10)
    }
}
