//! Planning a patch as a commit on a new branch. Work tree, index and `HEAD` stay as they are.

use crate::place::place;
use crate::program::{self, Hook};
use crate::{
    Applied, Conflict, ConflictReason, FilePatchKind, Patch, PlannedChange, RepoError, Repository, Selection, apply,
    bounds,
};
use git2::build::TreeUpdateBuilder;
use git2::{Branch, BranchType, FileMode, ObjectType, Oid, Signature};
use magis_core::{Base, CommitId, RepoPath};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The commit to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCommit {
    pub branch: String,
    pub message: String,
    /// Author and committer; none: from git's configuration.
    pub identity: Option<Committer>,
}

/// Who makes a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committer {
    pub name: String,
    pub email: String,
}

/// Commits the selected hunks for a new branch that starts at the run's base commit. The commit is there, and nothing leads to it until the plan is carried
/// out.
///
/// With a base that holds uncommitted work the branch starts at the commit below it and takes the hunks that apply
/// there; if one does not, the answer is [`RepoError::NeedsUncommitted`] and nothing is written. So the commit never
/// holds work that is not the run's.
///
/// A `commit-msg` hook is run on the message and commits are signed where git's configuration asks for it, both by the
/// `git` program where it is installed. Hooks that look at a work tree or an index are not run, because neither holds
/// this commit; [`Applied::Branch`] names them.
///
/// # Errors
/// When the branch exists, the patch does not fit, or the repository cannot be written.
pub fn plan_branch<'r>(
    repository: &'r Repository,
    base: &Base,
    patch: &Patch,
    selection: &Selection,
    commit: &BranchCommit,
) -> Result<PlannedChange<'r>, RepoError> {
    let patch = apply::selected(patch, selection)?;
    let handle = repository.handle()?;
    if !Branch::name_is_valid(&commit.branch).unwrap_or(false) {
        return Err(RepoError::BranchName(commit.branch.clone()));
    }
    if handle.find_branch(&commit.branch, BranchType::Local).is_ok() {
        return Err(RepoError::BranchExists(commit.branch.clone()));
    }
    let signature = signature(&handle, commit.identity.as_ref())?;
    let gone = || RepoError::BaseGone(base.commit.to_string());
    let parent = Oid::from_str(&base.commit.0)
        .and_then(|id| handle.find_commit(id))
        .map_err(|_| gone())?;
    let tree = match tree(&handle, &parent, &patch)? {
        Ok(tree) => tree,
        Err(conflicts) if base.uncommitted => return Err(RepoError::NeedsUncommitted(conflicts)),
        Err(conflicts) => return Err(RepoError::Conflicts(conflicts)),
    };
    let mut skipped = Vec::new();
    let message = program::message(repository, &handle, &commit.message, &mut skipped)?;
    let config = handle.config().map_err(RepoError::git("reading the configuration"))?;
    let id = if config.get_bool("commit.gpgsign").unwrap_or(false) && program::is_installed() {
        program::signed_commit(repository, tree, parent.id(), &message, &signature)?
    } else {
        if config.get_bool("commit.gpgsign").unwrap_or(false) {
            skipped.push("The commit is not signed: the git program is not installed.".to_owned());
        }
        let tree = handle.find_tree(tree).map_err(RepoError::git("reading the new tree"))?;
        handle
            .commit(None, &signature, &signature, &message, &tree, &[&parent])
            .map_err(RepoError::git("writing the commit"))?
    };
    for hook in [Hook::PreCommit, Hook::PrepareCommitMessage, Hook::PostCommit] {
        if program::has_hook(repository, &handle, hook) {
            skipped.push(format!(
                "The hook '{}' was not run: it looks at a work tree.",
                hook.name()
            ));
        }
    }
    let applied = Applied::Branch {
        name: commit.branch.clone(),
        commit: CommitId(id.to_string()),
        skipped,
    };
    Ok(PlannedChange::new(repository, applied, Vec::new()))
}

