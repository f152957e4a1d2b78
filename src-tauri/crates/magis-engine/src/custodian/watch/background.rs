//! Describes files in advance, one after the other in small batches, while nobody needs the machine.
//!
//! The description is the Custodian's own (algorithm 1, the same memory). The model is loaded when there is something to do,
//! runs at the lowest priority, and is let go as soon as somebody else needs the machine.

use super::choosing::{Batch, Choosing, Chosen};
use super::idle::{Circumstances, IdleReason, Order, Runs, SummarisationSpent, idle_reason, interruption};
use super::model::SummarisationModel;
use super::{Held, MachineUse, WatchEvent, WatchFailure, Watched};
use crate::EngineError;
use crate::calls::{AskError, CHARS_PER_TOKEN};
use crate::custodian::describing::{self, FileVersion};
use crate::custodian::memory_log;
use magis_llm::LanguageModel;
use magis_platform::now_ms;
use magis_repo::{Snapshot, WorkTree};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;

/// The number of files chosen at once; then which matter is looked at anew.
const BATCH: usize = 8;
/// How often is looked whether the machine is needed, or free again.
const LOOK: Duration = Duration::from_millis(100);
/// The tokens of its question and the answer beside that.
const AROUND: u64 = 500;
/// Where nothing is left to do, it is looked again after this long: another program may have changed memory.
const LATER: Duration = Duration::from_mins(10);

/// How a time without work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdleEnd {
    /// With an order or a change.
    Called,
    /// Its time ran out.
    Out,
}

/// How things stood when it was last looked whether there is something to do: idling ends when they stand otherwise.
struct Seen {
    work: Option<Arc<WorkTree>>,
    memory_changes: u32,
    budgets: u32,
}

/// Describes the files of one repository.
pub(crate) struct BackgroundSummarisation {
    watched: Watched,
    source: SummarisationModel,
    idle: Duration,
    orders: Receiver<Order>,
    choosing: Arc<Mutex<Choosing>>,
    model: Option<Arc<dyn LanguageModel>>,
    /// Since when the model is at work.
    begun: Option<Instant>,
    /// Taken before the files are chosen, so that no change meanwhile is missed.
    seen: Seen,
    /// What could not be done the last time, so that it is said once.
    failed: Option<String>,
}

impl BackgroundSummarisation {
    pub fn new(watched: Watched, source: SummarisationModel, idle: Duration, orders: Receiver<Order>) -> Self {
        let seen = Seen::of(&watched.held());
        Self {
            choosing: Arc::new(Mutex::new(Choosing::new(watched.clone()))),
            watched,
            source,
            idle,
            orders,
            model: None,
            begun: None,
            seen,
            failed: None,
        }
    }

    /// Until nobody can give an order any more.
    pub async fn work(mut self) {
        {
            // What an earlier one said does not stand for this one.
            let mut held = self.watched.held();
            (held.state.summarising, held.state.idle) = (None, None);
        }
        // The index comes first: it says which files are central.
        while self.watched.held().work.is_none() {
            tokio::time::sleep(LOOK).await;
        }
        while self.orders.has_changed().is_ok() {
            self.orders.mark_unchanged();
            self.seen = Seen::of(&self.watched.held());
            if let Some(why) = idle_reason(&self.circumstances()) {
                self.idle(why, LOOK).await;
                continue;
            }
            match self.choose().await {
                Ok(Some(batch)) => self.describe_all(batch).await,
                Ok(None) => {
                    if self.idle(IdleReason::NothingLeft, LATER).await == IdleEnd::Out {
                        self.with_choosing(Choosing::look_anew);
                    }
                }
                Err(error) => self.fail(error).await,
            }
        }
    }

    /// Returns the next files; none where nothing is left.
    async fn choose(&self) -> Result<Option<Batch>, EngineError> {
        let model_sha = self.source.sha256(&self.watched.magis)?;
        let choosing = Arc::clone(&self.choosing);
        // Dropped with the future, and the choosing ends with it.
        let stop = CancellationToken::new();
        let _ends = stop.clone().drop_guard();
        let chosen = tokio::task::spawn_blocking(move || {
            let mut choosing = choosing.lock().unwrap_or_else(PoisonError::into_inner);
            choosing.next(BATCH, &model_sha, &stop)
        });
        // One that panicked has chosen nothing.
        chosen.await.unwrap_or(Ok(None))
    }

    async fn describe_all(&mut self, batch: Batch) {
        for one in batch.files {
            if let Some(why) = idle_reason(&self.circumstances()) {
                self.idle(why, LOOK).await;
                return;
            }
            let left = {
                let held = self.watched.held();
                let most = held.budget.tokens;
                most.map(|most| most.saturating_sub(held.spent.tokens))
            };
            if left.is_some_and(|left| likely_tokens(one.text.len()) > left) {
                self.idle(IdleReason::TokensSpent, LATER).await;
                return;
            }
            match self.describe(&batch.snapshot, &one).await {
                Ok(None) => {}
                Ok(Some(why)) => {
                    self.idle(why, LOOK).await;
                    return;
                }
                Err(error) => return self.fail(error).await,
            }
        }
    }

    /// Describes one file; gives why that was broken off, where it was.
    async fn describe(&mut self, snapshot: &Snapshot, one: &Chosen) -> Result<Option<IdleReason>, EngineError> {
        let begun = Instant::now();
        self.begun = Some(begun);
        let described = self.describe_since(begun, snapshot, one).await;
        self.count_time();
        described
    }

