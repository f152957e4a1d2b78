//! The loop: fold the log, carry out the first effect, append its event, and again. One lease, one run, one driver.
//!
//! Events are appended before they are acted upon. What a person appends meanwhile (steering) is taken in between two
//! steps; a step that no longer fits, or whose task or role was rewritten meanwhile, is dropped, and its calls stay on record.

use super::call_log::RunLog;
use super::evidence;
use super::roles::ahead::ask_ahead;
use super::roles::{RoleResult, custodian, developer, manager, names, qa};
use super::workspace::Workspace;
use crate::calls::{AskError, ModelCalls};
use crate::{EngineError, Magis, Progress};
use magis_core::text::variant_name;
use magis_core::{RunEvent, RunId, RunOutcome, Speaker};
use magis_flow::{Effect, Run};
use magis_llm::{LanguageModel, LlmError};
use magis_platform::now_ms;
use magis_platform::process::ProcessMark;
use magis_repo::{ObjectStore, Snapshot};
use magis_store::{Lease, LeaseError, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info, info_span, warn};

/// How long a lease holds, in milliseconds; it is renewed three times in that span.
const LEASE: i64 = 30_000;

/// How a drive ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveEnd {
    /// The run is over.
    Ended(RunOutcome),
    /// It was stopped on request and can be resumed.
    Stopped,
}

impl Magis {
    /// Drives a run from where its log ends to its end, or until `stop`. Takes the lease; gives it back.
    ///
    /// When something fails that the run cannot go on without, the run is paused with the reason in its log, and the
    /// error is returned; it can be resumed when the cause is mended.
    ///
    /// # Errors
    /// When a step fails in a way that the run cannot go on from: the model, the repository or the database.
    pub async fn drive(
        &self,
        run: RunId,
        model: Arc<dyn LanguageModel>,
        stop: CancellationToken,
        progress: UnboundedSender<Progress>,
    ) -> Result<DriveEnd, EngineError> {
        let lease = self.take_lease(run)?;
        let span = info_span!("run", run = run.0);
        let end = self
            .drive_leased(run, &lease, model, &stop, &progress)
            .instrument(span.clone())
            .await;
        let _entered = span.enter();
        match &end {
            Ok(DriveEnd::Ended(outcome)) => info!(outcome = variant_name(outcome), "ended"),
            Ok(DriveEnd::Stopped) => info!("stopped"),
            Err(error) => warn!(error = variant_name(error), "failed"),
        }
        let released = self.store.release_lease(&lease);
        let end = end?;
        match released {
            Ok(()) | Err(LeaseError::Lost { .. }) => Ok(end),
            Err(error) => Err(error.into()),
        }
    }

    async fn drive_leased(
        &self,
        run: RunId,
        lease: &Lease,
        model: Arc<dyn LanguageModel>,
        stop: &CancellationToken,
        progress: &UnboundedSender<Progress>,
    ) -> Result<DriveEnd, EngineError> {
        let mut log = Log::open(&self.store, run, progress)?;
        if let Some(outcome) = log.state.outcome() {
            return Ok(DriveEnd::Ended(outcome.clone()));
        }
        // Whoever adds up the time between events leaves out what lies before this one: a pause, a crash, the distance to
        // the run whose beginning was taken over.
        if log.seq > 1 || self.store.run(run)?.entry.parent.is_some() {
            log.append(&RunEvent::Resumed)?;
        }
        let mut work = self.workspace(&log, model, stop.clone(), progress.clone())?;
        let beat = self.keep_lease(lease.clone());
        let end = log.follow(&mut work, stop).await;
        beat.abort();
        let reason = match &end {
            Ok(DriveEnd::Ended(_)) => return end,
            Ok(DriveEnd::Stopped) => "stopped on request".to_owned(),
            Err(error) => error.to_string(),
        };
        // Where the log is another driver's by now, it is not ours to pause.
        if log.catch_up().is_ok() && log.state.outcome().is_none() {
            log.append(&RunEvent::Paused { reason })?;
        }
        end
    }

    /// Returns the lease of a run; one whose holder's process is gone is taken over at once.
    fn take_lease(&self, run: RunId) -> Result<Lease, EngineError> {
        static DRIVES: AtomicU32 = AtomicU32::new(0);
        let process = ProcessMark::own();
        let drive = DRIVES.fetch_add(1, Ordering::Relaxed);
        let holder = format!("process {}, drive {drive}", process.pid);
        self.store.interrupt_abandoned_runs(now_ms())?;
        Ok(self.store.acquire_lease(run, &holder, process, now_ms(), LEASE)?)
    }

