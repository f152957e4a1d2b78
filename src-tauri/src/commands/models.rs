//! Models: what is here, what can be fetched.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{FetchNews, HubListingView, ModelRow, ModelSuggestion, Purpose};
use magis_engine::models::Suggestion;
use std::path::PathBuf;
use tauri::State;
use tauri::ipc::Channel;

/// Lists all models, those here and those that can be fetched.
#[tauri::command]
#[specta::specta]
pub async fn models(app: State<'_, App>) -> Result<Vec<ModelRow>, Problem> {
    app.work(App::models).await
}

/// Lists models of the hub that are worth a try; nobody is asked.
#[tauri::command]
#[specta::specta]
pub async fn model_suggestions() -> Result<Vec<ModelSuggestion>, Problem> {
    Ok(Suggestion::builtin().into_iter().map(Into::into).collect())
}

/// Asks the hub which models a repository has, by its name there.
#[tauri::command]
#[specta::specta]
pub async fn hub_models(app: State<'_, App>, name: String) -> Result<HubListingView, Problem> {
    app.work(move |app| app.hub_models(&name)).await
}

/// Fetches a model and tells how far it is; returns at once.
#[tauri::command]
#[specta::specta]
pub async fn fetch_model(app: State<'_, App>, id: String, channel: Channel<FetchNews>) -> Result<(), Problem> {
    let sink = move |news| channel.send(news).is_ok();
    app.work(move |app| app.fetch_model(&id, sink)).await
}

/// Pauses the download of a model.
#[tauri::command]
#[specta::specta]
pub async fn pause_fetch(app: State<'_, App>, id: String) -> Result<(), Problem> {
    app.pause_fetch(&id);
    Ok(())
}

/// Deletes a model, or what was fetched of it.
#[tauri::command]
#[specta::specta]
pub async fn remove_model(app: State<'_, App>, id: String) -> Result<(), Problem> {
    app.remove_model(&id).await
}

/// Takes a file into the library.
#[tauri::command]
#[specta::specta]
pub async fn add_model(app: State<'_, App>, path: PathBuf) -> Result<ModelRow, Problem> {
    app.work(move |app| app.add_model(&path)).await
}

/// Reads every byte of a model; says what is wrong with it.
#[tauri::command]
#[specta::specta]
pub async fn verify_model(app: State<'_, App>, id: String) -> Result<Option<String>, Problem> {
    app.work(move |app| app.verify_model(&id)).await
}

/// Takes this model where none is chosen, for one purpose.
#[tauri::command]
#[specta::specta]
pub async fn set_default_model(app: State<'_, App>, id: String, purpose: Purpose) -> Result<(), Problem> {
    app.work(move |app| app.set_default_model(&id, purpose)).await
}
