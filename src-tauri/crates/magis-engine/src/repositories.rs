//! The repositories of the data folder: coming to know one, and reading the trees that runs stand on.
//!
//! What a run does with its tree is the roles' business; nothing here writes into a repository.

use crate::desk::now;
use crate::{EngineError, Magis};
use magis_core::{RepoId, RepoPath, RunId, TreeId};
use magis_repo::{BaseChoice, FileEntry, ObjectStore, Repository, Snapshot};
use magis_store::NewRepository;
use std::path::Path;

/// The files of a run's base, and of its result, as text.
pub struct RunTexts {
    base: Option<Snapshot>,
    result: Option<Snapshot>,
}

impl RunTexts {
    /// A file of the base; none where it is not there or no text, or where the run was made elsewhere.
    pub fn before(&self, path: &RepoPath) -> Option<String> {
        Some(self.base.as_ref()?.read(path).ok()?.text)
    }

    /// A file of the result; none where it is not there or no text, or where the run was made elsewhere.
    pub fn after(&self, path: &RepoPath) -> Option<String> {
        Some(self.result.as_ref()?.read(path).ok()?.text)
    }
}

impl Magis {
    /// Takes a repository into the list, or notes that it was used again. Runs that were imported before it was known
    /// and that stand on one of its commits belong to it from now on.
    pub fn add_repository(&self, path: &Path) -> Result<RepoId, EngineError> {
        let repository = Repository::open(path)?;
        repository.state()?;
        self.know(&repository)
    }

    /// The repository of this id, opened where it was last seen.
    pub fn open_repository(&self, repo: RepoId) -> Result<Repository, EngineError> {
        Ok(Repository::open(&self.store.repository(repo)?.root)?)
    }

    /// The files of a tree that a run could be based on.
    pub fn files_of(&self, repo: RepoId, base: &BaseChoice) -> Result<Vec<FileEntry>, EngineError> {
        Ok(self.snapshot_of(repo, base)?.files()?.0)
    }

    /// A tree that a run could be based on.
    pub(crate) fn snapshot_of(&self, repo: RepoId, base: &BaseChoice) -> Result<Snapshot, EngineError> {
        let repository = self.open_repository(repo)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        Ok(Snapshot::take(&repository, &objects, base)?)
    }

    /// The files that a run read and made, as far as they are here.
    pub fn texts(&self, run: RunId) -> Result<RunTexts, EngineError> {
        let Some(repo) = self.store.run(run)?.entry.repo else {
            return Ok(RunTexts {
                base: None,
                result: None,
            });
        };
        let folder = self.data.objects(repo);
        if !folder.join("HEAD").exists()
            && let Ok(repository) = self.open_repository(repo)
        {
            // A run that was imported has no store yet; the repository's own objects do.
            ObjectStore::open(&folder, &repository)?;
        }
        let state = self.state(run)?;
        let of = |tree: &TreeId| {
            let base = magis_core::Base {
                tree: tree.clone(),
                ..state.base().clone()
            };
            Snapshot::reopen(&folder, &base).ok()
        };
        Ok(RunTexts {
            base: of(&state.base().tree),
            result: state.merged().and_then(|merged| of(&merged.tree)),
        })
    }

    pub(crate) fn know(&self, repository: &Repository) -> Result<RepoId, EngineError> {
        let root = repository.root();
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
        let new = NewRepository {
            root: root.to_string_lossy().into_owned(),
            name: name.into_owned(),
            identity: None,
        };
        let repo = self.store.upsert_repository(&new, now())?;
        self.adopt_runs(repo, repository)?;
        Ok(repo)
    }

    /// Gives imported runs that stand on a commit of this repository to it, so that their patches can be applied.
    pub(crate) fn adopt_runs(&self, repo: RepoId, repository: &Repository) -> Result<(), EngineError> {
        for (run, base) in self.store.runs_without_repository()? {
            if repository.has(&base)? {
                self.store.adopt_run(run, repo)?;
                ObjectStore::open(self.data.objects(repo), repository)?;
            }
        }
        Ok(())
    }
}
