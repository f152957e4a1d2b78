//! The repository seen from outside: states, snapshots, changes and their application, on real repositories.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod against_git;
mod apply;
#[cfg(target_os = "linux")]
mod border;
mod changes;
#[cfg(unix)]
mod check_out;
#[cfg(unix)]
mod hostile;
mod open;
mod past;
mod placing;
mod programs;
mod prune;
#[cfg(unix)]
mod read_ahead;
mod settle;
mod snapshot;
mod watch;
mod work_tree;

use magis_core::{Base, RepoPath};
use magis_repo::{
    Applied, BaseChoice, BranchCommit, Git, GitWorker, ObjectStore, Patch, RepoError, Repository, Selection, Snapshot,
    plan_branch, plan_worktree,
};
use magis_testkit::FixtureRepo;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// Repositories are read in processes of their own, as the programs that ship do it.
static GIT: LazyLock<Git> = LazyLock::new(|| {
    Git::in_workers(GitWorker {
        program: env!("CARGO_BIN_EXE_magis-git-worker").into(),
        args: Vec::new(),
    })
});

fn opened(folder: impl AsRef<Path>) -> Result<Repository, RepoError> {
    GIT.open(folder)
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

/// Returns a text of so many different lines.
fn numbered(lines: u32) -> String {
    (1..=lines)
        .map(|line| ["line ", &line.to_string(), "\n"].concat())
        .collect()
}

fn store(fixture: &FixtureRepo) -> ObjectStore {
    let repository = opened(fixture.root()).unwrap();
    ObjectStore::open(fixture.beside("store"), &repository).unwrap()
}

fn take(fixture: &FixtureRepo, choice: &BaseChoice) -> Snapshot {
    let repository = opened(fixture.root()).unwrap();
    Snapshot::take(&repository, &store(fixture), choice).unwrap()
}

fn apply_to_worktree(repository: &Repository, patch: &Patch, selection: &Selection) -> Result<Applied, RepoError> {
    plan_worktree(repository, patch, selection)?.carry_out()
}

fn apply_to_branch(
    repository: &Repository,
    base: &Base,
    patch: &Patch,
    selection: &Selection,
    commit: &BranchCommit,
) -> Result<Applied, RepoError> {
    let objects = tempfile::tempdir().unwrap();
    plan_branch(repository, base, patch, selection, commit, objects.path())?.carry_out()
}

/// Returns the `git` program in `folder`, without the machine's configuration; gives what it prints.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Ada Fixture",
            "-c",
            "user.email=ada@example.com",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
