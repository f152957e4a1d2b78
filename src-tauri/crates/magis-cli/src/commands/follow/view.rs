//! What a person, or a program, sees of a run while it is driven.

use super::super::Place;
use crate::args::FollowArgs;
use crate::failure::Failure;
use crate::render::{Detail, Tone, Transcript, clean, count, outcome_sentence, span, thousands};
use crate::screen::{Screen, json_line, tell};
use crate::status::StatusLine;
use magis_core::{Agent, RunEvent, RunId, RunOutcome, RunningCode, Stage, TaskId};
use magis_engine::records::{CallOrigin, StoredEvent};
use magis_engine::state::Run;
use magis_engine::{Eta, Magis, Progress, StageTimes, Worked};
use std::time::{Duration, Instant};

/// The view of one run.
pub struct View {
    form: Form,
    reader: Reader,
    status: StatusLine,
    screen: Screen,
    run: RunId,
    clock: Clock,
    /// The run after the last event; none where its log cannot be read.
    state: Option<Run>,
    call: Option<Call>,
    /// The code that runs, in words, and since when.
    code: Option<(String, Instant)>,
    indexing: Option<(usize, usize)>,
    /// The last event that was shown.
    shown: u32,
}

/// How events are shown.
enum Form {
    /// As text, as it grows.
    Text(Box<Transcript>),
    /// As JSON, one event a line.
    Json,
}

/// Whether anybody reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

/// Time spent and time to come.
struct Clock {
    eta: Eta,
    spent: StageTimes,
    stage: Stage,
    worked: Worked,
    counted: Instant,
}

/// The call under way.
struct Call {
    agent: Agent,
    step: &'static str,
    about: String,
    /// When the first text came, and how many pieces came since.
    writing: Option<(Instant, u32)>,
}

impl View {
    /// Creates a view that shows nothing yet.
    pub fn new(place: &Place, magis: &Magis, run: RunId, form: FollowArgs) -> Result<Self, Failure> {
        let screen = place.screen;
        let (form, status) = if form.json {
            (Form::Json, StatusLine::none(screen))
        } else {
            let text = magis.base_text(run)?;
            let transcript = Transcript::new(screen.paint, screen.width, Detail::Live, text);
            (Form::Text(Box::new(transcript)), StatusLine::new(screen))
        };
        let events = magis.events(run)?;
        let calls = Duration::from_millis(magis.run(run)?.entry.worked_ms);
        let clock = Clock {
            eta: magis.eta(run)?,
            spent: StageTimes::of(&events),
            stage: magis.state(run)?.stage(),
            worked: Worked::after(calls + StageTimes::running_code(&events)),
            counted: Instant::now(),
        };
        Ok(Self {
            form,
            reader: Reader::There,
            status,
            screen,
            run,
            clock,
            state: None,
            call: None,
            code: None,
            indexing: None,
            shown: 0,
        })
    }

    /// Shows what the log has already, and what a person should know before it goes on.
    pub fn begin(&mut self, magis: &Magis, notes: &[String]) -> Result<(), Failure> {
        let events = magis.events(self.run)?;
        if let Form::Json = self.form {
            tell(&format!("run {}", self.run));
            for note in notes {
                tell(&format!("note: {note}"));
            }
        } else {
            let entry = magis.run(self.run)?.entry;
            let title = format!("Run {} in {}", self.run, clean(&entry.repository));
            self.screen.line(&self.screen.paint.tone(Tone::Strong, &title))?;
            for note in notes {
                self.screen.line(&format!(
                    "  {} {}",
                    self.screen.paint.tone(Tone::Note, "note:"),
                    clean(note)
                ))?;
            }
        }
        self.show_log(&events)?;
        if let (Form::Text(_), [_, _, ..]) = (&self.form, events.as_slice()) {
            let goes_on = format!(
                "  resumes at the stage '{}', after {}",
                self.clock.stage,
                count(events.len(), "event")
            );
            self.screen.line(&goes_on)?;
        }
        Ok(())
    }

