//! Beginning, halting, steering and following runs.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::{App, Halt};
use crate::view::{Estimate, RunRow, RunUpdate, SolveForm, SteeringRequest};
use magis_core::{AttemptNumber, RepoId, Round, RunId, Stage, TaskId};
use tauri::State;
use tauri::ipc::Channel;

/// Returns what was typed for the next run of a repository.
#[tauri::command]
#[specta::specta]
pub async fn draft(app: State<'_, App>, repo: RepoId) -> Result<Option<SolveForm>, Problem> {
    app.work(move |app| app.draft(repo)).await
}

/// Keeps what was typed.
#[tauri::command]
#[specta::specta]
pub async fn save_draft(app: State<'_, App>, draft: SolveForm) -> Result<(), Problem> {
    app.work(move |app| app.save_draft(&draft)).await
}

/// Returns how long such a run takes on this machine.
#[tauri::command]
#[specta::specta]
pub async fn estimate(app: State<'_, App>, form: SolveForm) -> Result<Estimate, Problem> {
    app.work(move |app| app.estimate(&form)).await
}

/// Begins a run with what the form says.
#[tauri::command]
#[specta::specta]
pub async fn start_run(app: State<'_, App>, form: SolveForm) -> Result<RunId, Problem> {
    app.start_run(form).await
}

/// Goes on with a run.
#[tauri::command]
#[specta::specta]
pub async fn resume_run(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.resume_run(run).await
}

/// Takes a run from another process that hangs.
#[tauri::command]
#[specta::specta]
pub async fn break_lease(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.work(move |app| app.break_lease(run)).await
}

/// Pauses a run; the model stays loaded.
#[tauri::command]
#[specta::specta]
pub async fn pause_run(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.halt_run(run, Halt::Pause).await
}

/// Stops a run; the model is freed. It can be resumed.
#[tauri::command]
#[specta::specta]
pub async fn stop_run(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.halt_run(run, Halt::Stop).await
}

/// Intervenes in a run that is not over.
#[tauri::command]
#[specta::specta]
pub async fn steer(app: State<'_, App>, run: RunId, request: SteeringRequest) -> Result<(), Problem> {
    app.work(move |app| app.steer(run, request)).await
}

/// Runs again from a stage; the old run stays.
#[tauri::command]
#[specta::specta]
pub async fn rerun(
    app: State<'_, App>,
    run: RunId,
    from: Stage,
    model: Option<String>,
    seed: Option<u64>,
) -> Result<RunId, Problem> {
    app.rerun(run, from, model, seed).await
}

/// Takes another attempt of a run that is over, in a new run; the old one stays.
#[tauri::command]
#[specta::specta]
pub async fn rerun_taking(
    app: State<'_, App>,
    run: RunId,
    task: TaskId,
    round: Round,
    attempt: AttemptNumber,
) -> Result<RunId, Problem> {
    app.rerun_taking(run, task, round, attempt).await
}

/// Sends what happens in a run, beginning with how it stands, until it halts.
#[tauri::command]
#[specta::specta]
pub async fn follow_run(app: State<'_, App>, run: RunId, channel: Channel<RunUpdate>) -> Result<(), Problem> {
    let sink = Box::new(move |news| channel.send(news).is_ok());
    app.work(move |app| {
        app.follow_run(run, sink);
        Ok(())
    })
    .await
}

/// Sends nothing more of a run.
#[tauri::command]
#[specta::specta]
pub async fn unfollow_run(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.driving().drop_follower(run);
    Ok(())
}

/// Returns the runs that are worked on here or wait.
#[tauri::command]
#[specta::specta]
pub async fn running_runs(app: State<'_, App>) -> Result<Vec<RunRow>, Problem> {
    app.work(App::running_runs).await
}
