//! The Custodian keeps watch: follows every change of a repository, keeps its search index right, says how much of it memory
//! knows, and, when nobody needs the machine, describes the files that are likely to matter next.
//!
//! Start with [`Magis::watch`]. `following` brings index and memory state up to date; `warming` describes files, `choosing`
//! and `prospects` say which, `rest` says when not, `model` with what. Nothing is written into the repository.

mod choosing;
mod following;
mod model;
mod news;
mod prospects;
mod rest;
mod warming;

pub use model::WarmingModel;
pub use news::{Failure, WatchNews};
pub use rest::{WarmingBudget, WarmingRest};

use crate::{EngineError, Magis};
use following::{Following, Heard};
use magis_core::{RepoId, RepoPath};
use magis_repo::{WatchOptions, Watcher, WorkTree};
use magis_store::Coverage;
use rest::{Order, WarmingSpent};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use warming::Warming;

/// How things stand now, for somebody who comes later.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchState {
    /// Files of the working tree that count.
    pub files: usize,
    /// How much of them memory knows.
    pub memory: Coverage,
    /// The file that is being described.
    pub warming: Option<RepoPath>,
    /// Why none is.
    pub rests: Option<WarmingRest>,
    /// Tokens spent on describing since the budget was given.
    pub spent: u64,
    /// What describing holds of the machine.
    pub machine: MachineUse,
}

/// What describing files in advance holds of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MachineUse {
    /// Nothing that matters.
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
    warming: Mutex<Option<tokio::task::JoinHandle<()>>>,
    _watcher: Watcher,
}

/// The watched repository, as the parts of a watch share it.
#[derive(Clone)]
pub(crate) struct Watched {
    pub magis: Magis,
    pub repo: RepoId,
    held: Arc<Mutex<Held>>,
    heard: Sender<Heard>,
    news: UnboundedSender<WatchNews>,
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
    pub budget: WarmingBudget,
    /// What it cost since that was given.
    pub spent: WarmingSpent,
    /// Counts the budgets that were given.
    pub budgets: u32,
    pub state: WatchState,
}

impl Watched {
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tell(&self, news: WatchNews) {
        // Where nobody reads the news, the work is done all the same.
        drop(self.news.send(news));
    }

    /// Has it counted anew how much memory knows.
    pub fn recount(&self) {
        drop(self.heard.send(Heard::Recount));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.halt();
    }
}

impl Magis {
    /// Watches a repository: brings its index up to date, and again after every change. What happens is told through `news`.
    pub fn watch(
        &self,
        repo: RepoId,
        options: WatchOptions,
        news: UnboundedSender<WatchNews>,
    ) -> Result<Watch, EngineError> {
        let repository = self.open_repository(repo)?;
        let (heard, hears) = channel();
        let sink = heard.clone();
        let watcher = Watcher::begin(&repository, options, move |event| {
            drop(sink.send(Heard::Event(event, Instant::now())));
        })?;
        let held = Held {
            work: None,
            connections: Arc::default(),
            changed_at: Instant::now(),
            memory_changes: 0,
            budget: WarmingBudget::default(),
            spent: WarmingSpent::default(),
            budgets: 0,
            state: WatchState::default(),
        };
        let watched = Watched {
            magis: self.clone(),
            repo,
            held: Arc::new(Mutex::new(held)),
            heard,
            news,
        };
        let stop = CancellationToken::new();
        let mut following = Following::new(watched.clone(), repository, stop.clone());
        let follower = thread::Builder::new()
            .name("magis-custodian".to_owned())
            .spawn(move || following.follow(&hears))
            .map_err(EngineError::io("begin to follow", self.data.root()))?;
        Ok(Watch {
            watched,
            stop,
            follower: Some(follower),
            warming: Mutex::default(),
            _watcher: watcher,
        })
    }
}

impl Watch {
    /// How things stand now.
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
        drop(self.watched.heard.send(Heard::Stop));
    }

    /// Counts anew how much memory knows: a run or a person may have changed that.
    pub fn recount(&self) {
        self.watched.held().memory_changes += 1;
        self.watched.recount();
    }

    /// Gives what describing files may cost from now on; what was spent before does not count. Until then it may cost as
    /// much as it takes.
    pub fn give_budget(&self, budget: WarmingBudget) {
        let mut held = self.watched.held();
        (held.budget, held.spent) = (budget, WarmingSpent::default());
        held.budgets += 1;
    }

    /// Begins to describe files whenever nobody needs the machine: no run is driven in this data folder, by whichever
    /// program, and the repository has been quiet for `idle`. What an earlier call began ends first, and what that spent of
    /// the budget stays spent. Has to be called within a tokio runtime.
    pub fn warm(&self, model: WarmingModel, idle: Duration) -> WarmingSwitch {
        let (orders, given) = tokio::sync::watch::channel(Order::Go);
        let warming = Warming::new(self.watched.clone(), model, idle, given);
        let stop = self.stop.clone();
        let mut running = self.warming.lock().unwrap_or_else(PoisonError::into_inner);
        let before = running.take();
        *running = Some(tokio::spawn(async move {
            if let Some(before) = before {
                before.abort();
                // Its model is gone when it has ended, however it did.
                drop(before.await);
            }
            tokio::select! {
                () = warming.work() => {}
                () = stop.cancelled() => {}
            }
        }));
        drop(running);
        WarmingSwitch { orders }
    }
}

/// Steers the describing of files. It ends with the watch, or when this is dropped.
pub struct WarmingSwitch {
    orders: tokio::sync::watch::Sender<Order>,
}

impl WarmingSwitch {
    /// Goes on when nobody needs the machine.
    pub fn go_on(&self) {
        self.orders.send_replace(Order::Go);
    }

    /// Lets go of the machine until [`WarmingSwitch::go_on`]: somebody needs it for a run, or holds a run's model.
    pub fn give_way(&self) {
        self.orders.send_replace(Order::Yield);
    }
}
