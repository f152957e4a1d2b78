//! The summary memory.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{MemoryExportView, MemoryImportView, MemoryReport, SummaryView};
use magis_core::RepoId;
use std::path::PathBuf;
use tauri::State;

/// Returns what is remembered of a repository.
#[tauri::command]
#[specta::specta]
pub async fn memory_report(app: State<'_, App>, repo: RepoId) -> Result<MemoryReport, Problem> {
    app.work(move |app| app.memory_report(repo)).await
}

/// Returns the summary of a file.
#[tauri::command]
#[specta::specta]
pub async fn summary(app: State<'_, App>, repo: RepoId, path: String) -> Result<Option<SummaryView>, Problem> {
    app.work(move |app| app.summary(repo, &path)).await
}

/// Puts a person's words in place of a model's.
#[tauri::command]
#[specta::specta]
pub async fn correct_summary(
    app: State<'_, App>,
    repo: RepoId,
    path: String,
    text: String,
) -> Result<SummaryView, Problem> {
    app.work(move |app| app.correct_summary(repo, &path, &text)).await
}

/// Drops every summary of a file.
#[tauri::command]
#[specta::specta]
pub async fn drop_summary(app: State<'_, App>, repo: RepoId, path: String) -> Result<(), Problem> {
    app.work(move |app| app.drop_summary(repo, &path)).await
}

/// Makes the summary of a file anew.
#[tauri::command]
#[specta::specta]
pub async fn renew_summary(app: State<'_, App>, repo: RepoId, path: String) -> Result<SummaryView, Problem> {
    app.renew_summary(repo, &path).await
}

/// Gives the budget of describing files in advance again.
#[tauri::command]
#[specta::specta]
pub async fn renew_summarisation_budget(app: State<'_, App>) -> Result<(), Problem> {
    app.renew_summarisation_budget();
    Ok(())
}

/// Writes the memory of a repository into a file.
#[tauri::command]
#[specta::specta]
pub async fn export_memory(app: State<'_, App>, repo: RepoId, file: PathBuf) -> Result<MemoryExportView, Problem> {
    app.work(move |app| app.export_memory(repo, &file)).await
}

/// Takes a memory file into the memory of a repository.
#[tauri::command]
#[specta::specta]
pub async fn import_memory(app: State<'_, App>, repo: RepoId, file: PathBuf) -> Result<MemoryImportView, Problem> {
    app.work(move |app| app.import_memory(repo, &file)).await
}
