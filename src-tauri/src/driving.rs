//! The runs this window works on: one at a time, the others in their order; and the model that is loaded for them.
//!
//! How a run is carried out is the engine's; what of it is shown is `follow`'s. A paused run leaves its model loaded, a
//! stopped one frees it, and so do some minutes without work.

use crate::awake::Awake;
use crate::follow;
use crate::problem::Problem;
use crate::state::{Active, App, AppEvent, Driving, Halt, Loaded, LoadedAs, ModelSource, broken_off};
use crate::view::RunUpdate;
use magis_core::RunId;
use magis_engine::model::LanguageModel;
use magis_engine::records::StoredStatus;
use magis_engine::{DriveEnd, LoadedModel, Magis};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// How long a model stays loaded while nothing is asked of it.
const IDLE: Duration = Duration::from_mins(5);
/// How long a worker may take to end by itself: it keeps prompts for the next one.
const GRACE: Duration = Duration::from_secs(2);

impl Driving {
    /// Puts a run at the end of the queue. Has to be called within the runtime.
    pub fn enqueue(app: &App, run: RunId) {
        let driving = app.driving();
        if driving.drives(run) {
            return;
        }
        let begins = {
            let mut state = driving.state();
            state.waiting.push_back(run);
            !std::mem::replace(&mut state.is_worked_off, true)
        };
        app.notify(AppEvent::Runs(Some(run)));
        if begins {
            tokio::spawn(work_off(app.clone()));
        }
    }

    /// Halts a run: the one that is worked on at its next safe point, one that waits at once. One that this window does
    /// not drive is left as it is.
    pub fn halt(&self, app: &App, run: RunId, how: Halt) -> Result<(), Problem> {
        let waited = {
            let mut state = self.state();
            if let Some(active) = state.active.as_mut().filter(|active| active.run == run) {
                active.halt = Some(how);
                active.stop.cancel();
            }
            let before = state.waiting.len();
            state.waiting.retain(|queued| *queued != run);
            state.waiting.len() < before
        };
        if waited {
            app.magis()?.set_run_status(run, StoredStatus::Paused)?;
            self.dismiss(app, run);
        }
        Ok(())
    }

    /// Halts what is worked on and gives the queue up. Nobody said of the runs in it that they should halt, so they stay as
    /// they are, and the next window shows them as waiting.
    pub fn halt_all(&self, app: &App, how: Halt) {
        let waited = {
            let mut state = self.state();
            if let Some(active) = &mut state.active {
                active.halt = Some(how);
                active.stop.cancel();
            }
            std::mem::take(&mut state.waiting)
        };
        for run in waited {
            self.dismiss(app, run);
        }
    }

    /// Tells that a run is no longer in the queue.
    fn dismiss(&self, app: &App, run: RunId) {
        self.tell(run, &RunUpdate::Stopped);
        self.forget_followers(run);
        app.notify(AppEvent::Runs(Some(run)));
    }

    /// Returns the model of this name, loaded as the settings say; the one that is loaded already where it is that one.
    pub async fn model(&self, app: &App, magis: &Magis, name: &str) -> Result<Arc<dyn LanguageModel>, Problem> {
        self.state().uses += 1;
        if let ModelSource::Given(model) = &self.models {
            return Ok(Arc::clone(model));
        }
        let wanted = LoadedAs {
            name: name.to_owned(),
            limits: app.settings()?.limits(),
        };
        let mut slot = self.loading.lock().await;
        if let Some(loaded) = slot.as_ref().filter(|loaded| loaded.wanted == wanted) {
            return Ok(Arc::clone(&loaded.loaded.model));
        }
        release(slot.take()).await;
        app.watching().give_way().await;
        let loaded = match magis.load(name, &wanted.limits).await {
            Ok(loaded) => loaded,
            Err(error) => {
                app.watching().go_on();
                return Err(error.into());
            }
        };
        let model = Arc::clone(&loaded.model);
        // A database that cannot be read is no reason not to use a model that is loaded.
        if magis.is_new(&loaded).is_ok_and(|is_new| is_new) {
            try_in_background(app, magis, &loaded);
        }
        *slot = Some(Loaded { wanted, loaded });
        Ok(model)
    }

    /// Frees the model that is loaded, with its memory.
    pub async fn free(&self, app: &App) {
        let mut slot = self.loading.lock().await;
        release(slot.take()).await;
        // As long as the slot is held nobody loads another one meanwhile.
        app.watching().go_on();
    }

    /// Lets describing in advance go on, unless a model is loaded: the loading of one was broken off.
    async fn give_machine_back(&self, app: &App) {
        let slot = self.loading.lock().await;
        if slot.is_none() {
            app.watching().go_on();
        }
    }

