//! What happens in a run, turned into what a window shows: text in pieces, the whole view after each event, the speed.
//!
//! It drives nothing. Text comes at most twenty times a second, so that a window has time to draw it.

use crate::state::App;
use crate::view::RunUpdate;
use magis_core::{Agent, RepoId, RunEvent, RunId, Stage, TaskId, TestsMode};
use magis_engine::state::Run;
use magis_engine::{Eta, Magis, Progress, StageTimes};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

/// How often text and views are sent at the most.
const BEAT: Duration = Duration::from_millis(50);
/// How often the speed is told.
const SPEED: Duration = Duration::from_secs(1);

/// Sends what `progress` says to those who follow `run`, until it closes.
pub async fn follow(app: &App, magis: &Magis, run: RunId, mut progress: UnboundedReceiver<Progress>) {
    let mut watch = Watch::new(app, magis, run);
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut speed = tokio::time::interval(SPEED);
    speed.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // The channel closes when the drive ends, after its last message.
            seen = progress.recv() => match seen {
                Some(seen) => watch.take(seen),
                None => break,
            },
            _ = beat.tick() => watch.send_pending(),
            _ = speed.tick() => watch.send_speed(),
        }
    }
    watch.send_text();
}

struct Watch<'a> {
    app: &'a App,
    run: RunId,
    /// Text that was not sent yet.
    text: String,
    call: Option<Call>,
    /// What was told of the code that runs.
    code: Option<RunUpdate>,
    /// Whether the view is older than the log.
    is_behind: bool,
    /// How long the run was worked on before this.
    worked_before: Duration,
    begun: Instant,
    eta: Eta,
    spent: StageTimes,
    /// When the last event came: time since then is not in `spent`.
    marked: Instant,
    stage: Stage,
    /// The run after the event `seq`; none where its log cannot be read.
    state: Option<Run>,
    seq: u32,
}

struct Call {
    stage: Stage,
    agent: Agent,
    step: &'static str,
    task: Option<TaskId>,
    path: Option<String>,
    /// The text that was sent so far.
    sent: String,
    first_text: Option<Instant>,
    /// Pieces of text, which are tokens, about.
    pieces: u32,
}

impl<'a> Watch<'a> {
    fn new(app: &'a App, magis: &Magis, run: RunId) -> Self {
        let events = magis.events(run).unwrap_or_default();
        let state = Run::fold(events.iter().map(|stored| &stored.event)).ok();
        let calls = magis.run(run).map_or(0, |found| found.entry.worked_ms);
        Self {
            app,
            run,
            text: String::new(),
            call: None,
            code: None,
            is_behind: true,
            worked_before: Duration::from_millis(calls) + StageTimes::running_code(&events),
            begun: Instant::now(),
            eta: magis.eta(run).unwrap_or_else(|_| Eta::of(&[], &TestsMode::Skip)),
            spent: StageTimes::of(&events),
            marked: Instant::now(),
            stage: state.as_ref().map_or(Stage::Locate, Run::stage),
            state,
            seq: events.last().map_or(0, |stored| stored.seq),
        }
    }

    fn take(&mut self, seen: Progress) {
        match seen {
            Progress::Event { seq, event } => self.note(seq, &event),
            Progress::Indexing { done, total } => self.tell(&RunUpdate::Indexing {
                done: u32::try_from(done).unwrap_or(u32::MAX),
                total: u32::try_from(total).unwrap_or(u32::MAX),
            }),
            Progress::CallStarted {
                stage,
                agent,
                step,
                task,
                path,
            } => {
                self.send_text();
                self.stage = stage;
                let call = Call {
                    stage,
                    agent,
                    step,
                    task,
                    path,
                    sent: String::new(),
                    first_text: None,
                    pieces: 0,
                };
                self.tell(&call.started());
                self.call = Some(call);
            }
            Progress::Text { delta } => {
                if let Some(call) = &mut self.call {
                    call.first_text.get_or_insert_with(Instant::now);
                    call.pieces += 1;
                }
                self.text.push_str(&delta);
            }
            Progress::CallEnded {
                prompt_tokens,
                reused_tokens,
                generated_tokens,
                prompt_ms,
                generate_ms,
                recorded,
            } => {
                self.send_text();
                self.call = None;
                self.tell(&RunUpdate::CallEnded {
                    prompt_tokens,
                    reused_tokens,
                    generated_tokens,
                    prompt_ms,
                    generate_ms,
                    recorded,
                });
            }
            Progress::CodeStarted { code, changed, task } => {
                let started = RunUpdate::CodeStarted { code, changed, task };
                self.tell(&started);
                self.code = Some(started);
            }
            Progress::CodeEnded => {
                self.code = None;
                self.tell(&RunUpdate::CodeEnded);
            }
        }
    }

