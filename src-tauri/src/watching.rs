//! The current repository, watched: its index and what memory knows of it follow every change, and files are described in
//! advance while nobody needs the machine, where a person wants that.
//!
//! One repository at a time, the one that the window shows. How it is watched is the engine's business.

use crate::problem::{Problem, named};
use crate::state::{App, AppEvent, ModelSource, SummarisedWith, Summariser, Watched, Watching};
use crate::view::{MemoryCounts, Summarising, UnreadableFiles, WaitReason, WatchView, WatchedIndex};
use magis_core::{RepoId, RepoPath};
use magis_engine::repository::{WatchOptions, WhyPolling};
use magis_engine::{IdleReason, MachineUse, SummarisationBudget, SummarisationModel, WatchEvent};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How often the window is told.
const BEAT: Duration = Duration::from_millis(250);
/// How often the lists that lie around it are asked for anew: each is a look at every repository.
const LISTS: Duration = Duration::from_secs(2);
/// The repository has to be quiet for so long before files are described.
const QUIET: Duration = Duration::from_secs(5);
/// A model that describes is gone after so long at the most, once somebody else needs the machine.
const GRACE: Duration = Duration::from_secs(2);

/// The most files that cannot be read and are named; the rest are counted.
const NAMED: usize = 3;

impl Watching {
    /// Watches a repository and none beside it; how it stands. Has to be called within the runtime.
    pub fn begin(app: &App, repo: RepoId) -> Result<WatchView, Problem> {
        let watching = app.watching();
        let mut watched = loop {
            let mut watched = watching.watched();
            match watched.as_ref() {
                None => break watched,
                Some(known) if known.view.repo == repo => return Ok(known.view.clone()),
                Some(_) => {
                    let before = watched.take();
                    // Its last writing is waited for, and nobody has to wait along.
                    drop(watched);
                    end(before);
                }
            }
        };
        let (sender, news) = unbounded_channel();
        let known = watched.insert(Watched {
            watch: app.magis()?.watch(repo, WatchOptions::default(), sender)?,
            view: WatchView {
                repo,
                polling: None,
                index: WatchedIndex::Looking,
                unreadable: None,
                memory: None,
                summarising: Summarising::Off,
                described: 0,
                spent: 0,
                problem: None,
            },
            budget: SummarisationBudget::default(),
            summariser: None,
        });
        tokio::spawn(hear(app.clone(), repo, news));
        steer(app, known)?;
        Ok(known.view.clone())
    }

    /// Watches nothing any more, and waits until nothing is written either.
    pub fn end(&self) {
        let ended = self.watched().take();
        end(ended);
    }

    /// As [`Watching::end`], where it is this repository that is watched.
    pub fn end_of(&self, repo: RepoId) {
        let ended = self.watched().take_if(|known| known.view.repo == repo);
        end(ended);
    }

    /// Describes files in advance, or does not, as the settings say. Has to be called within the runtime.
    pub fn obey(app: &App) -> Result<(), Problem> {
        match app.watching().watched().as_mut() {
            Some(known) => steer(app, known),
            None => Ok(()),
        }
    }

    /// Gives the budget of describing in advance again, as a whole one.
    pub fn renew_budget(app: &App) {
        if let Some(known) = app.watching().watched().as_mut() {
            give(known, known.budget);
            app.notify(AppEvent::Watch(Box::new(known.view.clone())));
        }
    }

    /// Counts anew how much memory knows of this repository, where it is watched.
    pub fn recount(&self, repo: RepoId) {
        if let Some(known) = self.watched().as_ref().filter(|known| known.view.repo == repo) {
            known.watch.recount();
        }
    }