    /// Takes a message of the engine.
    pub fn take(&mut self, message: Progress) -> Result<(), Failure> {
        self.clock.worked.note(&message, Instant::now());
        match message {
            Progress::Event { seq, event } => {
                if let Some(stage) = event.stage() {
                    self.clock.enter(stage);
                }
                if seq > self.shown {
                    self.shown = seq;
                    self.state = self.state.take().and_then(|state| after(state, &event));
                    let told = match &mut self.form {
                        Form::Text(transcript) => transcript.tell(&event),
                        Form::Json => event_line(seq, &event),
                    };
                    self.print(&told)?;
                }
            }
            Progress::Indexing { done, total } => self.indexing = (done < total).then_some((done, total)),
            Progress::CallStarted {
                stage,
                agent,
                step,
                task,
                path,
            } => {
                self.indexing = None;
                self.clock.enter(stage);
                self.call = Some(Call {
                    agent,
                    step,
                    about: about(task, path.as_deref()),
                    writing: None,
                });
            }
            Progress::Text { .. } => {
                if let Some(call) = &mut self.call {
                    let (_, pieces) = call.writing.get_or_insert_with(|| (Instant::now(), 0));
                    *pieces += 1;
                }
            }
            Progress::CallEnded { .. } => self.call = None,
            Progress::CodeStarted { code, changed, task } => {
                self.code = Some((running(code, changed, task), Instant::now()));
            }
            Progress::CodeEnded => self.code = None,
        }
        Ok(())
    }

    /// Writes the status line anew.
    pub fn refresh(&mut self) {
        self.clock.tick();
        if self.status.is_shown() {
            self.status.say(&self.status_text());
        }
    }

    /// Says something else in the status line.
    pub fn say(&self, text: &str) {
        self.status.say(text);
    }

    /// Takes the status line away.
    pub fn clear(&self) {
        self.status.clear();
    }

    /// Says how the run ended and where to go from there.
    pub fn end(&mut self, place: &Place, magis: &Magis, outcome: &RunOutcome) -> Result<(), Failure> {
        if let Form::Json = self.form {
            return Ok(());
        }
        let (screen, paint) = (self.screen, self.screen.paint);
        let (tone, sentence) = outcome_sentence(
            outcome,
            magis.run(self.run)?.request.qa,
            magis.state(self.run)?.patch_tests(),
        );
        screen.line(&format!("\n{}", paint.tone(tone, &clean(&sentence))))?;
        let entry = magis.run(self.run)?.entry;
        if entry.size.files > 0 {
            let files = count(entry.size.files as usize, "file");
            screen.line(&format!(
                "  {files} changed, +{} -{}",
                entry.size.added, entry.size.deleted
            ))?;
        }
        let own = magis
            .call_totals(self.run)?
            .into_iter()
            .filter(|of| of.origin == CallOrigin::Own);
        let (calls, written) = own.fold((0, 0), |(calls, written), of| {
            (calls + of.calls, written + of.generated_tokens)
        });
        screen.line(&format!(
            "  {}, {} of the model, {} read and {} written",
            span(Duration::from_millis(entry.worked_ms)),
            count(calls as usize, "call"),
            count(entry.tokens.saturating_sub(written) as usize, "token"),
            thousands(written),
        ))?;
        let run = self.run;
        screen.line(&format!(
            "\n  The whole run:  {}",
            place.next_command(&format!("runs show {run}"))
        ))?;
        if entry.size.files > 0 {
            screen.line(&format!(
                "  The patch:      {}",
                place.next_command(&format!("runs show {run} --patch"))
            ))?;
            screen.line(&format!(
                "  Take it over:   {}",
                place.next_command(&format!("apply {run} --worktree"))
            ))?;
            screen.line(&format!(
                "  or on a branch: {}",
                place.next_command(&format!("apply {run} --branch NAME"))
            ))?;
        }
        Ok(())
    }

