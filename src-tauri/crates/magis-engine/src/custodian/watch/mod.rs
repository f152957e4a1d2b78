//! The Custodian keeps watch: follows every change of a repository, keeps its search index right, says how much of it memory
//! knows, and, when nobody needs the machine, describes the files that are likely to matter next.
//!
//! Start with [`Magis::watch`]. `following` brings index and memory state up to date; `summarising` describes files, `choosing`
//! and `candidates` say which, `rest` says when not, `model` with what. Nothing is written into the repository.

mod background;
mod choosing;
mod event;
mod following;
mod idle;
mod model;
mod summary_candidates;

pub use event::{WatchEvent, WatchFailure};
pub use idle::{IdleReason, SummarisationBudget};
pub use model::SummarisationModel;

use crate::{EngineError, Magis};
use background::BackgroundSummarisation;
use following::{Following, WatcherMessage};
use idle::{Order, SummarisationSpent};
use magis_core::{RepoId, RepoPath};
use magis_repo::{WatchOptions, Watcher, WorkTree};
use magis_store::Coverage;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// How things stand now, for somebody who comes later.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchState {
    /// Files of the working tree that count.
    pub files: usize,
    /// How much of them memory knows.
    pub memory: Coverage,
    /// The file that is being described.
    pub summarising: Option<RepoPath>,
    pub idle: Option<IdleReason>,
    /// Tokens spent on describing since the budget was given.
    pub spent: u64,
    /// What describing holds of the machine.
    pub machine: MachineUse,
}

/// What describing files in advance holds of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MachineUse {
    #[default]
    None,
    /// The memory of a model: from before it is loaded until it is let go.
    Model,
}

/// A repository that is watched, until this is dropped.
pub struct Watch {
    watched: Watched,
    stop: CancellationToken,
    follower: Option<JoinHandle<()>>,
    /// What describes files now.
    summarising: Mutex<Option<tokio::task::JoinHandle<()>>>,
    _watcher: Watcher,
}

/// The watched repository, as the parts of a watch share it.
#[derive(Clone)]
pub(crate) struct Watched {
    pub magis: Magis,
    pub repo: RepoId,
    held: Arc<Mutex<Held>>,
    messages: Sender<WatcherMessage>,
    events: UnboundedSender<WatchEvent>,
}

#[derive(Debug)]
pub(crate) struct Held {
    /// The working tree, as it was last looked at.
    pub work: Option<Arc<WorkTree>>,
    /// How many other files each file imports or is imported by.
    pub connections: Arc<Vec<(RepoPath, usize)>>,
    /// When the repository last changed.
    pub changed_at: Instant,
    /// Counts how often somebody else changed memory.
    pub memory_changes: u32,
    /// What describing files may cost.
    pub budget: SummarisationBudget,
    /// What it cost since that was given.
    pub spent: SummarisationSpent,
    /// Counts the budgets that were given.
    pub budgets: u32,
    pub state: WatchState,
}

impl Watched {
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn report(&self, event: WatchEvent) {
        event.log(self.repo);
        // Where nobody listens, the work is done all the same.
        drop(self.events.send(event));
    }

    /// Has it counted anew how much memory knows.
    pub fn recount(&self) {
        drop(self.messages.send(WatcherMessage::Recount));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.halt();
    }
}

impl Magis {
    /// Watches a repository: brings its index up to date, and again after every change. What happens is told through `events`.
    ///
    /// # Errors
    /// When the repository cannot be read, or the database cannot be written.
    pub fn watch(
        &self,
        repo: RepoId,
        options: WatchOptions,
        events: UnboundedSender<WatchEvent>,
    ) -> Result<Watch, EngineError> {
        let repository = self.open_repository(repo)?;
        let (messages, received) = channel();
        let sink = messages.clone();
        let watcher = Watcher::begin(&repository, options, move |event| {
            drop(sink.send(WatcherMessage::Event(event, Instant::now())));
        })?;
        let held = Held {
            work: None,
            connections: Arc::default(),
            changed_at: Instant::now(),
            memory_changes: 0,
            budget: SummarisationBudget::default(),
            spent: SummarisationSpent::default(),
            budgets: 0,
            state: WatchState::default(),
        };
        let watched = Watched {
            magis: self.clone(),
            repo,
            held: Arc::new(Mutex::new(held)),
            messages,
            events,
        };
        let stop = CancellationToken::new();
        let mut following = Following::new(watched.clone(), repository, stop.clone());
        let follower = thread::Builder::new()
            .name("magis-custodian".to_owned())
            .spawn(move || following.follow(&received))
            .map_err(EngineError::io("begin to follow", self.data.root()))?;
        Ok(Watch {
            watched,
            stop,
            follower: Some(follower),
            summarising: Mutex::default(),
            _watcher: watcher,
        })
    }
}

impl Watch {
    /// Returns how things stand now.
    pub fn state(&self) -> WatchState {
        let held = self.watched.held();
        WatchState {
            spent: held.spent.tokens,
            ..held.state.clone()
        }
    }

    /// Ends it, and comes back when nothing is written any more.
    pub fn end(mut self) {
        self.halt();
        if let Some(follower) = self.follower.take() {
            // One that panicked writes nothing either.
            drop(follower.join());
        }
    }

    fn halt(&self) {
        self.stop.cancel();
        drop(self.watched.messages.send(WatcherMessage::Stop));
    }

    /// Counts anew how much memory knows: a run or a person may have changed that.
    pub fn recount(&self) {
        self.watched.held().memory_changes += 1;
        self.watched.recount();
    }

    /// Gives what describing files may cost from now on; what was spent before does not count. Until then it may cost as
    /// much as it takes.
    pub fn give_budget(&self, budget: SummarisationBudget) {
        let mut held = self.watched.held();
        (held.budget, held.spent) = (budget, SummarisationSpent::default());
        held.budgets += 1;
    }

    /// Begins to describe files whenever nobody needs the machine: no run is driven in this data folder, by whichever
    /// program, and the repository has been quiet for `idle`. What an earlier call began ends first, and what that spent of
    /// the budget stays spent. Has to be called within a tokio runtime.
    pub fn summarise_in_background(&self, model: SummarisationModel, idle: Duration) -> SummarisationSwitch {
        let (orders, given) = tokio::sync::watch::channel(Order::Go);
        let summarising = BackgroundSummarisation::new(self.watched.clone(), model, idle, given);
        let stop = self.stop.clone();
        let mut running = self.summarising.lock().unwrap_or_else(PoisonError::into_inner);
        let before = running.take();
        *running = Some(tokio::spawn(async move {
            if let Some(before) = before {
                before.abort();
                // Its model is gone when it has ended, however it did.
                drop(before.await);
            }
            tokio::select! {
                () = summarising.work() => {}
                () = stop.cancelled() => {}
            }
        }));
        drop(running);
        SummarisationSwitch { orders }
    }
}

/// Steers the describing of files. It ends with the watch, or when this is dropped.
pub struct SummarisationSwitch {
    orders: tokio::sync::watch::Sender<Order>,
}

impl SummarisationSwitch {
    /// Goes on when nobody needs the machine.
    pub fn go_on(&self) {
        self.orders.send_replace(Order::Go);
    }

    /// Lets go of the machine until [`SummarisationSwitch::go_on`]: somebody needs it for a run, or holds a run's model.
    pub fn give_way(&self) {
        self.orders.send_replace(Order::Yield);
    }
}
