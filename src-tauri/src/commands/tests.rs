//! Commands about the tests of a repository.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, CheckTrial, CodePermission, CodeTerm, TestCommandRow};
use magis_core::{CheckId, RepoId, RunId, TestLine};
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

/// Reads a test command as a person gives it: how it would be run, and what is run before it. Nothing is run or kept.
#[tauri::command]
#[specta::specta]
pub async fn read_test_command(
    app: State<'_, App>,
    repo: RepoId,
    base: BaseRequest,
    command: TestLine,
) -> Result<TestCommandRow, Problem> {
    app.work(move |app| app.read_test_command(repo, base, &command)).await
}

/// Allows a test command, and what issues show, in a repository.
#[tauri::command]
#[specta::specta]
pub async fn allow_tests(
    app: State<'_, App>,
    repo: RepoId,
    base: BaseRequest,
    command: TestLine,
    term: CodeTerm,
) -> Result<TestCommandRow, Problem> {
    app.work(move |app| app.allow_tests(repo, base, &command, term)).await
}

/// Returns whether what issues show may be run in a repository, and whether this machine can isolate it.
#[tauri::command]
#[specta::specta]
pub async fn code_permission(app: State<'_, App>, repo: RepoId) -> Result<CodePermission, Problem> {
    app.code_permission(repo).await
}

/// Allows what issues show, and no test command, in a repository.
#[tauri::command]
#[specta::specta]
pub async fn allow_issue_code(app: State<'_, App>, repo: RepoId, term: CodeTerm) -> Result<(), Problem> {
    app.work(move |app| app.allow_issue_code(repo, term)).await
}

/// Runs a check as a person has edited it, on the base of its run and on the result; the run stays as it is.
#[tauri::command]
#[specta::specta]
pub async fn try_check(app: State<'_, App>, run: RunId, check: CheckId, script: String) -> Result<CheckTrial, Problem> {
    app.try_check(run, check, &script).await
}

/// Stops a check that is being run as a person has edited it.
#[tauri::command]
#[specta::specta]
pub async fn stop_check(app: State<'_, App>, run: RunId, check: CheckId) -> Result<(), Problem> {
    app.stop_check(run, check);
    Ok(())
}

/// Takes back all that was allowed in a repository.
#[tauri::command]
#[specta::specta]
pub async fn forbid_tests(app: State<'_, App>, repo: RepoId) -> Result<(), Problem> {
    app.work(move |app| app.forbid_tests(repo)).await
}
