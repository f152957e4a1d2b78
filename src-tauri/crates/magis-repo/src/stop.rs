//! Ending something that waits.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A word that ends something that waits, given once.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    shared: Arc<Mutex<Stopping>>,
}

#[derive(Default)]
struct Stopping {
    is_stopped: bool,
    /// Ends what waits now.
    end: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("is_stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}

impl Stop {
    pub fn stop(&self) {
        let end = {
            let mut stopping = self.stopping();
            stopping.is_stopped = true;
            stopping.end.take()
        };
        if let Some(end) = end {
            end();
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stopping().is_stopped
    }

    /// Has `end` called when it is time, in the place of what was to be called before; at once where it is time already.
    pub fn call(&self, end: impl FnOnce() + Send + 'static) {
        let mut stopping = self.stopping();
        if stopping.is_stopped {
            drop(stopping);
            end();
        } else {
            stopping.end = Some(Box::new(end));
        }
    }

    fn stopping(&self) -> MutexGuard<'_, Stopping> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
