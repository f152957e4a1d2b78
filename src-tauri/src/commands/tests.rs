//! Commands about the tests of a repository.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, TestCommandRow};
use magis_core::{RepoId, TestLine};
use tauri::State;

/// Lists the test commands that are found in a repository.
#[tauri::command]
#[specta::specta]
pub async fn test_commands(
    app: State<'_, App>,
    repo: RepoId,
    base: BaseRequest,
) -> Result<Vec<TestCommandRow>, Problem> {
    app.work(move |app| app.test_commands(repo, base)).await
}

/// Allows a test command, and what issues show, in a repository.
#[tauri::command]
#[specta::specta]
pub async fn allow_tests(
    app: State<'_, App>,
    repo: RepoId,
    base: BaseRequest,
    command: TestLine,
) -> Result<TestCommandRow, Problem> {
    app.work(move |app| app.allow_tests(repo, base, &command)).await
}

/// Takes back all that was allowed in a repository.
#[tauri::command]
#[specta::specta]
pub async fn forbid_tests(app: State<'_, App>, repo: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.forbid_tests(repo)).await
}
