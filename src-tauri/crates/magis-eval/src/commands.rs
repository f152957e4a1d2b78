//! What each command does, one file each, and what they share.

mod baseline;
mod engine;
mod environments;
mod kill;
mod locate;
mod memory;
mod mutate;
mod one_shot;
mod repair;
mod report;
mod reproduce;
mod score_tasks;
mod set;
mod solve;

use crate::args::{EvalCommand, ModelArgs, WhichArgs};
use anyhow::{Context as _, Result, bail};
use magis_core::{RunEvent, RunId};
use magis_engine::model::{Priority, WorkerCommand, WorkerModel, worker};
use magis_engine::{DataFolder, DriveEnd, EngineLimits, Magis, Progress};
use magis_eval::instances::{Instance, InstanceId, read_instances, spread};
use magis_llm::LanguageModel;
use magis_repo::{Git, GitWorker, serve_git};
use magis_sandbox::{HelperCommand, helper};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The exit code of a set that was stopped.
const STOPPED: u8 = 130;

/// Carries out a command.
pub fn run(command: EvalCommand) -> Result<ExitCode> {
    match command {
        EvalCommand::Solve(args) => solve::solve(&args),
        EvalCommand::Baseline(args) => baseline::baseline(&args),
        EvalCommand::Report(args) => report::report(&args),
        EvalCommand::Locate(args) => locate::locate(&args),
        EvalCommand::Memory(args) => memory::memory(&args),
        EvalCommand::ScoreTasks(args) => score_tasks::score_tasks(&args),
        EvalCommand::Kill(args) => kill::kill(&args),
        EvalCommand::Engine(args) => engine::engine(&args),
        EvalCommand::Reproduce(args) => reproduce::reproduce(&args),
        EvalCommand::Repair(args) => repair::repair(&args),
        EvalCommand::RepairTable(args) => repair::table(&args),
        EvalCommand::Mutate(args) => mutate::mutate(&args),
        EvalCommand::SandboxHelper { .. } => Ok(helper::serve()),
        EvalCommand::GitWorker => Ok(serve_git()),
        EvalCommand::Worker => serve_as_worker(),
    }
}

/// Returns the issues asked for, in the order of the set.
fn chosen(which: &WhichArgs) -> Result<Vec<Instance>> {
    let wanted = |id: &InstanceId| which.only.is_empty() || which.only.iter().any(|text| id.0.contains(text));
    let all: Vec<Instance> = read_instances(&which.instances)?
        .into_iter()
        .filter(|one| wanted(&one.id))
        .collect();
    let chosen = spread(all, which.every, which.limit);
    if chosen.is_empty() {
        bail!(
            "no issue of {} fits --only, --every and --limit",
            which.instances.display()
        );
    }
    Ok(chosen)
}

/// Opens a data folder; this very program is the engine's worker as well.
fn open(data: &Path, models: Option<&PathBuf>) -> Result<Magis> {
    let models = match models {
        Some(models) => models.clone(),
        None => DataFolder::locate(None)?.models().to_owned(),
    };
    let data = DataFolder::locate(Some(data.to_owned()))?.with_models(models);
    Ok(Magis::open(data, worker_command()?, git()?)?.with_sandbox(sandbox_helper()?))
}

/// Returns the model asked for, or the default one.
fn model_of(magis: &Magis, engine: &ModelArgs) -> String {
    engine
        .model
        .clone()
        .unwrap_or_else(|| magis.library().catalog().default_entry().id.to_string())
}

/// Loads a model that belongs to no run of the engine, and says with which context: the available memory may hold less than was asked for.
async fn load(magis: &Magis, model: &str, limits: &EngineLimits) -> Result<WorkerModel> {
    let loaded = magis.load_named(&magis.model_name(model)?, limits).await?;
    eprintln!("{model} is loaded with a context of {} tokens", loaded.card().context);
    Ok(loaded)
}

/// Drives a run until one of its events is far enough, or to its end.
async fn drive_until(
    magis: &Magis,
    run: RunId,
    model: Arc<dyn LanguageModel>,
    stop: &CancellationToken,
    is_enough: impl Fn(&RunEvent) -> bool + Send + 'static,
) -> Result<DriveEnd> {
    let stop_run = stop.child_token();
    let (sender, mut progress) = tokio::sync::mpsc::unbounded_channel();
    let halt = stop_run.clone();
    let watcher = tokio::spawn(async move {
        while let Some(progress) = progress.recv().await {
            if matches!(&progress, Progress::Event { event, .. } if is_enough(event)) {
                halt.cancel();
            }
        }
    });
    let end = magis.drive(run, model, stop_run, sender).await;
    watcher.abort();
    Ok(end?)
}

fn worker_command() -> Result<WorkerCommand> {
    let program = std::env::current_exe().context("finding this program's own file, which serves the model as well")?;
    Ok(WorkerCommand {
        program,
        args: vec!["worker".into()],
        priority: Priority::Normal,
    })
}

/// Returns how repositories are read: by this very program.
fn git() -> Result<Git> {
    Ok(Git::in_workers(GitWorker {
        program: std::env::current_exe()
            .context("finding this program's own file, which reads repositories as well")?,
        args: vec!["git-worker".into()],
    }))
}

/// Returns how the helper that runs commands is started.
fn sandbox_helper() -> Result<HelperCommand> {
    Ok(HelperCommand {
        program: std::env::current_exe().context("finding this program's own file, which runs commands as well")?,
        args: vec!["sandbox-helper".into()],
    })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("starting threads")
}

/// Returns a token that the first Ctrl-C cancels; the second one ends the program at once.
fn stop_on_interrupt() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            eprintln!("stopping; what is done is saved");
            told.cancel();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(STOPPED.into());
            }
        }
    });
    stop
}

/// Returns the engine's process. Ctrl-C reaches it too, because it belongs to the same terminal; its parent decides
/// when it ends.
fn serve_as_worker() -> Result<ExitCode> {
    let runtime = runtime()?;
    #[cfg(unix)]
    let _ignored = {
        use tokio::signal::unix::{SignalKind, signal};
        let _guard = runtime.enter();
        signal(SignalKind::interrupt()).context("listening for Ctrl-C")?
    };
    let code = worker::run(std::io::BufReader::new(std::io::stdin()), std::io::stdout().lock());
    drop(runtime);
    Ok(code)
}
