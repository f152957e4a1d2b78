//! Taking back what was applied.

use crate::replace::{self, Replacement};
use crate::root::Found;
use crate::settle::{Settled, settled_after};
use crate::{Applied, AppliedFile, FileState, RepoError, Repository, references};
use git2::{BranchType, ErrorCode};
use magis_core::CommitId;

/// Takes back what was applied, if nothing of it has changed since; otherwise says what has.
///
/// Of a branch the reference goes; its commit stays in the repository until git collects it.
///
/// # Errors
/// When the repository cannot be read, or, where it is taken back, not written.
pub fn undo(repository: &Repository, applied: &Applied) -> Result<(), RepoError> {
    match applied {
        Applied::Worktree { files, mark } => replace::all(repository.root(), &takes_back(repository, files)?, mark),
        Applied::Branch { name, commit, .. } => {
            references::refuse_locked(repository, name)?;
            undo_branch(repository, name, commit).or_else(|error| {
                let gone = Settled::TakenBack { kept: Vec::new() };
                settled_after(error, repository, applied, &gone)
            })
        }
    }
}

/// Returns whether [`undo`] would find everything as it was left. Changes nothing.
///
/// # Errors
/// When the repository cannot be read, or, where it is taken back, not written.
pub fn can_undo(repository: &Repository, applied: &Applied) -> Result<(), RepoError> {
    match applied {
        Applied::Worktree { files, .. } => takes_back(repository, files).map(drop),
        Applied::Branch { name, commit, .. } => {
            let handle = references::open(repository)?;
            let branch = unmoved(&handle, name, commit)?;
            if branch.is_head() {
                return Err(RepoError::ChangedSince(vec![format!(
                    "the branch '{name}' is checked out"
                )]));
            }
            Ok(())
        }
    }
}

/// Returns what has to be written to take the files back, where none has changed since.
fn takes_back(repository: &Repository, files: &[AppliedFile]) -> Result<Vec<Replacement>, RepoError> {
    let mut replacements = Vec::new();
    let mut changed = Vec::new();
    for file in files {
        let now = match replace::look(repository.root(), &file.path)? {
            Found::File(state) => Some(state),
            Found::Nothing => None,
            Found::Other if file.after.is_none() && file.makes_room(files) => None,
            Found::Other => {
                changed.push(format!("'{}' is no ordinary file any more", file.path));
                continue;
            }
        };
        if now.as_ref().map(|state| &state.hash) != file.after.as_ref() {
            changed.push(format!("'{}' has changed since", file.path));
        }
        let content = file.before.as_ref().map(FileState::restored);
        replacements.push(Replacement {
            path: file.path.clone(),
            before: now,
            content,
        });
    }
    if changed.is_empty() {
        Ok(replacements)
    } else {
        Err(RepoError::ChangedSince(changed))
    }
}

/// Returns the branch, where its tip is still the commit that was made.
fn unmoved<'r>(handle: &'r git2::Repository, name: &str, commit: &CommitId) -> Result<git2::Branch<'r>, RepoError> {
    let changed = |what: &str| RepoError::ChangedSince(vec![format!("the branch '{name}' {what}")]);
    let branch = handle
        .find_branch(name, BranchType::Local)
        .map_err(|source| match source.code() {
            ErrorCode::NotFound => changed("is gone"),
            _ => RepoError::git("reading the branch")(source),
        })?;
    if branch.get().target().is_none_or(|tip| tip.to_string() != commit.0) {
        return Err(changed("has moved on"));
    }
    Ok(branch)
}

fn undo_branch(repository: &Repository, name: &str, commit: &CommitId) -> Result<(), RepoError> {
    let changed = |what: &str| RepoError::ChangedSince(vec![format!("the branch '{name}' {what}")]);
    let handle = references::open(repository)?;
    let mut branch = unmoved(&handle, name, commit)?;
    branch.delete().map_err(|source| {
        if source.message().contains("current HEAD") || source.message().contains("checked out") {
            changed("is checked out")
        } else {
            RepoError::git("deleting the branch")(source)
        }
    })?;
    // As with one that is made: nobody else had a lock of it right before, and one that is being written is not empty for long.
    let _left = references::remove_lock(repository.common_dir(), name, str::is_empty);
    Ok(())
}
