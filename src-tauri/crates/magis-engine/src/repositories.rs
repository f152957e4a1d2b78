//! The repositories of the data folder: coming to know one, and reading the trees that runs stand on.
//!
//! What a run does with its tree is the roles' business; nothing here writes into a repository.

use crate::{EngineError, Magis};
use magis_core::{Base, RepoId, RepoPath, RunId, TreeId};
use magis_platform::now_ms;
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
    /// and that stand on one of its commits belong to it from now on, unless another one has that commit, too.
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
            let base = Base {
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
        let repo = self.store.upsert_repository(&new, now_ms())?;
        for (run, base) in self.store.runs_without_repository()? {
            if repository.has(&base)? {
                self.settle(run)?;
            }
        }
        Ok(repo)
    }

    /// The repository of a run. An imported one that has none is given to the repository that has the commit it stands on;
    /// where several have it, clones of one another say, none is chosen, and which ones a person may mean is said.
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
            several => {
                let root = |(_, repository): &(RepoId, Repository)| repository.root().display().to_string();
                let roots = several.iter().map(root).collect();
                Err(EngineError::WhichRepository { run, roots })
            }
        }
    }

    /// Says which repository an imported run belongs to. One that has a repository keeps it.
    pub fn attach(&self, run: RunId, path: &Path) -> Result<RepoId, EngineError> {
        let repository = Repository::open(path)?;
        let base = self.state(run)?.base().clone();
        let other = |why: String| EngineError::OtherRepository {
            run,
            root: repository.root().display().to_string(),
            why,
        };
        let repo = self.know(&repository)?;
        match self.store.run(run)?.entry.repo {
            Some(own) if own == repo => return Ok(repo),
            Some(own) => {
                let root = self.store.repository(own)?.root;
                return Err(other(format!("it belongs to the one at {root}")));
            }
            None => {}
        }
        if !repository.has(&base)? {
            return Err(other(format!("its base, commit {}, is not there", base.commit)));
        }
        self.give(run, repo, &repository)
    }

    /// As [`Self::repository_id_of`], where it is no failure that a run stays without one.
    pub(crate) fn settle(&self, run: RunId) -> Result<(), EngineError> {
        match self.repository_id_of(run) {
            Ok(_) | Err(EngineError::NoRepository(_) | EngineError::WhichRepository { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn give(&self, run: RunId, repo: RepoId, repository: &Repository) -> Result<RepoId, EngineError> {
        self.store.adopt_run(run, repo)?;
        ObjectStore::open(self.data.objects(repo), repository)?;
        Ok(repo)
    }

    /// The repositories of the list that have this commit. One that cannot be opened has none.
    fn repositories_with(&self, base: &Base) -> Result<Vec<(RepoId, Repository)>, EngineError> {
        let mut found = Vec::new();
        for known in self.store.repositories()? {
            if let Ok(repository) = Repository::open(&known.root)
                && repository.has(base).unwrap_or(false)
            {
                found.push((known.id, repository));
            }
        }
        Ok(found)
    }
}
