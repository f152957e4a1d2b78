//! The patch of a run: looking at it, deciding on it, applying it, taking it back.
//!
//! Unpacked, called, converted; what happens stands under `work`.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{
    AppliedView, ApplyRequest, ConflictView, DecidedProgramView, FileTexts, PatchView, ProgramView, ReviewState,
};
use magis_core::{RepoId, RunId};
use tauri::State;

/// Returns the patch of a run.
#[tauri::command]
#[specta::specta]
pub async fn patch(app: State<'_, App>, run: RunId) -> Result<PatchView, Problem> {
    app.work(move |app| app.patch(run)).await
}

/// Returns a file of the patch before and after.
#[tauri::command]
#[specta::specta]
pub async fn file_texts(app: State<'_, App>, run: RunId, path: String) -> Result<FileTexts, Problem> {
    app.work(move |app| app.file_texts(run, &path)).await
}

/// Returns how far the review of a run is.
#[tauri::command]
#[specta::specta]
pub async fn review(app: State<'_, App>, run: RunId) -> Result<ReviewState, Problem> {
    app.work(move |app| app.review(run)).await
}

/// Keeps how far a review is.
#[tauri::command]
#[specta::specta]
pub async fn save_review(app: State<'_, App>, run: RunId, state: ReviewState) -> Result<(), Problem> {
    app.work(move |app| app.save_review(run, &state)).await
}

/// Returns where what was accepted does not fit the working tree.
#[tauri::command]
#[specta::specta]
pub async fn conflicts(app: State<'_, App>, run: RunId, state: ReviewState) -> Result<Vec<ConflictView>, Problem> {
    app.work(move |app| app.conflicts(run, state)).await
}

/// Applies what was accepted.
#[tauri::command]
#[specta::specta]
pub async fn apply(
    app: State<'_, App>,
    run: RunId,
    state: ReviewState,
    request: ApplyRequest,
) -> Result<AppliedView, Problem> {
    app.work(move |app| app.apply(run, state, request)).await
}

/// Returns the programs that a run's repository names, that git would run for a commit, and that nobody decided about.
#[tauri::command]
#[specta::specta]
pub async fn undecided_programs(app: State<'_, App>, run: RunId) -> Result<Vec<ProgramView>, Problem> {
    app.work(move |app| app.undecided_programs(run)).await
}

/// Remembers whether programs that a run's repository names are run.
#[tauri::command]
#[specta::specta]
pub async fn decide_programs(
    app: State<'_, App>,
    run: RunId,
    programs: Vec<ProgramView>,
    allowed: bool,
) -> Result<(), Problem> {
    app.work(move |app| app.decide_programs(run, programs, allowed)).await
}

/// Returns what was decided about programs that a repository names.
#[tauri::command]
#[specta::specta]
pub async fn decided_programs(app: State<'_, App>, repo: RepoId) -> Result<Vec<DecidedProgramView>, Problem> {
    app.work(move |app| app.decided_programs(repo)).await
}

/// Forgets what was decided about programs that a repository names, so that it is asked again.
#[tauri::command]
#[specta::specta]
pub async fn forget_decided_programs(app: State<'_, App>, repo: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.forget_decided_programs(repo)).await
}

/// Takes the last application back.
#[tauri::command]
#[specta::specta]
pub async fn undo_apply(app: State<'_, App>, run: RunId) -> Result<(), Problem> {
    app.work(move |app| app.undo_apply(run)).await
}
