//! Past runs: lists, one run, its calls, tags, deletion, files, costs.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{CallRow, CallText, DeleteTicket, ExportFormat, RunListFilter, RunPage, RunView, UsageDay};
use magis_core::{RepoId, RunId};
use std::path::PathBuf;
use tauri::State;

/// Returns a page of the list of runs.
#[tauri::command]
#[specta::specta]
pub async fn runs_page(app: State<'_, App>, filter: RunListFilter) -> Result<RunPage, Problem> {
    app.work(move |app| app.runs_page(filter)).await
}

/// Returns a run, all of it.
#[tauri::command]
#[specta::specta]
pub async fn run_view(app: State<'_, App>, run: RunId) -> Result<RunView, Problem> {
    app.work(move |app| app.run_view(run)).await
}

/// Returns the model calls of a run.
#[tauri::command]
#[specta::specta]
pub async fn calls(app: State<'_, App>, run: RunId) -> Result<Vec<CallRow>, Problem> {
    app.work(move |app| app.calls(run)).await
}

/// Returns one model call with its words.
#[tauri::command]
#[specta::specta]
pub async fn call_text(app: State<'_, App>, run: RunId, call: i64) -> Result<CallText, Problem> {
    app.work(move |app| app.call_text(run, call)).await
}

/// Gives a run exactly these tags.
#[tauri::command]
#[specta::specta]
pub async fn set_tags(app: State<'_, App>, run: RunId, tags: Vec<String>) -> Result<(), Problem> {
    app.work(move |app| app.set_tags(run, &tags)).await
}

/// Deletes a run; until the window closes it can be had back.
#[tauri::command]
#[specta::specta]
pub async fn delete_run(app: State<'_, App>, run: RunId) -> Result<DeleteTicket, Problem> {
    app.work(move |app| app.delete_run(run)).await
}

/// Puts a deleted run back.
#[tauri::command]
#[specta::specta]
pub async fn undo_delete(app: State<'_, App>, ticket: i64) -> Result<(), Problem> {
    app.work(move |app| app.undo_delete(ticket)).await
}

/// Writes a run to a file.
#[tauri::command]
#[specta::specta]
pub async fn export_run(app: State<'_, App>, run: RunId, format: ExportFormat, path: PathBuf) -> Result<(), Problem> {
    app.work(move |app| app.export_run(run, format, &path)).await
}

/// Takes in a run that was exported.
#[tauri::command]
#[specta::specta]
pub async fn import_run(app: State<'_, App>, path: PathBuf) -> Result<RunId, Problem> {
    app.work(move |app| app.import_run(&path)).await
}

/// Says which repository an imported run is for, so that it can be applied there.
#[tauri::command]
#[specta::specta]
pub async fn name_repository(app: State<'_, App>, run: RunId, repo: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.name_repository(run, repo)).await
}

/// Returns what all runs cost by day.
#[tauri::command]
#[specta::specta]
pub async fn usage(app: State<'_, App>) -> Result<Vec<UsageDay>, Problem> {
    app.work(App::usage).await
}

/// Returns a file of a run's base, as text.
#[tauri::command]
#[specta::specta]
pub async fn base_file(app: State<'_, App>, run: RunId, path: String) -> Result<String, Problem> {
    app.work(move |app| app.base_file(run, &path)).await
}
