//! The repository that is watched, and how it stands.
//!
//! It is what is known; what is done about it stands in `crate::watching`.

use crate::problem::Problem;
use crate::view::WatchView;
use magis_engine::{EngineLimits, SummarisationBudget, SummarisationSwitch, Watch};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The repository that is watched, if any.
#[derive(Default)]
pub struct Watching {
    pub(crate) watched: Mutex<Option<Watched>>,
    /// Whether a run needs the machine.
    pub(crate) gives_way: AtomicBool,
}

pub(crate) struct Watched {
    pub(crate) watch: Watch,
    pub(crate) view: WatchView,
    /// What describing may cost.
    pub(crate) budget: SummarisationBudget,
    pub(crate) summariser: Option<Summariser>,
}

pub(crate) struct Summariser {
    pub(crate) wanted: SummarisedWith,
    pub(crate) switch: SummarisationSwitch,
    /// What it could not do the last time.
    pub(crate) problem: Option<Problem>,
}

/// What files are described with.
#[derive(PartialEq, Eq)]
pub(crate) struct SummarisedWith {
    pub(crate) model: String,
    pub(crate) limits: EngineLimits,
}

impl Watching {
    pub(crate) fn watched(&self) -> MutexGuard<'_, Option<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
