//! Branches of a person's repository, to be made and removed. Here alone libgit2 has the repository open in this process, with objects in memory in the place
//! of its own: of what strangers wrote it reads the configuration and the references, which the process that reads has read right before.

use crate::{RepoError, Repository, ordinary};
use git2::{ErrorCode, ObjectType, Oid};
use magis_core::CommitId;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Opens the repository for its references.
pub(crate) fn open(repository: &Repository) -> Result<git2::Repository, RepoError> {
    let attempt = "opening the references";
    // Whatever is wrong with it ends the process that reads, and not this one.
    repository.head_place()?;
    repository.branches()?;
    let handle = git2::Repository::open(repository.root()).map_err(RepoError::git(attempt))?;
    let memory = git2::Odb::new().map_err(RepoError::git(attempt))?;
    memory.add_new_mempack_backend(1).map_err(RepoError::git(attempt))?;
    handle.set_odb(&memory).map_err(RepoError::git(attempt))?;
    Ok(handle)
}

/// Refuses a branch that another program is changing. What is left of one's own lock after an error is then one's own.
pub(crate) fn refuse_locked(repository: &Repository, name: &str) -> Result<(), RepoError> {
    let lock = repository.common_dir().join(format!("refs/heads/{name}.lock"));
    match lock.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(RepoError::io("looking at", lock)(error)),
        Ok(_) => Err(RepoError::BranchLocked(name.to_owned())),
    }
}

/// Makes the branch `name` at a commit that is there.
pub(crate) fn make_branch(repository: &Repository, name: &str, commit: &CommitId) -> Result<(), RepoError> {
    let attempt = "making the branch";
    let bytes = repository.object(&commit.0, ObjectType::Commit)?;
    let handle = open(repository)?;
    let odb = handle.odb().map_err(RepoError::git(attempt))?;
    // A branch is made at a commit that the open repository has.
    let made = odb
        .write(ObjectType::Commit, &bytes)
        .and_then(|id: Oid| handle.find_commit(id))
        .map_err(RepoError::git(attempt))?;
    let branch = handle.branch(name, &made, false);
    branch.map(drop).map_err(|source| match source.code() {
        ErrorCode::Exists => RepoError::BranchExists(name.to_owned()),
        _ => RepoError::git(attempt)(source),
    })?;
    // libgit2 takes a lock that it could not remove for removed. The branch is made all the same.
    let _left = remove_lock(repository.common_dir(), name, |held| held == commit.0);
    Ok(())
}

/// Removes the lock of a branch, where it holds what only we wrote: git would refuse to touch the branch for it.
pub(crate) fn remove_lock(common_dir: &Path, name: &str, is_ours: impl Fn(&str) -> bool) -> Result<(), RepoError> {
    let lock = common_dir.join(format!("refs/heads/{name}.lock"));
    match ordinary::read(&lock, ordinary::TEXT) {
        Ok(held) if is_ours(String::from_utf8_lossy(&held).trim_end()) => {
            fs::remove_file(&lock).map_err(RepoError::io("removing", lock))
        }
        // None is there, or somebody else's.
        Ok(_) | Err(_) => Ok(()),
    }
}
