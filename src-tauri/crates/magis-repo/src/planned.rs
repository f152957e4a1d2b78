//! A change of the repository that is planned to the last byte and not begun. Whoever carries it out writes down first what it comes to, so that one that was
//! broken off can be settled.

use crate::replace::{self, Replacement};
use crate::settle::{Settled, settled_after};
use crate::{Applied, RepoError, Repository, references};

/// A change of the work tree, or a new branch, that is planned and not begun.
pub struct PlannedChange<'r> {
    repository: &'r Repository,
    applied: Applied,
    /// None of a branch.
    replacements: Vec<Replacement>,
}

impl<'r> PlannedChange<'r> {
    pub(crate) fn new(repository: &'r Repository, applied: Applied, replacements: Vec<Replacement>) -> Self {
        Self {
            repository,
            applied,
            replacements,
        }
    }

    /// Returns what it comes to. With it, [`settle`](crate::settle()) brings to an end what was broken off.
    pub fn applied(&self) -> &Applied {
        &self.applied
    }

    /// Carries it out, all or nothing.
    ///
    /// # Errors
    /// When a file was changed or the branch was made meanwhile, or the repository cannot be written.
    pub fn carry_out(self) -> Result<Applied, RepoError> {
        match &self.applied {
            Applied::Worktree { mark, .. } => replace::all(self.repository.root(), &self.replacements, mark)?,
            Applied::Branch { name, commit, .. } => {
                references::refuse_locked(self.repository, name)?;
                if let Err(error) = references::make_branch(self.repository, name, commit) {
                    settled_after(error, self.repository, &self.applied, &Settled::Applied)?;
                }
            }
        }
        Ok(self.applied)
    }
}