    fn note(&mut self, seq: u32, event: &RunEvent) {
        if let Some(stage) = event.stage() {
            self.spent.add(stage, self.marked.elapsed());
            self.stage = stage;
        }
        self.marked = Instant::now();
        // What was in the log already may be told once more.
        if seq > self.seq {
            self.seq = seq;
            self.state = self.state.take().and_then(|state| after(state, event));
        }
        if let RunEvent::FileDescribed { .. } = event
            && let Some(repo) = self.repository()
        {
            self.app.memory_changed(repo);
        }
        self.is_behind = true;
    }

    fn repository(&self) -> Option<RepoId> {
        self.app.magis().ok()?.run(self.run).ok()?.entry.repo
    }

    fn send_pending(&mut self) {
        self.send_text();
        let somebody_came = self.app.driving().take_newcomers(self.run);
        if (std::mem::take(&mut self.is_behind) || somebody_came)
            && self.app.driving().is_followed(self.run)
            && let Ok(view) = self.app.run_view(self.run)
        {
            self.tell(&RunUpdate::View { view: Box::new(view) });
        }
        if somebody_came {
            self.send_speed();
        }
        if somebody_came && let Some(code) = &self.code {
            self.tell(code);
        }
        if somebody_came && let Some(call) = &self.call {
            // The call's beginning and its whole text: who has them already shows the same as before.
            self.tell(&call.started());
            if !call.sent.is_empty() {
                self.tell(&call.text(call.sent.clone()));
            }
        }
    }

    fn send_text(&mut self) {
        if let (Some(call), false) = (&mut self.call, self.text.is_empty()) {
            let delta = std::mem::take(&mut self.text);
            call.sent.push_str(&delta);
            let news = call.text(delta);
            self.tell(&news);
        }
    }

    fn send_speed(&self) {
        let mut spent = self.spent;
        spent.add(self.stage, self.marked.elapsed());
        let done = match (self.stage, &self.state) {
            (Stage::Code, Some(state)) => Eta::code_done(state),
            _ => 0.0,
        };
        let writing = self.call.as_ref().and_then(|call| {
            let seconds = call.first_text?.elapsed().as_secs_f64();
            (seconds > 0.1).then(|| f64::from(call.pieces) / seconds)
        });
        self.tell(&RunUpdate::Speed {
            tokens_per_second: writing.unwrap_or(0.0),
            worked_ms: millis(self.worked_before + self.begun.elapsed()),
            left_ms: self.eta.remaining(&spent, self.stage, done).map(millis),
        });
    }

    fn tell(&self, news: &RunUpdate) {
        self.app.driving().tell(self.run, news);
    }
}

impl Call {
    fn started(&self) -> RunUpdate {
        RunUpdate::CallStarted {
            stage: self.stage,
            agent: self.agent,
            step: self.step.to_owned(),
            task: self.task,
            path: self.path.clone(),
        }
    }

    fn text(&self, delta: String) -> RunUpdate {
        RunUpdate::Text {
            task: self.task,
            agent: self.agent,
            step: self.step.to_owned(),
            delta,
        }
    }
}

/// Returns the run after one more event; none where that does not follow.
fn after(mut state: Run, event: &RunEvent) -> Option<Run> {
    state.handle(event).ok()?;
    Some(state)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Returns a follower that comes when a run is not worked on gets its view, and how it stands.
pub fn standing(app: &App, run: RunId) -> Vec<RunUpdate> {
    match app.run_view(run) {
        Ok(view) => {
            let is_over = view.outcome.is_some();
            let view = RunUpdate::View { view: Box::new(view) };
            let then = match app.driving().loading_for(run) {
                Some(model) => Some(RunUpdate::Loading { model }),
                None if app.driving().drives(run) => None,
                None if is_over => Some(RunUpdate::Ended),
                None => Some(RunUpdate::Stopped),
            };
            std::iter::once(view).chain(then).collect()
        }
        Err(problem) => vec![RunUpdate::Problem { problem }],
    }
}
