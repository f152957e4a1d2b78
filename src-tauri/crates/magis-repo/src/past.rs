//! The commits before a snapshot: what they said and which files they changed. Only what is not known yet is read.
//!
//! Merges are walked through but say nothing of their own: what they bring in has its own commits.

use crate::reading::{Met, Request, Trees, id_of};
use crate::{RepoError, Snapshot, tree};
use magis_core::{BlobId, CommitId, PastCommit, RepoPath};
use std::ops::ControlFlow;

/// The commits that a walk met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// All of them but merges, newest first.
    pub commits: Vec<CommitId>,
    /// Those that were not known, in the same order.
    pub new: Vec<PastCommit>,
    /// Whether all was read, or `progress` broke it off.
    pub complete: bool,
}

impl Snapshot {
    /// Returns the last `most` commits before and with the base, merges left out. Those that `known` says yes to are
    /// named and not read. A shallow clone has as many as it has; none are found where the repository is gone.
    /// `progress` is told how many were read and may break it off; it is asked for each commit, also for one that is
    /// not read.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn past(
        &self,
        most: usize,
        known: impl Fn(&CommitId) -> bool,
        progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Walked, RepoError> {
        let reader = self.store().reader();
        let met: Vec<Met> = reader.ask(Request::Walk {
            from: self.base().commit.clone(),
            most,
        })?;
        let is_new = |met: &&Met| !met.is_merge && !known(&met.id);
        let ids: Vec<CommitId> = met.iter().filter(is_new).map(|met| met.id.clone()).collect();
        let mut walk = Walk {
            left: met.into_iter(),
            walked: Walked {
                complete: true,
                ..Walked::default()
            },
            progress,
        };
        let mut answers = Ok(0);
        if !ids.is_empty() {
            reader.ask_for_parts(Request::Commits { ids: ids.clone() }, &mut |part| {
                let next = part.value().map(|commit| walk.take(commit));
                answers = match (&answers, &next) {
                    (Ok(count), Ok(_)) => Ok(count + 1),
                    _ => Err(()),
                };
                next.unwrap_or(ControlFlow::Break(()))
            })?;
        }
        match answers {
            Ok(count) if count == ids.len() => drop(walk.pass(None)),
            // Behind one of them something is missing: the history ends before it.
            Ok(_) => {}
            Err(()) => return Err(RepoError::wire("a commit was told in no known form")),
        }
        Ok(walk.walked)
    }

    /// Returns the text of a file before a commit and with it; none where one of the two has no such text, or the commit is not there.
    ///
    /// # Errors
    /// When the trees cannot be read.
    pub fn changed_by(&self, commit: &CommitId, path: &RepoPath) -> Result<Option<(String, String)>, RepoError> {
        let trees: Option<Trees> = self
            .store()
            .reader()
            .ask(Request::CommitTrees { commit: commit.clone() })?;
        let Some(Trees { old, new }) = trees else {
            return Ok(None);
        };
        let text = |tree: &str| {
            let entry = tree::find(self.store(), id_of(tree, "tree")?, path.as_str())?;
            let text = entry.and_then(|entry| self.scan(&BlobId(entry.id.to_string())).ok());
            Ok::<_, RepoError>(text.map(|source| source.text))
        };
        Ok(text(&old)?.zip(text(&new)?))
    }
}

/// A walk through commits that were met, in which those that were not known are told in between.
struct Walk<I, P> {
    left: I,
    walked: Walked,
    progress: P,
}

impl<I: Iterator<Item = Met>, P: FnMut(usize) -> ControlFlow<()>> Walk<I, P> {
    /// Passes those that are not read, up to the commit `until`, or all.
    fn pass(&mut self, until: Option<&CommitId>) -> ControlFlow<()> {
        while let Some(Met { id, is_merge }) = self.left.next() {
            if until == Some(&id) {
                break;
            }
            self.ask()?;
            if !is_merge {
                self.walked.commits.push(id);
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes one that was read.
    fn take(&mut self, commit: PastCommit) -> ControlFlow<()> {
        self.pass(Some(&commit.id))?;
        let id = commit.id.clone();
        self.walked.new.push(commit);
        self.ask()?;
        self.walked.commits.push(id);
        ControlFlow::Continue(())
    }

    fn ask(&mut self) -> ControlFlow<()> {
        let next = (self.progress)(self.walked.new.len());
        self.walked.complete &= next.is_continue();
        next
    }
}
