//! The runs that wait or are worked on, who follows them, and the model that is loaded for them.
//!
//! It is what is known; what is done about it stands in `crate::driving`.

use crate::view::RunUpdate;
use magis_core::RunId;
use magis_engine::model::LanguageModel;
use magis_engine::{EngineLimits, LoadedModel};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Where the updates of a run are sent to; it says whether somebody still listens.
pub type Sink = Box<dyn Fn(RunUpdate) -> bool + Send>;

/// Where models come from.
pub enum ModelSource {
    /// A worker process with a file of the library.
    Worker,
    /// This model, whatever is asked for: for tests.
    Given(Arc<dyn LanguageModel>),
}

/// How a person wants a run to halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The model stays loaded.
    Pause,
    /// The model is freed.
    Stop,
}

/// The runs this window works on.
pub struct Driving {
    pub(crate) models: ModelSource,
    pub(crate) state: Mutex<Queue>,
    /// Held while a model is loaded or freed, so that there is never a second one.
    pub(crate) loading: tokio::sync::Mutex<Option<Loaded>>,
}

#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) waiting: VecDeque<RunId>,
    pub(crate) active: Option<Active>,
    pub(crate) followers: BTreeMap<RunId, Vec<Sink>>,
    /// Runs that somebody began to follow and has not been shown yet.
    pub(crate) newcomers: BTreeSet<RunId>,
    /// Whether somebody works the queue off.
    pub(crate) is_worked_off: bool,
    /// Counts what was asked of the model, so that an idle one can be told.
    pub(crate) uses: u64,
}

pub(crate) struct Active {
    pub(crate) run: RunId,
    pub(crate) stop: CancellationToken,
    pub(crate) halt: Option<Halt>,
    /// The model that is being loaded for it.
    pub(crate) loading: Option<String>,
}

pub(crate) struct Loaded {
    pub(crate) wanted: LoadedAs,
    pub(crate) loaded: LoadedModel,
}

/// What a model is loaded as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadedAs {
    pub(crate) name: String,
    pub(crate) limits: EngineLimits,
}

impl Driving {
    /// Begins without any run.
    pub fn new(models: ModelSource) -> Self {
        Self {
            models,
            state: Mutex::default(),
            loading: tokio::sync::Mutex::new(None),
        }
    }

    /// Returns where models come from.
    pub fn models(&self) -> &ModelSource {
        &self.models
    }

    /// Returns whether this window works on the run, or has it in its queue.
    pub fn drives(&self, run: RunId) -> bool {
        self.driven().contains(&run)
    }

    /// Returns the run that is worked on, then those that wait.
    pub fn driven(&self) -> Vec<RunId> {
        let state = self.state();
        state
            .active
            .iter()
            .map(|active| active.run)
            .chain(state.waiting.iter().copied())
            .collect()
    }

    /// Sends what happens in a run to `sink`, until the run halts.
    pub fn add_follower(&self, run: RunId, sink: Sink) {
        let mut state = self.state();
        state.followers.entry(run).or_default().push(sink);
        state.newcomers.insert(run);
    }

    /// Returns whether somebody began to follow a run since this was asked last.
    pub fn take_newcomers(&self, run: RunId) -> bool {
        self.state().newcomers.remove(&run)
    }

    /// Returns the model that is being loaded for a run.
    pub fn loading_for(&self, run: RunId) -> Option<String> {
        let state = self.state();
        let active = state.active.as_ref().filter(|active| active.run == run)?;
        active.loading.clone()
    }

    pub(crate) fn set_loading(&self, model: Option<String>) {
        if let Some(active) = &mut self.state().active {
            active.loading = model;
        }
    }

    /// Sends nothing more to whoever has followed a run for longest: a window follows it anew before it lets go.
    pub fn drop_follower(&self, run: RunId) {
        let mut state = self.state();
        if let Some(sinks) = state.followers.get_mut(&run) {
            if sinks.len() <= 1 {
                state.followers.remove(&run);
            } else {
                drop(sinks.remove(0));
            }
        }
    }

    pub(crate) fn forget_followers(&self, run: RunId) {
        let mut state = self.state();
        state.followers.remove(&run);
        state.newcomers.remove(&run);
    }

    /// Returns whether anybody follows a run.
    pub fn is_followed(&self, run: RunId) -> bool {
        self.state().followers.contains_key(&run)
    }

    /// Tells those who follow a run; who does not listen any more is forgotten.
    pub fn tell(&self, run: RunId, news: &RunUpdate) {
        // The sinks are taken out so that a slow one holds up nobody who asks for the queue.
        let Some(mut sinks) = self.state().followers.remove(&run) else {
            return;
        };
        sinks.retain(|sink| sink(news.clone()));
        if !sinks.is_empty() {
            let mut state = self.state();
            let added = state.followers.entry(run).or_default();
            sinks.append(added);
            *added = sinks;
        }
    }

    /// Returns the model that is loaded, if any.
    pub async fn loaded(&self) -> Option<Arc<dyn LanguageModel>> {
        let slot = self.loading.lock().await;
        slot.as_ref().map(|held| Arc::clone(&held.loaded.model))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, Queue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
