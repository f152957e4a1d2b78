//! Deleting for good: a run, or a repository, with every byte that the data folder holds because of it.
//!
//! The database erases by itself; here the rest follows it: the prefixes that workers kept, which may be of any prompt, the objects that only the run needed, the index and the object
//! store of the repository. What cannot be removed now, because it is in use, is removed at the next opening.

use crate::{EngineError, Magis};
use magis_core::{RepoId, RunId};
use magis_platform::now_ms;
use magis_repo::{Pruning, prune, remove_remains, remove_store};
use magis_store::{DeletedRepository, DeletedRun, Erasure, PendingPruning, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

impl Magis {
    /// Deletes a run and erases what only it needed; says what stays. Refused while a driver works on it.
    ///
    /// # Errors
    /// When there is no such run, it is being worked on, or the database cannot be written.
    pub fn delete_run(&self, run: RunId) -> Result<DeletedRun, EngineError> {
        self.data.forget_prefixes()?;
        let deleted = self.store.delete_run(run, now_ms())?;
        Ok(DeletedRun {
            erasure: deleted.erasure.and(self.finish_deletions()),
            ..deleted
        })
    }

    /// Deletes a repository of the list, or one that was removed from it, with its memory, its index and its objects. Its
    /// runs stay, without the files they read. Refused while one of them is worked on.
    ///
    /// # Errors
    /// When a run of it is being worked on, or the database cannot be written.
    pub fn delete_repository(&self, repo: RepoId) -> Result<DeletedRepository, EngineError> {
        self.data.forget_prefixes()?;
        let deleted = self.store.delete_repository(repo, now_ms())?;
        Ok(DeletedRepository {
            erasure: deleted.erasure.and(self.finish_deletions()),
            ..deleted
        })
    }

    /// Removes the files that deletions left, now or because they were interrupted.
    pub(crate) fn finish_deletions(&self) -> Erasure {
        let in_use = |why: &str| Erasure::Pending { why: why.to_owned() };
        match self
            .prune_stores()
            .and_then(|pruned| Ok((pruned, self.remove_leftovers()?)))
        {
            Ok((Pruning::Done, Pruning::Done)) => Erasure::Complete,
            Ok(_) => in_use("files of the repository are in use"),
            Err(error) => in_use(&error.to_string()),
        }
    }

    /// Prunes the object stores of repositories that runs were deleted of.
    fn prune_stores(&self) -> Result<Pruning, EngineError> {
        let mut whole = Pruning::Done;
        for PendingPruning { repo, with_index } in self.store.pending_prunings()? {
            let mut needed = BTreeSet::new();
            for run in self.store.all_runs_of(repo)? {
                if self.store.event_count(run)? == 0 {
                    continue;
                }
                // A log that cannot be read says nothing of what it needs, and nothing of it is to be lost.
                let state = self.state(run)?;
                needed.insert(state.base().commit.0.clone());
                needed.insert(state.base().tree.0.clone());
                needed.extend(state.merged().map(|merged| merged.tree.0.clone()));
            }
            let pruned = prune(&self.git, &self.data.objects(repo), needed.iter().map(String::as_str))?;
            // It is made anew from the last commit by whoever needs it next.
            if pruned == Pruning::Done && (!with_index || self.is_index_gone(repo)) {
                self.store.clear_pruning(repo)?;
            } else {
                whole = Pruning::InUse;
            }
        }
        Ok(whole)
    }

    /// Removes the folders of repositories that are not known any more, and the logged contents of runs that are not; of the others, what programs that were killed
    /// left half made.
    fn remove_leftovers(&self) -> Result<Pruning, EngineError> {
        for run in self.data.runs_with_contents() {
            if matches!(self.store.run(run), Err(StoreError::NoRun(_))) {
                let file = self.data.contents_of(run);
                fs::remove_file(&file).map_err(EngineError::io("delete", &file))?;
            }
        }
        let (objects, indexes) = (self.data.all_objects(), self.data.all_indexes());
        // The folders first: a repository is known before its folders are made.
        let (stores, indexed) = (repositories_in(&objects), repositories_in(&indexes));
        let known: BTreeSet<RepoId> = self.store.all_repositories()?.into_iter().collect();
        let mut whole = Pruning::Done;
        for repo in stores.difference(&known) {
            if remove_store(&self.data.objects(*repo))? == Pruning::InUse {
                whole = Pruning::InUse;
            }
        }
        for repo in stores.intersection(&known) {
            remove_remains(&self.data.objects(*repo))?;
        }
        for repo in indexed.difference(&known) {
            if !self.is_index_gone(*repo) {
                whole = Pruning::InUse;
            }
        }
        Ok(whole)
    }

    fn is_index_gone(&self, repo: RepoId) -> bool {
        self.delete_index(repo);
        !self.data.index(repo).exists()
    }
}

/// Returns the repositories that have a folder in `folder`.
fn repositories_in(folder: &Path) -> BTreeSet<RepoId> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(RepoId))
        .collect()
}