    /// Lets go of the machine: a model is about to be loaded. Comes back when the other one is gone.
    pub async fn give_way(&self) {
        self.gives_way.store(true, Ordering::Relaxed);
        if let Some(summariser) = self.watched().as_ref().and_then(|known| known.summariser.as_ref()) {
            summariser.switch.give_way();
        }
        let end = Instant::now() + GRACE;
        while self.holds_a_model() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns whether describing in advance has a model in memory, or loads one.
    pub fn holds_a_model(&self) -> bool {
        let watched = self.watched();
        watched.as_ref().map(|known| known.watch.state().machine) == Some(MachineUse::Model)
    }

    /// Nobody else needs the machine any more.
    pub fn go_on(&self) {
        self.gives_way.store(false, Ordering::Relaxed);
        if let Some(summariser) = self.watched().as_ref().and_then(|known| known.summariser.as_ref()) {
            summariser.switch.go_on();
        }
    }
}

/// Brings the describing in advance into line with the settings, and tells the window.
fn steer(app: &App, known: &mut Watched) -> Result<(), Problem> {
    let settings = app.settings()?;
    let wanted = SummarisedWith {
        model: app.default_model()?,
        limits: settings.limits(),
    };
    let budget = SummarisationBudget {
        tokens: settings.summarise_tokens,
        minutes: settings.summarise_minutes,
    };
    if known.budget != budget {
        give(known, budget);
    }
    if !settings.summarise_when_idle {
        known.summariser = None;
        known.view.summarising = Summarising::Off;
    } else if known
        .summariser
        .as_ref()
        .is_none_or(|summariser| summariser.wanted != wanted)
    {
        let model = match app.driving().models() {
            ModelSource::Given(model) => SummarisationModel::Loaded(Arc::clone(model)),
            ModelSource::Worker => SummarisationModel::Named {
                name: wanted.model.clone(),
                limits: wanted.limits,
            },
        };
        // The one before ends first: there is never a second model.
        known.summariser = None;
        let switch = known.watch.summarise_in_background(model, QUIET);
        if app.watching().gives_way.load(Ordering::Relaxed) {
            switch.give_way();
        }
        known.view.summarising = waiting(None, None);
        known.summariser = Some(Summariser {
            wanted,
            switch,
            problem: None,
        });
    }
    app.notify(AppEvent::Watch(Box::new(known.view.clone())));
    Ok(())
}

/// Gives a budget: nothing of it is spent yet.
fn give(known: &mut Watched, budget: SummarisationBudget) {
    known.budget = budget;
    known.watch.give_budget(budget);
    known.view.spent = 0;
}

fn waiting(why: Option<WaitReason>, problem: Option<Problem>) -> Summarising {
    Summarising::Waiting { why, problem }
}

fn end(ended: Option<Watched>) {
    if let Some(Watched { watch, .. }) = ended {
        watch.end();
    }
}

/// What the window asks for anew when it is time.
#[derive(Default)]
struct Pending {
    view: bool,
    repositories: bool,
    memory: bool,
}

/// Takes in what happens to the repository, as long as it is the current one, and tells the window of it.
async fn hear(app: App, repo: RepoId, mut news: UnboundedReceiver<WatchEvent>) {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut pending = Pending::default();
    let mut lists: Option<Instant> = None;
    loop {
        tokio::select! {
            told = news.recv() => {
                // The channel closes when the watch ends.
                let Some(told) = told else { return };
                let mut watched = app.watching().watched();
                let Some(known) = watched.as_mut().filter(|known| known.view.repo == repo) else { return };
                take(known, told, &mut pending);
            }
            _ = beat.tick() => {
                if std::mem::take(&mut pending.view) {
                    let view = app.watching().watched().as_ref().map(|known| known.view.clone());
                    if let Some(view) = view.filter(|view| view.repo == repo) {
                        app.notify(AppEvent::Watch(Box::new(view)));
                    }
                }
                if lists.is_none_or(|last| last.elapsed() >= LISTS) && (pending.repositories || pending.memory) {
                    lists = Some(Instant::now());
                    if std::mem::take(&mut pending.repositories) {
                        app.notify(AppEvent::Repositories);
                    }
                    if std::mem::take(&mut pending.memory) {
                        app.notify(AppEvent::Memory(repo));
                    }
                }
            }
        }
    }
}

fn take(known: &mut Watched, news: WatchEvent, pending: &mut Pending) {
    pending.view = true;
    let Watched { view, summariser, .. } = known;
    match news {
        WatchEvent::Watching { .. } => view.polling = None,
        WatchEvent::Polling { why } => view.polling = Some(polling(&why)),
        WatchEvent::Changed { .. } => pending.repositories = true,
        WatchEvent::Indexing { done, total } => {
            view.index = WatchedIndex::Reading {
                done: count(done),
                total: count(total),
            };
        }
        WatchEvent::Indexed { files, took_ms, .. } => {
            view.index = WatchedIndex::Right {
                files: count(files),
                took_ms,
            };
            view.problem = None;
            pending.repositories = true;
        }
        WatchEvent::Memory {
            fresh,
            stale,
            none,
            needs_none,
        } => {
            let counts = Some(MemoryCounts {
                fresh,
                stale,
                none,
                needs_none,
            });
            pending.memory |= view.memory.is_some() && view.memory != counts;
            view.memory = counts;
        }
        WatchEvent::Summarising { path } => {
            view.summarising = Summarising::Describing { path: path.to_string() };
        }
        WatchEvent::Summarised { spent, .. } => {
            view.described += 1;
            view.spent = spent;
            if let Some(summariser) = summariser {
                summariser.problem = None;
            }
        }
        WatchEvent::SummarisingFailed(failure) => {
            if let Some(summariser) = summariser {
                summariser.problem = Some((&*failure.error).into());
            }
        }
        WatchEvent::Idle { why } => {
            if let Some(summariser) = summariser {
                let problem = summariser.problem.clone().filter(|_| why == IdleReason::Failed);
                view.summarising = waiting(Some(why.into()), problem);
            }
        }
        WatchEvent::Unreadable { files } => view.unreadable = unreadable(&files),
        // The file stays in the lists, without a description.
        WatchEvent::NotSummarised { .. } => {}
        WatchEvent::Failed(failure) => view.problem = Some((&*failure.error).into()),
    }
}

/// Returns the first of them in words; none where every file can be read.
fn unreadable(files: &[RepoPath]) -> Option<UnreadableFiles> {
    (!files.is_empty()).then(|| UnreadableFiles {
        count: count(files.len()),
        first: files.iter().take(NAMED).map(ToString::to_string).collect(),
    })
}

fn polling(why: &WhyPolling) -> Problem {
    let code = match why {
        WhyPolling::TooManyFolders { .. } => "watch_folders",
        WhyPolling::TooManyWatchers { .. } => "watch_programs",
        WhyPolling::RootGone => "watch_gone",
        WhyPolling::Unreadable { .. } => "watch_unread",
        WhyPolling::System { .. } => "watch_system",
    };
    let to = why.enough().map_or_else(Default::default, |to| named([("to", to)]));
    Problem::new(code, why.to_string(), why.remedy()).naming(to)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
