//! A person takes a run's patch: into the work tree, onto a branch, or as a file; and takes that back.

use crate::{EngineError, Magis};
use magis_core::{MergeResult, RunId};
use magis_repo::{
    Applied, BranchCommit, Conflict, Identity, Patch, Repository, Selection, apply_to_branch, apply_to_worktree,
    conflicts, undo,
};
use std::path::PathBuf;

/// Where the patch goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyTarget {
    /// The files of the work tree.
    Worktree,
    /// A new branch with one commit; work tree and index stay as they are.
    Branch {
        /// Its name.
        name: String,
        /// Who commits; none: whom git's configuration names.
        identity: Option<Identity>,
    },
    /// A patch file, for `git apply` or `git am`'s kin.
    PatchFile(PathBuf),
}

/// What was applied, or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppliedRun {
    /// Work tree or branch.
    Repository(Applied),
    /// A file was written.
    PatchFile(PathBuf),
}

impl Magis {
    /// The merged change of a run.
    pub fn merged(&self, run: RunId) -> Result<MergeResult, EngineError> {
        let merged = self.state(run)?.merged().cloned();
        merged
            .filter(|result| !result.patch.is_empty())
            .ok_or(EngineError::NoPatch(run))
    }

    /// Applies the selected hunks of a run's patch. Refuses on conflict, and touches nothing else.
    pub fn apply(&self, run: RunId, target: ApplyTarget, selection: &Selection) -> Result<AppliedRun, EngineError> {
        let merged = self.merged(run)?;
        let patch = Self::parse(run, &merged, selection)?;
        let applied = match target {
            ApplyTarget::PatchFile(path) => {
                std::fs::write(&path, patch.select(selection).to_string()).map_err(EngineError::io("write", &path))?;
                return Ok(AppliedRun::PatchFile(path));
            }
            ApplyTarget::Worktree => apply_to_worktree(&self.repository_of(run)?, &patch, selection)?,
            ApplyTarget::Branch { name, identity } => {
                let base = self.state(run)?.base().clone();
                let commit = BranchCommit {
                    branch: name,
                    message: merged.commit_message,
                    identity,
                };
                apply_to_branch(&self.repository_of(run)?, &base, &patch, selection, &commit)?
            }
        };
        self.store.put_setting(&applied_key(run), &applied)?;
        Ok(AppliedRun::Repository(applied))
    }

    /// Where the selected hunks of a run's patch do not fit the work tree as it is.
    pub fn conflicts(&self, run: RunId, selection: &Selection) -> Result<Vec<Conflict>, EngineError> {
        let patch = Self::parse(run, &self.merged(run)?, selection)?;
        Ok(conflicts(&self.repository_of(run)?, &patch.select(selection))?)
    }

    /// Takes the last application of a run's patch back; only while the files or the branch are as it left them.
    pub fn undo(&self, run: RunId) -> Result<AppliedRun, EngineError> {
        let applied: Applied = self
            .store
            .setting(&applied_key(run))?
            .ok_or(EngineError::NotApplied(run))?;
        undo(&self.repository_of(run)?, &applied)?;
        self.store.clear_setting(&applied_key(run))?;
        Ok(AppliedRun::Repository(applied))
    }

    fn parse(run: RunId, merged: &MergeResult, selection: &Selection) -> Result<Patch, EngineError> {
        let patch = Patch::parse(&merged.patch).map_err(|error| EngineError::Patch {
            run,
            why: error.to_string(),
        })?;
        let count = patch.hunk_count();
        if let Selection::Hunks { numbers } = selection
            && let Some(missing) = numbers.iter().find(|number| number.0 == 0 || number.0 > count)
        {
            return Err(EngineError::Patch {
                run,
                why: format!("it has {count} hunks and no hunk {}", missing.0),
            });
        }
        Ok(patch)
    }

    fn repository_of(&self, run: RunId) -> Result<Repository, EngineError> {
        let repo = self.store.run(run)?.entry.repo.ok_or(EngineError::NoRepository(run))?;
        let root = self.store.repository(repo)?.root;
        if !std::path::Path::new(&root).exists() {
            return Err(EngineError::RepositoryGone { run, root });
        }
        Ok(Repository::open(&root)?)
    }
}

fn applied_key(run: RunId) -> String {
    format!("applied/{run}")
}
