//! Drives a run and shows it while it happens: a transcript that grows, and one status line below it on a terminal.
//!
//! Stopping is asked for here; how a run stops and what is saved is the engine's.

mod view;

use super::{Place, runtime};
use crate::args::{EngineArgs, FollowArgs};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::span;
use crate::screen::tell;
use magis_core::{RunId, RunOutcome};
use magis_engine::{DriveEnd, EngineError, LoadedModel, Magis};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use view::View;

/// How often the status line is written anew.
const BEAT: Duration = Duration::from_millis(250);
/// How long the model's process may take to end when everything is over: it keeps prompts for the next one.
const GRACE: Duration = Duration::from_secs(2);

/// Drives `run` to its end, or until it is stopped, and says how it ended.
pub fn follow(
    place: &Place,
    magis: &Magis,
    run: RunId,
    notes: &[String],
    engine: EngineArgs,
    form: FollowArgs,
) -> Result<ExitStatus, Failure> {
    if form.log_contents {
        magis.log_contents(run);
    }
    if magis.state(run)?.outcome().is_some() {
        return Err(EngineError::RunOver(run).into());
    }
    magis.repository_id_of(run)?;
    let mut view = View::new(place, magis, run, form)?;
    view.begin(magis, notes)?;
    let runtime = runtime()?;
    let end = runtime.block_on(drive(magis, run, engine, &mut view));
    runtime.shutdown_timeout(GRACE);
    view.clear();
    let resume = place.resume_command(run);
    match end {
        Ok(DriveEnd::Ended(outcome)) => {
            view.end(place, magis, &outcome)?;
            Ok(match outcome {
                RunOutcome::Approved => ExitStatus::Success,
                RunOutcome::NotApproved => ExitStatus::NotApproved,
                RunOutcome::NoChange { .. } => ExitStatus::NoChange,
                RunOutcome::Failed { .. } => ExitStatus::Error,
            })
        }
        Ok(DriveEnd::Stopped) => {
            tell(&format!("Stopped; everything so far is saved. To go on: {resume}"));
            Ok(ExitStatus::Stopped)
        }
        Err(error) => Err(match Failure::from(error) {
            Failure::Told { sentence, remedy, exit } => {
                let remedy = if remedy.is_empty() {
                    String::new()
                } else {
                    format!("{remedy}; then ")
                };
                Failure::Told {
                    sentence,
                    remedy: format!("{remedy}go on with '{resume}'"),
                    exit,
                }
            }
            Failure::OutputClosed => Failure::OutputClosed,
        }),
    }
}

async fn drive(magis: &Magis, run: RunId, engine: EngineArgs, view: &mut View) -> Result<DriveEnd, EngineError> {
    let stop = CancellationToken::new();
    let listener = tokio::spawn(listen(stop.clone()));
    let Some(model) = load(magis, run, engine, view, &stop).await? else {
        return Ok(DriveEnd::Stopped);
    };
    let (sender, mut progress) = unbounded_channel();
    let mut driven = {
        let (magis, model, stop) = (magis.clone(), Arc::clone(&model.model), stop.clone());
        tokio::spawn(async move { magis.drive(run, model, stop, sender).await })
    };
    let mut beat = tokio::time::interval(BEAT);
    // The channel closes when the drive ends, after its last message.
    loop {
        tokio::select! {
            message = progress.recv() => match message {
                // Where nobody reads any more, what there is is saved, as with Ctrl-C.
                Some(message) => if view.take(message).is_err() {
                    stop.cancel();
                },
                None => break,
            },
            _ = beat.tick() => {
                if stop.is_cancelled() { view.say("stopping; what is done is saved") } else { view.refresh() }
            }
        }
    }
    let end = (&mut driven).await;
    listener.abort();
    if let Ok(Ok(_)) = end {
        // It is killed where it does not end by itself in time; a run that was stopped goes on sooner with what it keeps.
        let _ = tokio::time::timeout(GRACE, model.shutdown()).await;
    }
    match end {
        Ok(end) => end,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Loads the model; none when that was stopped.
async fn load(
    magis: &Magis,
    run: RunId,
    engine: EngineArgs,
    view: &View,
    stop: &CancellationToken,
) -> Result<Option<LoadedModel>, EngineError> {
    let start = Instant::now();
    let loading = {
        let magis = magis.clone();
        tokio::spawn(async move { magis.load_model(run, &engine.limits()).await })
    };
    let loaded = unless_stopped(loading, stop, || {
        view.say(&format!("loading the model, {}", span(start.elapsed())));
    });
    let Some(loaded) = loaded.await else { return Ok(None) };
    let loaded = loaded?;
    if magis.is_new(&loaded)? {
        let done = Arc::new(AtomicUsize::new(0));
        let trying = {
            let (magis, model, done) = (magis.clone(), Arc::clone(&loaded.model), Arc::clone(&done));
            tokio::spawn(async move {
                let mut tell = |now, _| done.store(now, Ordering::Relaxed);
                magis.try_abilities(&*model, &mut tell).await
            })
        };
        let tried = unless_stopped(trying, stop, || {
            let done = done.load(Ordering::Relaxed);
            view.say(&format!(
                "first use of this model: {done} questions that show what it can do"
            ));
        });
        match tried.await {
            Some(Ok(_)) => {}
            Some(Err(error)) => tell(&format!("What the model can do could not be tried: {error}")),
            None => return Ok(None),
        }
    }
    Ok(Some(loaded))
}

/// Waits for a task, and shows that it goes on; none when it was stopped.
async fn unless_stopped<T>(mut task: JoinHandle<T>, stop: &CancellationToken, show: impl Fn()) -> Option<T> {
    let mut beat = tokio::time::interval(BEAT);
    loop {
        tokio::select! {
            ended = &mut task => return match ended {
                Ok(ended) => Some(ended),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            () = stop.cancelled() => {
                task.abort();
                return None;
            }
            _ = beat.tick() => show(),
        }
    }
}

/// Turns Ctrl-C into a stop, and a second one into the end of the program: all that was recorded is on the disk by then.
pub(super) async fn listen(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            again_or_first(&stop);
        }
    }
    #[cfg(not(unix))]
    while tokio::signal::ctrl_c().await.is_ok() {
        again_or_first(&stop);
    }
}

fn again_or_first(stop: &CancellationToken) {
    if stop.is_cancelled() {
        std::process::exit(ExitStatus::Stopped as i32);
    }
    stop.cancel();
}
