//! What the window holds while it is open: the data folder, the runs it drives, the downloads it makes, the edited checks
//! it runs.
//!
//! It knows no window: news goes out through a [`Notifier`], and whoever rings it on is `shell`. What a feature does stands
//! under `work`.

mod driving;
mod watching;

pub(crate) use driving::{Active, Loaded, LoadedAs};
pub use driving::{Driving, Halt, ModelSource, Sink};
pub use watching::Watching;
pub(crate) use watching::{SummarisedWith, Summariser, Watched};

use crate::problem::Problem;
use crate::view::{Opening, WatchView};
use crate::{GIT_WORKER, SANDBOX_HELPER};
use magis_core::{CheckId, CommitId, RepoId, RunId};
use magis_engine::model::WorkerCommand;
use magis_engine::models::{Hub, HubListing};
use magis_engine::repository::FileEntry;
use magis_engine::repository::{Git, GitWorker};
use magis_engine::sandbox::HelperCommand;
use magis_engine::{DataFolder, Magis};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;

/// Something the window should look at anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppEvent {
    /// The list of repositories.
    Repositories,
    /// A run, or the list of runs.
    Runs(Option<RunId>),
    Models,
    /// What is remembered of a repository.
    Memory(RepoId),
    /// How the watched repository stands.
    Watch(Box<WatchView>),
    Settings,
    /// A run is over, or waits for the person because something went wrong.
    RunEnded(RunId),
    /// No run is left to work on.
    Idle,
}

/// Receives what the window is to be told of.
pub type Notifier = Arc<dyn Fn(AppEvent) + Send + Sync>;

/// Where the data lies, and how the engine's process is started.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    pub data: DataFolder,
    /// The command of the worker: this very program, started again.
    pub worker: WorkerCommand,
    /// The hub of models; none: the one that the environment names.
    pub hub: Option<Hub>,
    /// What the program was started with.
    pub opening: Option<Opening>,
}

impl LaunchOptions {
    /// Returns how repositories are read: by this very program, too.
    pub fn git(&self) -> Git {
        Git::in_workers(GitWorker {
            program: self.worker.program.clone(),
            args: vec![GIT_WORKER.into()],
        })
    }

    /// Returns the command of the sandbox's helper: this very program, too.
    pub fn sandbox_helper(&self) -> HelperCommand {
        HelperCommand {
            program: self.worker.program.clone(),
            args: vec![SANDBOX_HELPER.into()],
        }
    }
}

/// The window's state. Cheap to clone; the clones are one.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    launch: LaunchOptions,
    magis: RwLock<Result<Magis, Problem>>,
    driving: Driving,
    watching: Watching,
    notifier: Notifier,
    fetches: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
    hub_listings: Mutex<BTreeMap<String, HubListing>>,
    trials: Mutex<BTreeMap<(RunId, CheckId), CancellationToken>>,
    head_files: Mutex<BTreeMap<RepoId, HeadFiles>>,
    /// The report that was shown last.
    report: Mutex<Option<String>>,
    /// What an earlier program had begun in repositories, and what became of it when this one opened.
    broken_off: Mutex<Vec<Problem>>,
}

/// The files of a repository's last commit, as they were listed once.
#[derive(Clone)]
pub struct HeadFiles {
    pub commit: CommitId,
    pub files: Arc<Vec<FileEntry>>,
}

impl App {
    /// Returns the state of a window on the data folder of `launch`. Where that cannot be opened, every command says
    /// why.
    pub fn open(launch: LaunchOptions, models: ModelSource, notifier: Notifier) -> Self {
        let magis = open(&launch);
        let broken_off = magis.as_ref().map(settled).unwrap_or_default();
        Self {
            inner: Arc::new(Inner {
                launch,
                broken_off: Mutex::new(broken_off),
                magis: RwLock::new(magis),
                driving: Driving::new(models),
                watching: Watching::default(),
                notifier,
                fetches: Mutex::default(),
                hub_listings: Mutex::default(),
                trials: Mutex::default(),
                head_files: Mutex::default(),
                report: Mutex::default(),
            }),
        }
    }

