//! The files that a run read and made, and the repository that a person says an imported run belongs to.

use crate::{EngineError, Magis};
use magis_core::{Base, RepoId, RepoPath, RunId, TreeId};
use magis_platform::now_ms;
use magis_repo::{ObjectStore, Snapshot};
use std::path::{Path, PathBuf};

/// The files of a run's base, and of its result, as text.
pub struct RunTexts {
    base: Option<Snapshot>,
    result: Option<Snapshot>,
}

impl RunTexts {
    /// Returns the tree that the run read, where it is here.
    pub(super) fn base(&self) -> Option<&Snapshot> {
        self.base.as_ref()
    }

    /// Returns the tree that it came to, where there is one here.
    pub(super) fn result(&self) -> Option<&Snapshot> {
        self.result.as_ref()
    }

    /// Returns a file of the base; none where it is not there or no text, or where the run was made elsewhere.
    pub fn before(&self, path: &RepoPath) -> Option<String> {
        Some(self.base.as_ref()?.read(path).ok()?.text)
    }

    /// Returns a file of the result; none where it is not there or no text, or where the run was made elsewhere.
    pub fn after(&self, path: &RepoPath) -> Option<String> {
        Some(self.result.as_ref()?.read(path).ok()?.text)
    }
}

impl Magis {
    /// Returns the files that a run read and made, as far as they are here.
    ///
    /// # Errors
    /// When there is no such run, or the repository or the database cannot be read.
    pub fn texts(&self, run: RunId) -> Result<RunTexts, EngineError> {
        let Some(repo) = self.store.run(run)?.entry.repo else {
            return Ok(RunTexts {
                base: None,
                result: None,
            });
        };
        let folder = self.object_folder(repo)?;
        let state = self.state(run)?;
        let of = |tree: &TreeId| {
            let base = Base {
                tree: tree.clone(),
                ..state.base().clone()
            };
            Snapshot::reopen(&self.git, &folder, &base).ok()
        };
        Ok(RunTexts {
            base: of(&state.base().tree),
            result: state.merged().and_then(|merged| of(&merged.tree)),
        })
    }

    /// Returns the folder with the object store of a repository, made where it is missing and the repository is there: a run that was imported has none yet.
    pub(super) fn object_folder(&self, repo: RepoId) -> Result<PathBuf, EngineError> {
        let folder = self.data.objects(repo);
        if !folder.join("HEAD").exists()
            && let Ok(repository) = self.open_repository(repo)
        {
            ObjectStore::open(&folder, &repository)?;
        }
        Ok(folder)
    }

    /// Says which repository an imported run belongs to, so that it can be applied there. One that has a repository keeps
    /// it.
    ///
    /// # Errors
    /// When there is no such run, or the repository or the database cannot be read.
    pub fn attach(&self, run: RunId, path: &Path) -> Result<RepoId, EngineError> {
        let repository = self.git.open(path)?;
        let base = self.state(run)?.base().clone();
        let other = |why: String| EngineError::OtherRepository {
            run,
            root: repository.root().display().to_string(),
            why,
        };
        let repo = self.know(&repository)?;
        match self.store.run(run)?.entry.repo {
            Some(own) if own == repo => {
                self.store.note_named_repository(run, now_ms())?;
                return Ok(repo);
            }
            Some(own) => {
                let root = self.store.repository(own)?.root;
                return Err(other(format!("it belongs to the one at {root}")));
            }
            None => {}
        }
        if !repository.has(&base)? {
            return Err(other(format!("its base, commit {}, is not there", base.commit)));
        }
        self.store.note_named_repository(run, now_ms())?;
        self.give(run, repo, &repository)
    }
}
