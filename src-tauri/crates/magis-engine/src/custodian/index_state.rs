//! Around the search index of a repository: who may bring it up to date, and for which commit it was made, a
//! note beside the index that is written once the index is whole.
//!
//! The index itself is `magis-search`'s. A watch keeps it right, and so does each run.

use super::{commit_history, contents};
use crate::{EngineError, Magis};
use magis_core::{CommitId, RepoId};
use std::fs::{self, File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How the search index of a repository stands to its HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// There is none yet, or making it was broken off.
    None,
    /// It was made for HEAD.
    Fresh,
    /// It was made for a commit that HEAD goes on from.
    Older {
        /// By how many commits.
        commits: u32,
    },
    /// It was made for a commit that HEAD does not go on from.
    Elsewhere { commit: CommitId },
}

impl Magis {
    /// Returns how the search index of a repository stands to its HEAD.
    ///
    /// # Errors
    /// When the repository or the database cannot be read.
    pub fn index_state(&self, repo: RepoId) -> Result<IndexState, EngineError> {
        let Ok(noted) = fs::read_to_string(note_of(&self.data.index(repo))) else {
            return Ok(IndexState::None);
        };
        let commit = CommitId(noted.trim().to_owned());
        Ok(match self.open_repository(repo)?.commits_since(&commit)? {
            Some(0) => IndexState::Fresh,
            Some(commits) => IndexState::Older { commits },
            None => IndexState::Elsewhere { commit },
        })
    }

    /// Deletes the search index of a repository, where nobody is at work on it for long. It can be made anew from nothing, so what cannot be deleted now does no
    /// harm.
    pub(crate) fn delete_index(&self, repo: RepoId) {
        let folder = self.data.index(repo);
        let end = Instant::now() + PATIENCE;
        let waits = &mut || {
            if Instant::now() < end {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        // The lock's file stays: who waits for it holds it open, and another of its name would be another lock.
        let Ok(_lock) = lock(&folder, waits) else { return };
        forget(&folder);
        commit_history::forget(&folder);
        contents::forget(&folder);
        drop(fs::remove_dir_all(folder));
    }
}

/// How long an index that is to be deleted is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the lock is tried while somebody else holds it.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until nobody else, in whichever process, opens the index in `folder` or brings it up to date, or until `waits` breaks
/// it off. It is ours as long as what comes back is held; the system gives it back when a process dies.
pub(crate) fn lock(folder: &Path, waits: &mut dyn FnMut() -> ControlFlow<()>) -> Result<File, EngineError> {
    let file = lock_file(folder);
    if let Some(around) = file.parent() {
        fs::create_dir_all(around).map_err(EngineError::io("create", around))?;
    }
    let opened = File::options().create(true).append(true).open(&file);
    let lock = opened.map_err(EngineError::io("open", &file))?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if waits().is_break() => return Err(EngineError::cancelled()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
            Err(TryLockError::Error(error)) => return Err(EngineError::io("lock", &file)(error)),
        }
    }
}

fn lock_file(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

/// The index in `folder` is about to change: until it is whole it is of no commit.
pub(crate) fn forget(folder: &Path) {
    drop(fs::remove_file(note_of(folder)));
}

/// The index in `folder` is whole. A note that cannot be written only leaves it unsaid.
pub(crate) fn note(folder: &Path, commit: &CommitId) {
    drop(fs::write(note_of(folder), &commit.0));
}

/// Beside the folder, which belongs to the index alone.
fn note_of(folder: &Path) -> PathBuf {
    folder.with_extension("commit")
}
