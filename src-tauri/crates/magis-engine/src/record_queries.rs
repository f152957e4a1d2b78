//! What is kept of runs, repositories and memory, for whoever shows it.
//!
//! Each is a question to the database, in the words of its own crate; what it means is said there. What is done about a run or a
//! repository stands in the other parts of this crate.

use crate::{EngineError, Magis};
use magis_core::{BlobId, RepoId, RepoPath, RunId};
use magis_store::{
    Access, Call, CallId, CallTotals, Coverage, DayTotals, Lease, RepositoryEntry, Reuse, RunEntry, RunFilter, RunHit,
    RunListPage, RunQuery, RunSearch, Speed, StoredEvent, StoredRun, StoredStatus, Summary,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The runs and their lists.
impl Magis {
    /// Reads one run as the list of runs shows it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn run(&self, id: RunId) -> Result<StoredRun, EngineError> {
        Ok(self.store.run(id)?)
    }

    /// Returns the runs that `filter` lets through.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunEntry>, EngineError> {
        Ok(self.store.runs(filter)?)
    }

    /// Returns a page of the runs that `query` lets through. Removed runs are left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_page(&self, query: &RunQuery) -> Result<RunListPage, EngineError> {
        Ok(self.store.run_page(query)?)
    }

    /// Returns how many runs of a repository there are, without removed ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_count(&self, repo: RepoId) -> Result<u32, EngineError> {
        Ok(self.store.run_count(repo)?)
    }

    /// Runs that say `search.text`, the newest first. Nothing is found for a text without a letter or digit.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn search_runs(&self, search: &RunSearch) -> Result<Vec<RunHit>, EngineError> {
        Ok(self.store.search_runs(search)?)
    }

    /// Sets how a run stands where no event says it: back into the queue, or interrupted.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn set_run_status(&self, id: RunId, status: StoredStatus) -> Result<(), EngineError> {
        Ok(self.store.set_run_status(id, status)?)
    }

    /// Takes a run out of every list. Refused while a driver works on it.
    ///
    /// # Errors
    /// When there is no such run, it is being worked on, or the database cannot be written.
    pub fn remove_run(&self, run: RunId, now: i64) -> Result<(), EngineError> {
        Ok(self.store.remove_run(run, now)?)
    }

    /// Puts a removed run back into the lists. [`magis_store::StoreError::NoRun`] where it is erased by now.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn restore_run(&self, run: RunId) -> Result<(), EngineError> {
        Ok(self.store.restore_run(run)?)
    }

    /// Returns the runs that were removed at `before` or earlier, oldest first: those to erase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn removed_runs(&self, before: i64) -> Result<Vec<RunId>, EngineError> {
        Ok(self.store.removed_runs(before)?)
    }

    /// Returns the tags of a run, in the order of the alphabet.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn tags(&self, run: RunId) -> Result<Vec<String>, EngineError> {
        Ok(self.store.tags(run)?)
    }

    /// Gives a run exactly these tags. White space around a tag is dropped, and so is an empty tag.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn set_tags(&self, run: RunId, tags: &[String]) -> Result<(), EngineError> {
        Ok(self.store.set_tags(run, tags)?)
    }
}

/// What a run consists of, and what its calls cost.
impl Magis {
    /// Returns all events of a run, in order.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn events(&self, run: RunId) -> Result<Vec<StoredEvent>, EngineError> {
        Ok(self.store.events(run)?)
    }

    /// Returns all calls of a run, in the order in which they finished.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn calls(&self, run: RunId) -> Result<Vec<Call>, EngineError> {
        Ok(self.store.calls(run)?)
    }

    /// Reads one model call with its request and its reply.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn call(&self, id: CallId) -> Result<Option<Call>, EngineError> {
        Ok(self.store.call(id)?)
    }

    /// Returns what a run's calls came to, by agent and step.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn call_totals(&self, run: RunId) -> Result<Vec<CallTotals>, EngineError> {
        Ok(self.store.call_totals(run)?)
    }

    /// Returns what calls came to by day and step, the last day first; of one repository, or of all runs together.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn day_totals(&self, repo: Option<RepoId>) -> Result<Vec<DayTotals>, EngineError> {
        Ok(self.store.day_totals(repo)?)
    }

    /// Returns how many runs had a call on each day, the last day first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_by_day(&self) -> Result<Vec<(String, u32)>, EngineError> {
        Ok(self.store.runs_by_day()?)
    }

    /// Returns how fast the model with this hash was in its calls here; none where it made none that took time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn speed_of(&self, model_sha: &str) -> Result<Option<Speed>, EngineError> {
        Ok(self.store.speed_of(model_sha)?)
    }

    /// Returns the lease that is live now, whoever holds it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn live_lease(&self, now: i64) -> Result<Option<Lease>, EngineError> {
        Ok(self.store.live_lease(now)?)
    }
}