    /// Frees the model when nothing is asked of it for some minutes.
    pub fn free_when_idle(app: &App) {
        let before = app.driving().state().uses;
        let app = app.clone();
        tokio::spawn(async move {
            tokio::time::sleep(IDLE).await;
            let driving = app.driving();
            if driving.state().uses == before && driving.driven().is_empty() {
                driving.free(&app).await;
            }
        });
    }
}

/// Tries what a model can do at its first use, whenever nothing else is asked of it.
fn try_in_background(app: &App, magis: &Magis, loaded: &LoadedModel) {
    let Some(model) = loaded.in_background() else { return };
    let (app, magis) = (app.clone(), magis.clone());
    tokio::spawn(async move {
        // Where it was freed meanwhile, it is tried when it is used next.
        if magis.try_abilities(&*model, &mut |_, _| ()).await.is_ok() {
            app.notify(AppEvent::Models);
        }
    });
}

async fn release(loaded: Option<Loaded>) {
    if let Some(held) = loaded {
        // A worker is killed where it does not end by itself in time.
        let _ = tokio::time::timeout(GRACE, held.loaded.shutdown()).await;
    }
}

/// Works the queue off, one run after the other.
async fn work_off(app: App) {
    let awake = Awake::keep().await;
    let driving = app.driving();
    let mut last = None;
    loop {
        let stop = CancellationToken::new();
        let run = {
            let mut state = driving.state();
            let Some(run) = state.waiting.pop_front() else {
                state.is_worked_off = false;
                break;
            };
            state.active = Some(Active {
                run,
                stop: stop.clone(),
                halt: None,
                loading: None,
            });
            run
        };
        app.notify(AppEvent::Runs(Some(run)));
        let end = carry_out(&app, run, &stop).await;
        last = driving.state().active.take().and_then(|active| active.halt);
        finish(&app, run, end, &stop);
        if last == Some(Halt::Stop) {
            driving.free(&app).await;
        }
    }
    drop(awake);
    if last.is_none() {
        Driving::free_when_idle(&app);
    }
    app.notify(AppEvent::Idle);
}

/// Loads the model and drives the run to its end or until it is halted.
async fn carry_out(app: &App, run: RunId, stop: &CancellationToken) -> Result<DriveEnd, Problem> {
    let magis = app.magis()?;
    let driving = app.driving();
    let name = magis.state(run)?.request().model.clone();
    driving.set_loading(Some(name.clone()));
    driving.tell(run, &RunUpdate::Loading { model: name.clone() });
    let model = tokio::select! {
        model = driving.model(app, &magis, &name) => model?,
        () = stop.cancelled() => {
            driving.give_machine_back(app).await;
            return Ok(DriveEnd::Stopped);
        }
    };
    driving.set_loading(None);
    let (sender, progress) = unbounded_channel();
    let driven = {
        let (magis, stop) = (magis.clone(), stop.clone());
        tokio::spawn(async move { magis.drive(run, model, stop, sender).await })
    };
    follow::follow(app, &magis, run, progress).await;
    Ok(driven.await.map_err(|error| broken_off(&error))??)
}

/// Says how it went, to those who follow and to the lists.
fn finish(app: &App, run: RunId, end: Result<DriveEnd, Problem>, stop: &CancellationToken) {
    let driving = app.driving();
    if !matches!(end, Ok(DriveEnd::Ended(_))) {
        settle(app, run);
    }
    if driving.is_followed(run)
        && let Ok(view) = app.run_view(run)
    {
        driving.tell(run, &RunUpdate::View { view: Box::new(view) });
    }
    let waits_for_person = !stop.is_cancelled();
    driving.tell(
        run,
        &match end {
            Ok(DriveEnd::Ended(_)) => RunUpdate::Ended,
            Ok(DriveEnd::Stopped) => RunUpdate::Stopped,
            Err(problem) => RunUpdate::Problem { problem },
        },
    );
    driving.forget_followers(run);
    app.notify(AppEvent::Runs(Some(run)));
    if waits_for_person {
        app.notify(AppEvent::RunEnded(run));
    }
}

/// A run that was halted before its first step still counts as waiting; it is not any more.
fn settle(app: &App, run: RunId) {
    let Ok(magis) = app.magis() else { return };
    if !matches!(magis.driven_elsewhere(run), Ok(None)) {
        return;
    }
    let stands = magis.run(run).map(|found| found.entry.status);
    if matches!(stands, Ok(StoredStatus::Queued | StoredStatus::Running)) {
        // Where this fails, the next start finds the run without a driver and marks it interrupted.
        drop(magis.set_run_status(run, StoredStatus::Paused));
    }
}
