//! Another engine than our own.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{EngineCheck, EngineForm, EngineSetting};
use crate::work;
use tauri::State;

/// Returns where prompts go.
#[tauri::command]
#[specta::specta]
pub async fn other_engine(app: State<'_, App>) -> Result<EngineSetting, Problem> {
    app.work(App::other_engine).await
}

/// Connects to another engine and says what is there; it is not used yet.
#[tauri::command]
#[specta::specta]
pub async fn check_engine(app: State<'_, App>, form: EngineForm) -> Result<EngineCheck, Problem> {
    app.check_engine(form).await
}

/// Sends the prompts of new runs to another engine, once it answers.
#[tauri::command]
#[specta::specta]
pub async fn use_other_engine(app: State<'_, App>, form: EngineForm) -> Result<EngineCheck, Problem> {
    app.use_other_engine(form).await
}

/// Sends prompts nowhere any more.
#[tauri::command]
#[specta::specta]
pub async fn leave_other_engine(app: State<'_, App>) -> Result<(), Problem> {
    app.leave_other_engine().await
}

/// Checks that the system has a keyring.
#[tauri::command]
#[specta::specta]
pub async fn check_keyring(app: State<'_, App>) -> Result<(), Problem> {
    app.work(|_| work::check_keyring()).await
}

/// Keeps the key of the engine at an address in the system's keyring.
#[tauri::command]
#[specta::specta]
pub async fn keep_engine_key(app: State<'_, App>, address: String, key: String) -> Result<(), Problem> {
    app.work(move |_| work::keep_engine_key(&address, &key)).await
}

/// Removes the key of the engine at an address from the system's keyring.
#[tauri::command]
#[specta::specta]
pub async fn forget_engine_key(app: State<'_, App>, address: String) -> Result<(), Problem> {
    app.work(move |_| work::forget_engine_key(&address)).await
}
