//! Repositories: the list, taking one in, letting one go, what stands in one.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, BranchName, RepositoryRow, SampleIssue, WatchView};
use magis_core::RepoId;
use std::path::PathBuf;
use tauri::State;

/// Returns all repositories, the last used first.
#[tauri::command]
#[specta::specta]
pub async fn repositories(app: State<'_, App>) -> Result<Vec<RepositoryRow>, Problem> {
    app.work(App::repositories).await
}

/// Takes a repository into the list.
#[tauri::command]
#[specta::specta]
pub async fn add_repository(app: State<'_, App>, path: PathBuf) -> Result<RepositoryRow, Problem> {
    app.work(move |app| app.add_repository(&path)).await
}

/// Takes a repository off the list.
#[tauri::command]
#[specta::specta]
pub async fn remove_repository(app: State<'_, App>, id: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.remove_repository(id)).await
}

/// Puts a repository back into the list.
#[tauri::command]
#[specta::specta]
pub async fn undo_remove_repository(app: State<'_, App>, id: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.undo_remove_repository(id)).await
}

/// Lists the local branches of a repository.
#[tauri::command]
#[specta::specta]
pub async fn branches(app: State<'_, App>, id: RepoId) -> Result<Vec<BranchName>, Problem> {
    app.work(move |app| app.branches(id)).await
}

/// Returns the files a run with this base could read.
#[tauri::command]
#[specta::specta]
pub async fn repository_files(app: State<'_, App>, id: RepoId, base: BaseRequest) -> Result<Vec<String>, Problem> {
    app.work(move |app| app.repository_files(id, base)).await
}

/// Writes the built-in sample and takes it into the list.
#[tauri::command]
#[specta::specta]
pub async fn add_sample(app: State<'_, App>) -> Result<RepositoryRow, Problem> {
    app.work(App::add_sample).await
}

/// Returns the issues of the built-in sample.
#[tauri::command]
#[specta::specta]
pub async fn sample_issues(app: State<'_, App>) -> Result<Vec<SampleIssue>, Problem> {
    Ok(app.sample_issues())
}

/// Watches a repository, and none beside it.
#[tauri::command]
#[specta::specta]
pub async fn watch_repository(app: State<'_, App>, id: RepoId) -> Result<WatchView, Problem> {
    app.work(move |app| app.watch_repository(id)).await
}
