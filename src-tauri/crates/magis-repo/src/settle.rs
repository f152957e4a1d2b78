//! Bringing to an end what was broken off while it was applied or taken back, because the program was killed or the machine stopped.

use crate::replace::{self, Replacement};
use crate::root::Found;
use crate::{Applied, AppliedFile, FileState, RepoError, Repository, references};
use git2::{BranchType, ErrorCode};
use magis_core::{CommitId, RepoPath};

/// How a change stands that was broken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// All of it is there.
    Applied,
    /// Nothing of it is there, or not any more.
    TakenBack {
        /// Files that somebody changed since: they stay as they are now.
        kept: Vec<RepoPath>,
    },
}

/// Brings to an end what was broken off while it was applied or taken back: what is all there stands, and anything less is taken back. What is left of it beside
/// its files goes. Doing it twice changes nothing more.
///
/// # Errors
/// When the repository cannot be read, or what has to be taken back cannot be written.
pub fn settle(repository: &Repository, applied: &Applied) -> Result<Settled, RepoError> {
    match applied {
        Applied::Worktree { files, mark } => settle_files(repository, files, mark),
        Applied::Branch { name, commit, .. } => settle_branch(repository, name, commit),
    }
}

/// Brings to an end what libgit2 failed at halfway: an error, unless all is as `wanted` after it.
pub(crate) fn settled_after(
    error: RepoError,
    repository: &Repository,
    applied: &Applied,
    wanted: &Settled,
) -> Result<(), RepoError> {
    if !matches!(error, RepoError::Git { .. }) {
        return Err(error);
    }
    match settle(repository, applied) {
        Ok(settled) if settled == *wanted => Ok(()),
        Ok(_) => Err(error),
        Err(left) => Err(RepoError::LeftBehind {
            cause: error.to_string(),
            why: left.to_string(),
        }),
    }
}

/// How a file stands.
enum Standing {
    /// As it was before; also one of which no trace differs before and after.
    Before,
    /// As the change makes it, now.
    After(Option<FileState>),
    Changed,
}

fn settle_files(repository: &Repository, files: &[AppliedFile], mark: &str) -> Result<Settled, RepoError> {
    let root = repository.root();
    replace::remove_leftovers(root, files.iter().map(|file| &file.path), mark)?;
    for file in files {
        // The folder of a file that went, or one that was made for a file that did not come.
        if let Found::Nothing = replace::look(root, &file.path)? {
            replace::remove_empty_folders(root, &file.path)?;
        }
    }
    let mut standing = Vec::with_capacity(files.len());
    for file in files {
        standing.push(stands(repository, files, file)?);
    }
    let is_there = |(file, standing): (&AppliedFile, &Standing)| match standing {
        Standing::After(_) => true,
        Standing::Before => file.before.as_ref().map(|before| &before.hash) == file.after.as_ref(),
        Standing::Changed => false,
    };
    if files.iter().zip(&standing).all(is_there) {
        return Ok(Settled::Applied);
    }
    let (mut back, mut kept) = (Vec::new(), Vec::new());
    for (file, standing) in files.iter().zip(standing) {
        match standing {
            Standing::Before => {}
            Standing::After(now) => back.push(Replacement {
                path: file.path.clone(),
                before: now,
                content: file.before.as_ref().map(FileState::restored),
            }),
            Standing::Changed => kept.push(file.path.clone()),
        }
    }
    replace::all(root, &back, mark)?;
    Ok(Settled::TakenBack { kept })
}

fn stands(repository: &Repository, files: &[AppliedFile], file: &AppliedFile) -> Result<Standing, RepoError> {
    let now = match replace::look(repository.root(), &file.path)? {
        Found::File(state) => Some(state),
        Found::Nothing => None,
        Found::Other if file.after.is_none() && file.makes_room(files) => None,
        Found::Other => return Ok(Standing::Changed),
    };
    let hash = now.as_ref().map(|state| &state.hash);
    Ok(if hash == file.before.as_ref().map(|before| &before.hash) {
        Standing::Before
    } else if hash == file.after.as_ref() {
        Standing::After(now)
    } else {
        Standing::Changed
    })
}

fn settle_branch(repository: &Repository, name: &str, commit: &CommitId) -> Result<Settled, RepoError> {
    let handle = references::open(repository)?;
    let reference = format!("refs/heads/{name}");
    // That of a program that is gone.
    references::remove_lock(handle.commondir(), name, |held| held.is_empty() || held == commit.0)?;
    match handle.find_branch(name, BranchType::Local) {
        Ok(branch) if branch.get().target().is_some_and(|tip| tip.to_string() == commit.0) => Ok(Settled::Applied),
        Ok(_) => Ok(Settled::TakenBack { kept: Vec::new() }),
        Err(error) if error.code() == ErrorCode::NotFound => {
            // A log without its branch; where there is none, nothing is to be done.
            let _none = handle.reflog_delete(&reference);
            Ok(Settled::TakenBack { kept: Vec::new() })
        }
        Err(source) => Err(RepoError::git("reading the branch")(source)),
    }
}