/// The list of repositories.
impl Magis {
    /// Returns one repository of the list.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be read.
    pub fn repository(&self, id: RepoId) -> Result<RepositoryEntry, EngineError> {
        Ok(self.store.repository(id)?)
    }

    /// Returns all repositories, the last used first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn repositories(&self) -> Result<Vec<RepositoryEntry>, EngineError> {
        Ok(self.store.repositories()?)
    }

    /// Takes a repository off the list; its runs stay, as runs without a repository. Refused while one of them is worked
    /// on. Adding the repository again takes the removal back.
    ///
    /// # Errors
    /// When a run of it is being worked on, or the database cannot be written.
    pub fn remove_repository(&self, repo: RepoId, now: i64) -> Result<(), EngineError> {
        Ok(self.store.remove_repository(repo, now)?)
    }

    /// Puts a removed repository back into the list. [`magis_store::StoreError::NoRepository`] where it is erased by now.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn restore_repository(&self, repo: RepoId) -> Result<(), EngineError> {
        Ok(self.store.restore_repository(repo)?)
    }

    /// Returns the repositories that were removed at `before` or earlier, the first removed first: those to erase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn removed_repositories(&self, before: i64) -> Result<Vec<RepoId>, EngineError> {
        Ok(self.store.removed_repositories(before)?)
    }
}

impl Magis {
    /// Returns the last summary of every file of the repository, by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn summaries(&self, repo: RepoId) -> Result<Vec<Summary>, EngineError> {
        Ok(self.store.summaries(repo)?)
    }

    /// Returns every summary of every version of the repository's files, by path, a file's newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_summaries(&self, repo: RepoId) -> Result<Vec<Summary>, EngineError> {
        Ok(self.store.all_summaries(repo)?)
    }

    /// Returns the last summary made of this file, whichever its blob.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn latest_summary(&self, repo: RepoId, path: &RepoPath) -> Result<Option<Summary>, EngineError> {
        Ok(self.store.latest_summary(repo, path)?)
    }

    /// Drops the whole memory of a repository, messages of changes included; returns how many summaries there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_summaries(&self, repo: RepoId) -> Result<u32, EngineError> {
        Ok(self.store.drop_summaries(repo)?)
    }

    /// Returns how many of `files` have a summary of that very blob, whatever it was called, of another blob, or none;
    /// without one of their very blob, those count apart that `needs_none` is true of.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(
        &self,
        repo: RepoId,
        files: &[(RepoPath, BlobId)],
        needs_none: impl Fn(&BlobId) -> bool,
    ) -> Result<Coverage, EngineError> {
        Ok(self.store.coverage(repo, files, needs_none)?)
    }

    /// When runs used summaries of this repository instead of making them anew, and of which file, in the order of
    /// time. What P1 cost to bring one up to date is among the calls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn reuses(&self, repo: RepoId) -> Result<Vec<Reuse>, EngineError> {
        Ok(self.store.reuses(repo)?)
    }
}

/// What the front ends keep, and the database itself.
impl Magis {
    /// Returns the review of a run; none where nobody began one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn review<T: DeserializeOwned>(&self, run: RunId) -> Result<Option<T>, EngineError> {
        Ok(self.store.review(run)?)
    }

    /// Keeps the review of a run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_review<T: Serialize>(&self, run: RunId, review: &T, now: i64) -> Result<(), EngineError> {
        Ok(self.store.put_review(run, review, now)?)
    }

    /// Returns the draft of a repository; none where there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn draft<T: DeserializeOwned>(&self, repo: RepoId) -> Result<Option<T>, EngineError> {
        Ok(self.store.draft(repo)?)
    }

    /// Keeps the draft of a repository.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_draft<T: Serialize>(&self, repo: RepoId, draft: &T, now: i64) -> Result<(), EngineError> {
        Ok(self.store.put_draft(repo, draft, now)?)
    }

    /// Drops the draft of a repository, because a run was begun with it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn clear_draft(&self, repo: RepoId) -> Result<(), EngineError> {
        Ok(self.store.clear_draft(repo)?)
    }

    /// Returns the setting under `key`; none where it was never set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn setting<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, EngineError> {
        Ok(self.store.setting(key)?)
    }

    /// Sets `key` to `value`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_setting<T: Serialize>(&self, key: &str, value: &T) -> Result<(), EngineError> {
        Ok(self.store.put_setting(key, value)?)
    }

    /// Reads the whole file and checks that it is sound; slow on a large one.
    ///
    /// # Errors
    /// When the database is damaged or cannot be read.
    pub fn check_database(&self) -> Result<(), EngineError> {
        Ok(self.store.check()?)
    }

    /// Returns whether the database can be written, and if not, why.
    pub fn access(&self) -> Access {
        self.store.access()
    }

    /// Returns the path of the database file.
    pub fn database(&self) -> &Path {
        self.store.path()
    }
}
