//! The repositories of the data folder: coming to know one, reading the trees that runs stand on, and which of them a run
//! belongs to that was made elsewhere.
//!
//! Nothing here writes into a repository.

use crate::{EngineError, Magis};
use magis_core::{Base, RepoId, RunId};
use magis_platform::now_ms;
use magis_repo::{BaseChoice, FileEntry, ObjectStore, Repository, Snapshot};
use magis_store::{NewRepository, RunOrigin};
use std::path::Path;

impl Magis {
    /// Takes a repository into the list, or notes that it was used again. Runs that were imported before it was known
    /// and that stand on one of its commits belong to it from now on, unless another one has that commit, too.
    ///
    /// # Errors
    /// When the folder is no repository that can be read, or the database cannot be written.
    pub fn add_repository(&self, path: &Path) -> Result<RepoId, EngineError> {
        let repository = self.git.open(path)?;
        repository.state()?;
        self.know(&repository)
    }

    /// Returns the repository of this id, opened where it was last seen.
    ///
    /// # Errors
    /// When there is no such repository, or its folder is gone.
    pub fn open_repository(&self, repo: RepoId) -> Result<Repository, EngineError> {
        Ok(self.git.open(&self.store.repository(repo)?.root)?)
    }

    /// Returns the files of a tree that a run could be based on.
    ///
    /// # Errors
    /// When there is no such revision, or the repository cannot be read.
    pub fn files_of(&self, repo: RepoId, base: &BaseChoice) -> Result<Vec<FileEntry>, EngineError> {
        Ok(self.snapshot_of(repo, base)?.files()?.0)
    }

    /// Returns a tree that a run could be based on.
    pub(crate) fn snapshot_of(&self, repo: RepoId, base: &BaseChoice) -> Result<Snapshot, EngineError> {
        let repository = self.open_repository(repo)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        Ok(Snapshot::take(&repository, &objects, base)?)
    }

    pub(crate) fn know(&self, repository: &Repository) -> Result<RepoId, EngineError> {
        let root = repository.root();
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
        let new = NewRepository {
            root: root.to_string_lossy().into_owned(),
            name: name.into_owned(),
            identity: None,
        };
        let repo = self.store.upsert_repository(&new, now_ms())?;
        for (run, base) in self.store.runs_without_repository()? {
            if repository.has(&base)? {
                self.settle(run)?;
            }
        }
        Ok(repo)
    }

    /// Returns the repository of a run. An imported one that has none is given to the repository that has the commit it
    /// stands on; where several have it, clones of one another say, none is chosen, and which ones a person may mean is
    /// said.
    ///
    /// # Errors
    /// When the folder is no repository that can be read, or the database cannot be read.
    pub fn repository_id_of(&self, run: RunId) -> Result<RepoId, EngineError> {
        if let Some(repo) = self.store.run(run)?.entry.repo {
            return Ok(repo);
        }
        let mut unowned = self.store.runs_without_repository()?.into_iter();
        let Some((_, base)) = unowned.find(|(unowned, _)| *unowned == run) else {
            return Err(EngineError::NoRepository(run));
        };
        match self.repositories_with(&base)?.as_slice() {
            [] => Err(EngineError::NoRepository(run)),
            [(repo, repository)] => self.give(run, *repo, repository),
            several => Err(which(run, several)),
        }
    }

    /// Returns whether a patch of this run may go into its repository: of one that was imported, a person has to name the
    /// repository, because whoever made the file chose what it says of its base.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn is_repository_named(&self, run: RunId) -> Result<bool, EngineError> {
        let is_local = self.store.run(run)?.entry.origin == RunOrigin::Local;
        Ok(is_local || self.store.is_repository_named(run)?)
    }

    pub(crate) fn refuse_unnamed(&self, run: RunId) -> Result<(), EngineError> {
        if self.is_repository_named(run)? {
            return Ok(());
        }
        match self.repositories_with(self.state(run)?.base())?.as_slice() {
            [] => Err(EngineError::NoRepository(run)),
            found => Err(which(run, found)),
        }
    }

    /// As [`Self::repository_id_of`], where it is no failure that a run stays without one.
    pub(crate) fn settle(&self, run: RunId) -> Result<(), EngineError> {
        match self.repository_id_of(run) {
            Ok(_) | Err(EngineError::NoRepository(_) | EngineError::WhichRepository { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the repository of the list that has this commit, ready for runs; none where several have it, or none.
    pub(crate) fn only_repository_with(&self, base: &Base) -> Result<Option<RepoId>, EngineError> {
        let found = self.repositories_with(base)?;
        let [(repo, repository)] = found.as_slice() else {
            return Ok(None);
        };
        ObjectStore::open(self.data.objects(*repo), repository)?;
        Ok(Some(*repo))
    }

    pub(crate) fn give(&self, run: RunId, repo: RepoId, repository: &Repository) -> Result<RepoId, EngineError> {
        self.store.adopt_run(run, repo)?;
        ObjectStore::open(self.data.objects(repo), repository)?;
        Ok(repo)
    }

    /// Returns the repositories of the list that have this commit. One that cannot be opened has none.
    fn repositories_with(&self, base: &Base) -> Result<Vec<(RepoId, Repository)>, EngineError> {
        let mut found = Vec::new();
        for known in self.store.repositories()? {
            if let Ok(repository) = self.git.open(&known.root)
                && repository.has(base).unwrap_or(false)
            {
                found.push((known.id, repository));
            }
        }
        Ok(found)
    }
}

/// Returns the error that a person has to say which of these repositories a run is for.
fn which(run: RunId, found: &[(RepoId, Repository)]) -> EngineError {
    let root = |(_, repository): &(RepoId, Repository)| repository.root().display().to_string();
    let roots = found.iter().map(root).collect();
    EngineError::WhichRepository { run, roots }
}