    /// Who works on a run, where that is another process and it lives.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn driven_elsewhere(&self, run: RunId) -> Result<Option<Lease>, EngineError> {
        let lease = self.store.live_lease(now_ms())?.filter(|lease| lease.run == run);
        Ok(lease.filter(|lease| lease.process.pid != std::process::id()))
    }

    /// Takes a run from the process that works on it, one that hangs say, so that it can be resumed here. That process
    /// notices at its next step. Returns whether anybody worked on it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn break_lease(&self, run: RunId) -> Result<bool, EngineError> {
        Ok(self.store.break_lease(run)?)
    }

    fn keep_lease(&self, lease: Lease) -> tokio::task::JoinHandle<()> {
        let store = self.store.clone();
        tokio::spawn(async move {
            let mut beat = tokio::time::interval(Duration::from_millis(LEASE as u64 / 3));
            let mut lease = lease;
            loop {
                beat.tick().await;
                match store.renew_lease(&lease, now_ms(), LEASE) {
                    Ok(renewed) => lease = renewed,
                    // The next append notices a lost lease: two drivers cannot both append the next event.
                    Err(_) => return,
                }
            }
        })
    }

    fn workspace(
        &self,
        log: &Log<'_>,
        model: Arc<dyn LanguageModel>,
        stop: CancellationToken,
        progress: UnboundedSender<Progress>,
    ) -> Result<Workspace, EngineError> {
        let repo = self.repository_id_of(log.run)?;
        let folder = self.data.objects(repo);
        if let Ok(repository) = self.git.open(&self.store.repository(repo)?.root) {
            ObjectStore::open(&folder, &repository)?;
        }
        let snapshot = Snapshot::reopen(&self.git, &folder, log.state.base())?;
        let calls = RunLog {
            store: self.store.clone(),
            run: log.run,
            progress: progress.clone(),
            contents: self.contents_of(log.run),
        };
        Ok(Workspace {
            calls: ModelCalls::of_run(model, Box::new(calls), log.state.request().seed),
            magis: self.clone(),
            store: self.store.clone(),
            run: log.run,
            repo,
            snapshot,
            index_folder: self.data.index(repo),
            root: self.store.repository(repo)?.root.into(),
            progress,
            stop,
            index: None,
            files: None,
            bench: None,
            past_fix: None,
            token_edits: BTreeMap::new(),
            may_enter: BTreeMap::new(),
        })
    }
}

/// The log of a run and the state folded from it.
struct Log<'store> {
    store: &'store Store,
    run: RunId,
    seq: u32,
    state: Run,
    progress: &'store UnboundedSender<Progress>,
}

impl<'store> Log<'store> {
    fn open(
        store: &'store Store,
        run: RunId,
        progress: &'store UnboundedSender<Progress>,
    ) -> Result<Self, EngineError> {
        let events: Vec<RunEvent> = store.events(run)?.into_iter().map(|stored| stored.event).collect();
        let state = Run::fold(&events).map_err(|source| EngineError::Log { run, source })?;
        Ok(Self {
            store,
            run,
            seq: events.len() as u32,
            state,
            progress,
        })
    }

