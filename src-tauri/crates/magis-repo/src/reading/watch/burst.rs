//! Many events into one: what has been touched since the last quiet moment, and when it is time to say so.
//!
//! Pure: the time is passed in as the span since the watcher began. It knows neither the file system nor git.

use super::places::{Part, Touch};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The most paths that are named; beyond that it is "many".
pub(crate) const MOST_PATHS: usize = 500;

/// How long is waited for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Debounce {
    /// After the last event.
    pub quiet: Duration,
    /// After the first event, where they do not stop.
    pub longest: Duration,
    /// After the first event, while git holds its lock: a checkout is one change.
    pub locked: Duration,
}

/// Whether git is at work on the index and the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    Held,
    Free,
}

/// What a burst touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Paths of the working tree, relative to its root, up to [`MOST_PATHS`].
    pub paths: BTreeSet<PathBuf>,
    /// Parts of the whole.
    pub parts: BTreeSet<Part>,
}

/// Collects events into bursts.
#[derive(Debug)]
pub(crate) struct Coalescer {
    debounce: Debounce,
    times: Option<Times>,
    touched: Touched,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    first: Duration,
    last: Duration,
    /// From when on `longest` counts: the first event, or the moment at which git let go of its lock.
    counted: Duration,
}

impl Coalescer {
    pub fn new(debounce: Debounce) -> Self {
        Self {
            debounce,
            times: None,
            touched: Touched::default(),
        }
    }

    /// Something was touched at `at`.
    pub fn take(&mut self, touch: Touch, at: Duration) {
        match touch {
            Touch::Nothing => return,
            Touch::Part(part) => drop(self.touched.parts.insert(part)),
            Touch::Path(path) => self.touched.add(path),
        }
        let times = self.times.get_or_insert(Times {
            first: at,
            last: at,
            counted: at,
        });
        times.last = times.last.max(at);
    }

    /// Returns whether anything waits to be said.
    pub fn is_empty(&self) -> bool {
        self.times.is_none()
    }

    /// When it is time to say it; none while nothing waits.
    pub fn due(&self, lock: Lock) -> Option<Duration> {
        let times = self.times?;
        Some(match lock {
            Lock::Free => (times.last + self.debounce.quiet).min(times.counted + self.debounce.longest),
            Lock::Held => times.first + self.debounce.locked,
        })
    }

    /// Git held its lock at `at`: what comes after still belongs to this burst.
    pub fn held(&mut self, at: Duration) {
        if let Some(times) = &mut self.times {
            times.counted = times.counted.max(at);
            times.last = times.last.max(at);
        }
    }

    /// Returns what was touched; from here on a new burst begins.
    pub fn settle(&mut self) -> Touched {
        self.times = None;
        std::mem::take(&mut self.touched)
    }
}

impl Touched {
    /// Adds a path; one too many and they are no longer named.
    pub fn add(&mut self, path: PathBuf) {
        if self.parts.contains(&Part::Many) {
            return;
        }
        self.paths.insert(path);
        if self.paths.len() > MOST_PATHS {
            self.many();
        }
    }

    /// Paths are no longer named.
    pub fn many(&mut self) {
        self.paths.clear();
        self.parts.insert(Part::Many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBOUNCE: Debounce = Debounce {
        quiet: Duration::from_millis(100),
        longest: Duration::from_secs(2),
        locked: Duration::from_secs(30),
    };

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn path(name: &str) -> Touch {
        Touch::Path(name.into())
    }

    /// Takes a touch of `a` at each of these moments.
    fn touched_at(moments: &[u64]) -> Coalescer {
        let mut coalescer = Coalescer::new(DEBOUNCE);
        for moment in moments {
            coalescer.take(path("a"), ms(*moment));
        }
        coalescer
    }

    #[test]
    fn a_burst_is_said_when_it_has_been_quiet_for_a_while() {
        let check = |moments: &[u64], expected: Option<u64>| {
            assert_eq!(touched_at(moments).due(Lock::Free), expected.map(ms), "{moments:?}");
        };
        check(&[], None);
        check(&[50], Some(150));
        check(&[50, 140], Some(240));
        check(&[50, 140, 90], Some(240));
    }

    #[test]
    fn a_file_that_is_written_all_the_time_does_not_hold_the_others_back() {
        let steady: Vec<u64> = (0..40).map(|step| 10 + step * 60).collect();
        assert_eq!(touched_at(&steady).due(Lock::Free), Some(ms(2010)));
    }

    #[test]
    fn while_git_holds_its_lock_the_burst_goes_on() {
        let mut coalescer = touched_at(&[10]);
        assert_eq!(coalescer.due(Lock::Held), Some(ms(30_010)));
        coalescer.held(ms(5_000));
        coalescer.take(path("b"), ms(5_050));
        assert_eq!(
            coalescer.due(Lock::Free),
            Some(ms(5_150)),
            "what comes with the last events is waited for"
        );
        assert_eq!(coalescer.settle().paths.len(), 2);
    }

    #[test]
    fn a_lock_that_nobody_gives_back_does_not_hold_for_ever() {
        let mut coalescer = touched_at(&[10]);
        coalescer.held(ms(29_000));
        assert_eq!(coalescer.due(Lock::Held), Some(ms(30_010)));
    }

    #[test]
    fn ten_thousand_files_are_one_update_that_names_none() {
        let mut coalescer = Coalescer::new(DEBOUNCE);
        for number in 0..10_000 {
            coalescer.take(path(&format!("file{number}")), ms(number / 50));
        }
        let touched = coalescer.settle();
        assert_eq!((touched.paths.len(), touched.parts), (0, [Part::Many].into()));
        assert!(coalescer.is_empty(), "it is said once");
    }

    #[test]
    fn what_means_nothing_begins_no_burst() {
        let mut coalescer = Coalescer::new(DEBOUNCE);
        coalescer.take(Touch::Nothing, ms(1));
        assert_eq!(coalescer.due(Lock::Free), None);
    }
}