    fn show_log(&mut self, events: &[StoredEvent]) -> Result<(), Failure> {
        let is_new = events.len() == 1;
        self.state = Run::fold(events.iter().map(|stored| &stored.event)).ok();
        for stored in events {
            self.shown = stored.seq;
            let told = match &mut self.form {
                Form::Text(transcript) if is_new => transcript.tell(&stored.event),
                Form::Text(transcript) => {
                    transcript.take_in(&stored.event);
                    String::new()
                }
                Form::Json => event_line(stored.seq, &stored.event),
            };
            self.print(&told)?;
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() || self.reader == Reader::Gone {
            return Ok(());
        }
        let printed = self.status.print(text);
        if printed.is_err() {
            self.reader = Reader::Gone;
        }
        printed
    }

    fn status_text(&self) -> String {
        let mut parts = vec![self.clock.stage.name().to_owned()];
        match (&self.call, self.indexing, &self.code) {
            (_, Some((done, total)), _) => parts.push(format!("indexing, {done} of {}", count(total, "file"))),
            (_, None, Some((what, since))) => parts.push(match since.elapsed() {
                short if short < Duration::from_secs(1) => what.clone(),
                long => format!("{what}, {}", span(long)),
            }),
            (Some(call), None, None) => {
                parts.push(format!("{} {}{}", call.agent.name(), call.step, call.about));
                parts.push(match call.writing {
                    None => "reading".to_owned(),
                    Some((since, pieces)) => match since.elapsed().as_secs_f64() {
                        seconds if seconds > 0.5 => format!("{:.1} tokens/s", f64::from(pieces) / seconds),
                        _ => "writing".to_owned(),
                    },
                });
            }
            (None, None, None) => {}
        }
        parts.push(span(self.clock.worked.until(Instant::now())));
        let done = match (self.clock.stage, &self.state) {
            (Stage::Code, Some(state)) => Eta::code_done(state),
            _ => 0.0,
        };
        if let Some(rest) = self.clock.eta.remaining(&self.clock.spent, self.clock.stage, done) {
            parts.push(format!("about {} left", roughly(rest)));
        }
        parts.join(" | ")
    }
}

impl Clock {
    fn tick(&mut self) {
        let now = Instant::now();
        self.spent.add(self.stage, now - self.counted);
        self.counted = now;
    }

    fn enter(&mut self, stage: Stage) {
        self.tick();
        self.stage = stage;
    }
}

fn about(task: Option<TaskId>, path: Option<&str>) -> String {
    match (task, path) {
        (Some(task), Some(path)) => format!(", {task} {}", clean(path)),
        (Some(task), None) => format!(", {task}"),
        (None, Some(path)) => format!(", {}", clean(path)),
        (None, None) => String::new(),
    }
}

/// Returns the run after one more event; none where that does not follow.
fn after(mut state: Run, event: &RunEvent) -> Option<Run> {
    state.handle(event).ok()?;
    Some(state)
}

fn running(code: RunningCode, changed: bool, task: Option<TaskId>) -> String {
    let what = match code {
        RunningCode::Check => "the check",
        RunningCode::AllTests => "all tests",
        RunningCode::SomeTests => "the nearest tests",
    };
    match (changed, task) {
        (false, _) => format!("running {what} on the base"),
        (true, None) => format!("running {what} on the patch"),
        (true, Some(task)) => format!("running {what} on {task}"),
    }
}

fn event_line(seq: u32, event: &RunEvent) -> String {
    json_line(&serde_json::json!({ "seq": seq, "event": event })) + "\n"
}

/// Returns a length of time that pretends no more than an estimate knows.
fn roughly(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{} s", (seconds / 10 + 1) * 10),
        seconds @ 60..600 => format!("{:.1} min", (seconds as f64 / 30.0).round() / 2.0),
        seconds => format!("{} min", seconds / 60),
    }
}