    async fn describe_since(
        &mut self,
        begun: Instant,
        snapshot: &Snapshot,
        one: &Chosen,
    ) -> Result<Option<IdleReason>, EngineError> {
        let mut looking = self.orders.clone();
        let model = match &self.model {
            Some(model) => Arc::clone(model),
            None => {
                self.watched.held().state.machine = MachineUse::Model;
                tokio::select! {
                    model = self.source.load(&self.watched.magis) => model?,
                    why = self.interrupted(&mut looking) => return Ok(Some(why)),
                }
            }
        };
        self.model = Some(Arc::clone(&model));
        {
            let mut held = self.watched.held();
            held.state.summarising = Some(one.path.clone());
            held.state.idle = None;
        }
        self.watched.report(WatchEvent::Summarising { path: one.path.clone() });
        let store = self.watched.magis.store.clone();
        let file = FileVersion {
            repo: self.watched.repo,
            path: &one.path,
            blob: &one.blob,
            text: &one.text,
        };
        let mut calls = memory_log::calls(&store, self.watched.repo, Arc::clone(&model));
        let described = tokio::select! {
            described = describing::describe(&mut calls, &store, snapshot, file) => Ok(described),
            why = self.interrupted(&mut looking) => Err(why),
        };
        let tokens = calls.spent();
        let spent = {
            let mut held = self.watched.held();
            held.state.summarising = None;
            held.spent.tokens += tokens;
            held.spent.tokens
        };
        if matches!(described, Ok(Ok(_) | Err(AskError::Unusable(_)))) {
            self.failed = None;
        }
        match described {
            Err(why) => return Ok(Some(why)),
            Ok(Err(AskError::Fatal(error))) => return Err(error),
            Ok(Err(AskError::Unusable(why))) => {
                self.watched.report(WatchEvent::NotSummarised {
                    path: one.path.clone(),
                    why,
                });
                self.with_choosing(|choosing| choosing.leave(one));
            }
            Ok(Ok(_)) => {
                self.watched.report(WatchEvent::Summarised {
                    path: one.path.clone(),
                    tokens,
                    took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
                    spent,
                });
                self.watched.recount();
                self.with_choosing(|choosing| choosing.settle(one));
            }
        }
        Ok(None)
    }

    fn with_choosing(&self, act: impl FnOnce(&mut Choosing)) {
        act(&mut self.choosing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts the time since the model is at work as spent, once.
    fn count_time(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.watched.held().spent.time += begun.elapsed();
        }
    }

    fn circumstances(&self) -> Circumstances {
        let lease = self.watched.magis.store.live_lease(now_ms());
        let running = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let held = self.watched.held();
        Circumstances {
            order: *self.orders.borrow(),
            // Where that cannot be found out, nobody is disturbed.
            runs: if matches!(lease, Ok(None)) {
                Runs::None
            } else {
                Runs::UnderWay
            },
            quiet: held.changed_at.elapsed(),
            idle: self.idle,
            budget: held.budget,
            spent: SummarisationSpent {
                time: held.spent.time + running,
                ..held.spent
            },
        }
    }

    /// Ends when what has begun has to end.
    async fn interrupted(&self, orders: &mut Receiver<Order>) -> IdleReason {
        loop {
            tokio::select! {
                changed = orders.changed() => if changed.is_err() {
                    return IdleReason::Off;
                },
                () = tokio::time::sleep(LOOK) => {}
            }
            if let Some(why) = interruption(&self.circumstances()) {
                return why;
            }
        }
    }

    /// Gives the model's memory back.
    fn let_go(&mut self) {
        self.model = None;
        self.watched.held().state.machine = MachineUse::None;
    }

    /// Says once why nothing is done, and waits for an order, for a change, or for so long.
    async fn idle(&mut self, why: IdleReason, long: Duration) -> IdleEnd {
        if why != IdleReason::JustChanged {
            // Whoever needs the machine needs its memory, too.
            self.let_go();
        }
        let before = self.watched.held().state.idle.replace(why);
        if before != Some(why) {
            self.watched.report(WatchEvent::Idle { why });
        }
        let end = Instant::now() + long;
        while Instant::now() < end {
            if !self.seen.is_as(&self.watched.held()) {
                return IdleEnd::Called;
            }
            tokio::select! {
                _ = self.orders.changed() => return IdleEnd::Called,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        IdleEnd::Out
    }

    /// Says what went wrong, once, and waits before it is tried again.
    async fn fail(&mut self, error: EngineError) {
        let sentence = error.to_string();
        if self.failed.replace(sentence.clone()) != Some(sentence) {
            self.watched
                .report(WatchEvent::SummarisingFailed(WatchFailure::of(error)));
        }
        self.idle(IdleReason::Failed, LATER).await;
    }
}

impl Seen {
    fn of(held: &Held) -> Self {
        Self {
            work: held.work.clone(),
            memory_changes: held.memory_changes,
            budgets: held.budgets,
        }
    }

    fn is_as(&self, now: &Held) -> bool {
        let same_work = match (&self.work, &now.work) {
            (Some(work), Some(now)) => Arc::ptr_eq(work, now),
            (work, now) => work.is_none() && now.is_none(),
        };
        same_work && (self.memory_changes, self.budgets) == (now.memory_changes, now.budgets)
    }
}

impl Drop for BackgroundSummarisation {
    fn drop(&mut self) {
        // What was broken off was at work all the same.
        self.count_time();
        self.let_go();
    }
}

/// Returns what describing a file of so many bytes costs, rather too much than too little.
fn likely_tokens(bytes: usize) -> u64 {
    (bytes as u64 / CHARS_PER_TOKEN as u64).min(u64::from(describing::WHOLE_FILE)) + AROUND
}