    /// Returns the engine on the data folder, or why that cannot be opened.
    pub fn magis(&self) -> Result<Magis, Problem> {
        self.inner.magis.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the data folder again, because everything in it was erased or what was wrong may be mended.
    pub fn reopen(&self) -> Result<(), Problem> {
        let opened = open(&self.inner.launch);
        let outcome = opened.as_ref().map(|_| ()).map_err(Clone::clone);
        *self.broken_off() = opened.as_ref().map(settled).unwrap_or_default();
        *self.inner.magis.write().unwrap_or_else(PoisonError::into_inner) = opened;
        self.head_files().clear();
        outcome
    }

    /// Lets go of the data folder; every command says `problem` from here on, until it is opened again.
    pub fn close(&self, problem: Problem) {
        self.watching().end();
        *self.inner.magis.write().unwrap_or_else(PoisonError::into_inner) = Err(problem);
    }

    /// Returns what an earlier program had begun in repositories and did not end, and what became of it.
    pub fn broken_off(&self) -> MutexGuard<'_, Vec<Problem>> {
        self.inner.broken_off.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns where the data lies.
    pub fn launch(&self) -> &LaunchOptions {
        &self.inner.launch
    }

    /// Returns the runs that are worked on and those that wait.
    pub fn driving(&self) -> &Driving {
        &self.inner.driving
    }

    /// Returns the repository that is watched.
    pub fn watching(&self) -> &Watching {
        &self.inner.watching
    }

    /// What is remembered of a repository is another thing now: the watch counts it anew, and the window is told.
    pub fn memory_changed(&self, repo: RepoId) {
        self.watching().recount(repo);
        self.notify(AppEvent::Memory(repo));
    }

    /// Tells the window that something is another thing now.
    pub fn notify(&self, change: AppEvent) {
        (self.inner.notifier)(change);
    }

    /// Returns the downloads under way, each with the flag that stops it.
    pub fn fetches(&self) -> MutexGuard<'_, BTreeMap<String, Arc<AtomicBool>>> {
        self.inner.fetches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what repositories of the hub offer, as it was shown last: what is fetched is what was shown.
    pub fn hub_listings(&self) -> MutexGuard<'_, BTreeMap<String, HubListing>> {
        self.inner.hub_listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the edited checks that are being run, each with what stops it.
    pub fn trials(&self) -> MutexGuard<'_, BTreeMap<(RunId, CheckId), CancellationToken>> {
        self.inner.trials.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the lists of files that were made, by repository.
    pub fn head_files(&self) -> MutexGuard<'_, BTreeMap<RepoId, HeadFiles>> {
        self.inner.head_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the report that was shown last.
    pub fn report(&self) -> MutexGuard<'_, Option<String>> {
        self.inner.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that reads a disk where it holds up neither the window nor the runs.
    pub async fn work<T, F>(&self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|error| Err(broken_off(&error)))
    }
}

/// Returns a task of the runtime that ended without a result.
pub fn broken_off(error: &tokio::task::JoinError) -> Problem {
    Problem::new(
        "broken_off",
        format!("this could not be finished because of a defect of the program: {error}"),
        "Try again; if it happens again, save the report under Settings and attach it to an issue.",
    )
}

/// Brings to an end what an earlier program had begun in repositories.
fn settled(magis: &Magis) -> Vec<Problem> {
    match magis.settle_applications() {
        Ok(settled) => settled.iter().map(Problem::from).collect(),
        Err(error) => vec![error.into()],
    }
}

fn open(launch: &LaunchOptions) -> Result<Magis, Problem> {
    Ok(Magis::open(launch.data.clone(), launch.worker.clone(), launch.git())?.with_sandbox(launch.sandbox_helper()))
}