fn signature(handle: &git2::Repository, identity: Option<&Committer>) -> Result<Signature<'static>, RepoError> {
    if let Some(Committer { name, email }) = identity {
        let shown = format!("{name} <{email}>");
        if name.trim().is_empty() || email.trim().is_empty() || shown.contains(['\n', '\r']) {
            return Err(RepoError::IdentityInvalid(shown));
        }
        return Signature::now(name, email).map_err(|_| RepoError::IdentityInvalid(shown));
    }
    let config = handle.config().map_err(RepoError::git("reading the configuration"))?;
    let is_set = |key| config.get_string(key).is_ok_and(|value| !value.trim().is_empty());
    if !is_set("user.name") || !is_set("user.email") {
        return Err(RepoError::IdentityMissing);
    }
    handle
        .signature()
        .map_err(RepoError::git("reading the name for the commit"))
}

/// Returns the tree of `parent` with the patch, or where that does not apply.
fn tree(
    handle: &git2::Repository,
    parent: &git2::Commit<'_>,
    patch: &Patch,
) -> Result<Result<Oid, Vec<Conflict>>, RepoError> {
    let tree = parent.tree().map_err(RepoError::git("reading the tree of the base"))?;
    // Two steps, because libgit2 refuses to put a folder where a file goes in the same one.
    let (mut removed, mut update) = (TreeUpdateBuilder::new(), TreeUpdateBuilder::new());
    let mut texts = Vec::new();
    let mut conflicts = Vec::new();
    let mut conflict = |path: &RepoPath, line, reason| {
        conflicts.push(Conflict {
            path: path.clone(),
            line,
            reason,
        });
    };
    for file in &patch.files {
        let old = tree.get_path(Path::new(file.old_path().as_str())).ok();
        let text = match (&old, &file.kind) {
            (None, FilePatchKind::Create) => String::new(),
            (Some(_), FilePatchKind::Create) => {
                conflict(&file.path, 1, ConflictReason::FileExists);
                continue;
            }
            (None, _) => {
                conflict(file.old_path(), 1, ConflictReason::FileMissing);
                continue;
            }
            (Some(entry), FilePatchKind::Delete) if file.was(&entry.id().to_string()) => {
                removed.remove(file.path.as_str());
                continue;
            }
            (Some(_), FilePatchKind::Delete) => {
                conflict(&file.path, 1, ConflictReason::ContentDiffers);
                continue;
            }
            (Some(_), FilePatchKind::Rename { .. }) if tree.get_path(Path::new(file.path.as_str())).is_ok() => {
                conflict(&file.path, 1, ConflictReason::FileExists);
                continue;
            }
            (Some(entry), FilePatchKind::Modify | FilePatchKind::Rename { .. }) => {
                if let FilePatchKind::Rename { from } = &file.kind {
                    removed.remove(from.as_str());
                    if file.text_hunks().next().is_none() {
                        update.upsert(file.path.as_str(), entry.id(), mode(entry.filemode()));
                        continue;
                    }
                }
                let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
                let Ok(text) = String::from_utf8(bounds::read(&odb, entry.id(), ObjectType::Blob)?) else {
                    conflict(file.old_path(), 1, ConflictReason::NotText);
                    continue;
                };
                text
            }
        };
        if file.is_binary() {
            conflict(&file.path, 1, ConflictReason::NotText);
            continue;
        }
        match place(&text, file.text_hunks()) {
            Ok(text) => {
                let new = if file.is_program() {
                    FileMode::BlobExecutable
                } else {
                    FileMode::Blob
                };
                texts.push((&file.path, text, old.map_or(new, |entry| mode(entry.filemode()))));
            }
            Err(line) => conflict(file.old_path(), line, ConflictReason::LinesDiffer),
        }
    }
    if !conflicts.is_empty() {
        return Ok(Err(conflicts));
    }
    for (path, text, mode) in texts {
        let blob = handle
            .blob(text.as_bytes())
            .map_err(RepoError::git("writing a changed file"))?;
        update.upsert(path.as_str(), blob, mode);
    }
    let without = removed
        .create_updated(handle, &tree)
        .and_then(|id| handle.find_tree(id));
    without
        .and_then(|tree| update.create_updated(handle, &tree))
        .map(Ok)
        .map_err(RepoError::git("writing the new tree"))
}

fn mode(mode: i32) -> FileMode {
    if mode & 0o111 == 0 {
        FileMode::Blob
    } else {
        FileMode::BlobExecutable
    }
}
