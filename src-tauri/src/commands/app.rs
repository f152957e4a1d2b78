//! The program itself: what it is, its settings, its data, and the answer to closing it.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::closing::Closing;
use crate::problem::Problem;
use crate::state::App;
use crate::view::{AppInfo, CloseAnswer, DoctorLine, FetchRecord, Settings};
use crate::work::read_given;
use magis_core::RepoId;
use std::path::PathBuf;
use tauri::State;

/// Returns the program and the machine.
#[tauri::command]
#[specta::specta]
pub async fn app_info(app: State<'_, App>) -> Result<AppInfo, Problem> {
    app.work(App::info).await
}

/// Returns what a person set.
#[tauri::command]
#[specta::specta]
pub async fn settings(app: State<'_, App>) -> Result<Settings, Problem> {
    app.work(App::settings).await
}

/// Keeps what a person set.
#[tauri::command]
#[specta::specta]
pub async fn put_settings(app: State<'_, App>, settings: Settings) -> Result<(), Problem> {
    app.work(move |app| app.put_settings(settings)).await
}

/// Returns everything that was ever fetched from a network, the last first.
#[tauri::command]
#[specta::specta]
pub async fn fetched(app: State<'_, App>) -> Result<Vec<FetchRecord>, Problem> {
    app.work(App::fetched).await
}

/// Puts together a report without code, issues, paths and names, and keeps it to be saved.
#[tauri::command]
#[specta::specta]
pub async fn make_report(app: State<'_, App>) -> Result<String, Problem> {
    app.work(App::make_report).await
}

/// Writes the report that was put together last into a file.
#[tauri::command]
#[specta::specta]
pub async fn save_report(app: State<'_, App>, path: PathBuf) -> Result<(), Problem> {
    app.work(move |app| app.save_report(&path)).await
}

/// Erases everything in the data folder; `confirmation` is the word that a person typed.
#[tauri::command]
#[specta::specta]
pub async fn erase_all_data(app: State<'_, App>, confirmation: String) -> Result<Vec<String>, Problem> {
    app.erase_all(&confirmation).await
}

/// Opens a file at a line in the person's editor.
#[tauri::command]
#[specta::specta]
pub async fn open_in_editor(app: State<'_, App>, repo: RepoId, path: String, line: Option<u32>) -> Result<(), Problem> {
    app.work(move |app| app.open_in_editor(repo, &path, line.unwrap_or(1)))
        .await
}

/// Returns the text of a file that the person dropped or picked: an issue, a failing log.
#[tauri::command]
#[specta::specta]
pub async fn read_text(app: State<'_, App>, path: PathBuf) -> Result<String, Problem> {
    app.work(move |_| read_given(&path)).await
}

/// Looks at what a run needs.
#[tauri::command]
#[specta::specta]
pub async fn doctor(app: State<'_, App>) -> Result<Vec<DoctorLine>, Problem> {
    app.work(App::doctor).await
}

/// Says what becomes of the runs when the window was asked to close.
#[tauri::command]
#[specta::specta]
pub async fn answer_close(closing: State<'_, Closing>, answer: CloseAnswer) -> Result<(), Problem> {
    closing.answer(answer);
    Ok(())
}
