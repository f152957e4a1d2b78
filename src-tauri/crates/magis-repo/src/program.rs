//! The `git` program, for the two things libgit2 cannot do: sign a commit and run a hook.
//!
//! Runs only when a person applies a result. Never asks on a terminal.

use crate::hook::Hook;
use crate::{RepoError, Repository};
use git2::{Oid, Signature};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Returns whether the program can be started.
pub(crate) fn is_installed() -> bool {
    let mut version = Command::new("git");
    version
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// Returns the message, cleaned as git does, and as the `commit-msg` hook leaves it where that is to be run.
pub(crate) fn message(
    repository: &Repository,
    has_hook: bool,
    text: &str,
    skipped: &mut Vec<String>,
) -> Result<String, RepoError> {
    let clean = |text: &str| git2::message_prettify(text, None).map_err(RepoError::git("cleaning the commit message"));
    let text = clean(text)?;
    let hook = Hook::CommitMessage;
    if !has_hook {
        return Ok(text);
    }
    if !is_installed() {
        skipped.push(format!(
            "The hook '{}' was not run: the git program is not installed.",
            hook.name()
        ));
        return Ok(text);
    }
    let mut file = tempfile::NamedTempFile::new().map_err(RepoError::io("writing", "the commit message"))?;
    file.write_all(text.as_bytes())
        .map_err(RepoError::io("writing", file.path()))?;
    let mut command = git(repository);
    command.args(["hook", "run", hook.name(), "--"]).arg(file.path());
    let output = run(&mut command, b"").map_err(RepoError::io("running the hook", hook.name()))?;
    if !output.status.success() {
        return Err(RepoError::HookRefused {
            hook: hook.name().into(),
            output: said(&output),
        });
    }
    let text = fs::read_to_string(file.path()).map_err(RepoError::io("reading", file.path()))?;
    clean(&text)
}

/// Writes a signed commit as git's configuration has it.
pub(crate) fn signed_commit(
    repository: &Repository,
    tree: Oid,
    parent: Oid,
    message: &str,
    who: &Signature<'_>,
) -> Result<Oid, RepoError> {
    let (name, email) = (who.name().unwrap_or_default(), who.email().unwrap_or_default());
    let mut command = git(repository);
    command.args([
        "commit-tree",
        "-S",
        "-p",
        &parent.to_string(),
        "-F",
        "-",
        &tree.to_string(),
    ]);
    command.envs([
        ("GIT_AUTHOR_NAME", name),
        ("GIT_AUTHOR_EMAIL", email),
        ("GIT_COMMITTER_NAME", name),
        ("GIT_COMMITTER_EMAIL", email),
    ]);
    let output = run(&mut command, message.as_bytes()).map_err(RepoError::io("running", "git commit-tree"))?;
    if !output.status.success() {
        return Err(RepoError::Signing(said(&output)));
    }
    let id = String::from_utf8_lossy(&output.stdout);
    Oid::from_str(id.trim()).map_err(|_| RepoError::Signing(said(&output)))
}

/// `git` in the repository, whatever the environment says of another one.
fn git(repository: &Repository) -> Command {
    let mut command = Command::new("git");
    // A program that the repository may name and that neither of the two needs.
    command.args(["-c", "core.fsmonitor=false"]);
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_COMMON_DIR",
    ] {
        command.env_remove(variable);
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_EDITOR", ":")
        .current_dir(repository.root());
    command
}

fn run(command: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input may close it; its exit status says the rest.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output()
}

fn said(output: &Output) -> String {
    let text = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
    String::from_utf8_lossy(&text).trim().to_owned()
}