    async fn follow(&mut self, work: &mut Workspace, stop: &CancellationToken) -> Result<DriveEnd, EngineError> {
        let mut asked_ahead = String::new();
        loop {
            self.catch_up()?;
            let pending = self.state.pending();
            let Some(effect) = pending.first().cloned() else {
                return Ok(match self.state.outcome() {
                    Some(outcome) => DriveEnd::Ended(outcome.clone()),
                    None => DriveEnd::Stopped,
                });
            };
            if let Effect::Record(decision) = &effect {
                self.record(decision)?;
                continue;
            }
            work.calls.after_seq = self.seq;
            let step = variant_name(&effect);
            info!(after = self.seq, step, "step");
            // Of steps of one kind the calls are made together before the first.
            let ahead = if asked_ahead == step { &[][..] } else { &pending };
            asked_ahead = step;
            let step = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(DriveEnd::Stopped),
                step = perform_first(work, &self.state, &effect, ahead) => step,
            };
            let event = match step {
                Ok(event) => event,
                Err(AskError::Fatal(EngineError::Llm(LlmError::Cancelled))) => return Ok(DriveEnd::Stopped),
                Err(AskError::Fatal(error)) => return Err(error),
                Err(AskError::Unusable(why)) => return Err(EngineError::Step { run: self.run, why }),
            };
            for notice in std::mem::take(&mut work.calls.notices) {
                self.append(&RunEvent::Noticed { notice })?;
            }
            // Steering that came meanwhile may have made the step moot, or rewritten what it was asked with; then it is not recorded.
            let news = self.catch_up()?;
            let is_moot = || !news.is_empty() && !self.state.pending().contains(&effect);
            if news.iter().any(|event| rewrites(event, &effect)) || is_moot() {
                continue;
            }
            self.append(&names::apart(&self.state, event))?;
        }
    }

    /// Takes in what a person appended, and returns it. The step of another driver means that the lease was
    /// lost (this process slept through its end, say): then this one stops.
    fn catch_up(&mut self) -> Result<Vec<RunEvent>, EngineError> {
        let news = self.store.events_after(self.run, self.seq)?;
        for stored in &news {
            if !is_a_persons(&stored.event) {
                let holder = "this process".to_owned();
                return Err(LeaseError::Lost { run: self.run, holder }.into());
            }
            self.take(stored.seq, &stored.event)?;
        }
        Ok(news.into_iter().map(|stored| stored.event).collect())
    }

    /// Appends a decision of the flow, unless a person was faster: then it is decided anew.
    fn record(&mut self, decision: &[RunEvent]) -> Result<(), EngineError> {
        if decision.is_empty() {
            let why = "what its log says leads to no decision".to_owned();
            return Err(EngineError::Step { run: self.run, why });
        }
        match self.store.append_events(self.run, self.seq + 1, now_ms(), decision) {
            Ok(()) => decision.iter().try_for_each(|event| self.take(self.seq + 1, event)),
            Err(StoreError::OutOfOrder { .. }) => self.follow_person(),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in what a person appended where that is known to be something.
    fn follow_person(&mut self) -> Result<(), EngineError> {
        if self.catch_up()?.is_empty() {
            Err(EngineError::Store(StoreError::NoRun(self.run)))
        } else {
            Ok(())
        }
    }

    fn append(&mut self, event: &RunEvent) -> Result<(), EngineError> {
        loop {
            match self.store.append_event(self.run, self.seq + 1, now_ms(), event) {
                Ok(()) => return self.take(self.seq + 1, event),
                // A person was faster; their event comes first.
                Err(StoreError::OutOfOrder { .. }) => self.follow_person()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take(&mut self, seq: u32, event: &RunEvent) -> Result<(), EngineError> {
        self.state
            .handle(event)
            .map_err(|source| EngineError::Log { run: self.run, source })?;
        self.seq = seq;
        drop(self.progress.send(Progress::Event {
            seq,
            event: Box::new(event.clone()),
        }));
        Ok(())
    }
}

/// Returns whether a person rewrote what a step's prompts say. Hints are for the steps behind it, and a word in the meeting is not waited for.
fn rewrites(event: &RunEvent, step: &Effect) -> bool {
    match event {
        RunEvent::TaskEdited { task, .. } | RunEvent::RoleEdited { task, .. } => step.reads_task(*task),
        _ => false,
    }
}

/// Returns whether an event can come from somebody who does not drive the run.
fn is_a_persons(event: &RunEvent) -> bool {
    match event {
        RunEvent::Spoken { speech } => speech.speaker == Speaker::Person,
        other => other.stage().is_none(),
    }
}

/// Carries out the first of the steps that are pending.
async fn perform_first(work: &mut Workspace, run: &Run, effect: &Effect, pending: &[Effect]) -> RoleResult {
    ask_ahead(work, run, pending).await?;
    perform(work, run, effect).await
}

async fn perform(work: &mut Workspace, run: &Run, effect: &Effect) -> RoleResult {
    if let Some(Ok(bench)) = &mut work.bench {
        bench.task = match effect {
            Effect::TestAttempt(task, ..) | Effect::Minimise(task) => Some(*task),
            _ => None,
        };
    }
    match effect {
        Effect::ShowFault => evidence::show_fault(work, run).await,
        Effect::WriteTests => evidence::write_tests(work, run).await,
        Effect::TestBase => evidence::test_base(work, run).await,
        Effect::TestAttempt(task, round, attempt) => evidence::test_attempt(work, run, *task, *round, *attempt).await,
        Effect::CompareAttempts(task, round) => developer::compare_attempts(work, run, *task, *round).await,
        Effect::Minimise(task) => evidence::minimise(work, run, *task).await,
        Effect::TestPatch => evidence::test_patch(work, run).await,
        Effect::ReadIssue => custodian::read_issue(work, run).await,
        Effect::Rank => custodian::rank(work, run),
        Effect::Judge => custodian::judge(work, run).await,
        Effect::Describe(path) => custodian::describe(work, run, path).await,
        Effect::DefineTask(path, asking) => manager::define_task(work, run, path, *asking).await,
        Effect::DefineRole(task) => manager::define_role(work, run, *task).await,
        Effect::OpenMeeting => manager::open_meeting(work, run).await,
        Effect::Speak(task) => developer::speak(work, run, *task).await,
        Effect::SumUp => manager::sum_up(work, run).await,
        Effect::ReviseRole(task) => developer::revise_role(work, run, *task).await,
        Effect::MakePlan => manager::make_plan(work, run).await,
        Effect::DefineReviewer(task) => developer::define_reviewer(work, run, *task).await,
        Effect::ChooseLines(task, round) => developer::choose_lines(work, run, *task, *round).await,
        Effect::WriteCode(task, round, attempt) => developer::write_code(work, run, *task, *round, *attempt).await,
        Effect::Review(task, round, attempt) => qa::review(work, run, *task, *round, *attempt).await,
        Effect::Merge => manager::merge(work, run).await,
        Effect::Record(_) => Err(AskError::Unusable(
            "a decision of the flow is recorded, not carried out".to_owned(),
        )),
    }
}
