//! The list of repositories: taking one in, looking at each, letting one go; and the built-in sample.

use crate::problem::Problem;
use crate::state::{App, AppEvent, HeadFiles, Watching};
use crate::view::{BaseRequest, BranchName, MemoryCounts, RepositoryRow, SampleIssue, WatchView};
use magis_core::{CommitId, RepoId};
use magis_engine::Magis;
use magis_engine::records::RepositoryEntry;
use magis_engine::repository::{BaseChoice, HeadState, RepositoryState};
use magis_platform::now_ms;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// So many repositories are looked at side by side: one that takes its whole time holds up no other.
const AT_A_TIME: usize = 6;

impl App {
    /// Returns all repositories, the last used first, each as it stands now.
    pub fn repositories(&self) -> Result<Vec<RepositoryRow>, Problem> {
        let magis = self.magis()?;
        let known = Mutex::new(magis.repositories()?.into_iter().enumerate());
        let rows = Mutex::new(BTreeMap::new());
        let next = || known.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    while let Some((number, known)) = next() {
                        let row = self.row(&magis, known);
                        rows.lock().unwrap_or_else(PoisonError::into_inner).insert(number, row);
                    }
                });
            }
        });
        let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.into_values().collect()
    }

    /// Takes the repository that `path` belongs to into the list.
    pub fn add_repository(&self, path: &Path) -> Result<RepositoryRow, Problem> {
        let magis = self.magis()?;
        let repo = magis.add_repository(path)?;
        self.notify(AppEvent::Repositories);
        self.notify(AppEvent::Runs(None));
        self.row(&magis, magis.repository(repo)?)
    }

    /// Takes a repository off the list. What memory holds of it and its search index are erased when the window closes; until
    /// then it can be had back. Its runs stay, and the repository itself is not touched.
    pub fn remove_repository(&self, repo: RepoId) -> Result<(), Problem> {
        let magis = self.magis()?;
        for run in self.driving().driven() {
            if magis.run(run)?.entry.repo == Some(repo) {
                return Err(Problem::new(
                    "run_active",
                    format!("run {run} of this repository is being worked on, or waits for its turn"),
                    "Stop it first.",
                ));
            }
        }
        self.watching().end_of(repo);
        magis.remove_repository(repo, now_ms())?;
        self.notify(AppEvent::Repositories);
        self.notify(AppEvent::Runs(None));
        Ok(())
    }

    /// Puts a repository back into the list, with everything that memory holds of it.
    pub fn undo_remove_repository(&self, repo: RepoId) -> Result<(), Problem> {
        self.magis()?.restore_repository(repo)?;
        self.notify(AppEvent::Repositories);
        self.notify(AppEvent::Runs(None));
        Ok(())
    }

    /// Watches a repository, and none beside it; how it stands.
    pub fn watch_repository(&self, repo: RepoId) -> Result<WatchView, Problem> {
        Watching::begin(self, repo)
    }

    /// Lists the local branches of a repository.
    pub fn branches(&self, repo: RepoId) -> Result<Vec<BranchName>, Problem> {
        let repository = self.magis()?.open_repository(repo)?;
        let head = match repository.state()?.head {
            HeadState::Branch { name } => Some(name),
            HeadState::Detached { .. } => None,
        };
        let branch = |name: String| BranchName {
            current: head.as_ref() == Some(&name),
            name,
        };
        Ok(repository.branches()?.into_iter().map(branch).collect())
    }

    /// Returns the files a run with this base could read.
    pub fn repository_files(&self, repo: RepoId, base: BaseRequest) -> Result<Vec<String>, Problem> {
        let files = self.magis()?.files_of(repo, &base.into())?;
        Ok(files.into_iter().map(|file| file.path.to_string()).collect())
    }

    /// Writes the built-in sample into the data folder, where it is not there yet, and takes it into the list.
    pub fn add_sample(&self) -> Result<RepositoryRow, Problem> {
        let folder = self.launch().data.root().join("sample").join("tally");
        if !folder.join(".git").exists() {
            write_sample(&folder).map_err(|error| {
                Problem::new(
                    "sample",
                    format!("the sample could not be written: {error}"),
                    "It is written with the program git; check that it is installed.",
                )
            })?;
        }
        self.add_repository(&folder)
    }

    /// Returns the issues of the built-in sample.
    pub fn sample_issues(&self) -> Vec<SampleIssue> {
        let issue = |issue: &magis_sample::BuiltInIssue| SampleIssue {
            name: issue.name.to_owned(),
            text: issue.text.to_owned(),
        };
        magis_sample::ISSUES.iter().map(issue).collect()
    }

    /// Returns the files of a repository's last commit; listed once for each commit.
    pub(super) fn files_of_head(&self, magis: &Magis, repo: RepoId, commit: &CommitId) -> Result<HeadFiles, Problem> {
        if let Some(known) = self.head_files().get(&repo).filter(|known| known.commit == *commit) {
            return Ok(known.clone());
        }
        let files = HeadFiles {
            commit: commit.clone(),
            files: Arc::new(magis.files_of(repo, &BaseChoice::Head)?),
        };
        self.head_files().insert(repo, files.clone());
        Ok(files)
    }

    fn row(&self, magis: &Magis, known: RepositoryEntry) -> Result<RepositoryRow, Problem> {
        let repo = known.id;
        let mut row = RepositoryRow {
            id: repo,
            name: known.name,
            root: known.root,
            used_at_ms: known.last_used_at,
            head: None,
            changed_files: 0,
            notes: Vec::new(),
            problem: None,
            memory: None,
            index: None,
            runs: magis.run_count(repo)?,
        };
        let state = magis
            .open_repository(repo)
            .map_err(Problem::from)
            .and_then(|repository| Ok(repository.state()?));
        match state {
            Ok(state) => {
                row.memory = self.coverage(magis, repo, &state).ok();
                row.index = magis.index_state(repo).ok().map(Into::into);
                let counts = state.cleanliness;
                row.changed_files = counts.staged + counts.changed + counts.untracked + counts.conflicted;
                row.head = Some(state.head.into());
                row.notes = state.notes;
            }
            Err(problem) => row.problem = Some(problem),
        }
        Ok(row)
    }

    fn coverage(&self, magis: &Magis, repo: RepoId, state: &RepositoryState) -> Result<MemoryCounts, Problem> {
        let head = self.files_of_head(magis, repo, &state.commit)?;
        Ok(magis.coverage_of(repo, &head.files)?.into())
    }
}

/// Writes the sample beside its place first, so that half of one is never taken for it.
fn write_sample(folder: &Path) -> std::io::Result<()> {
    let mut half = folder.as_os_str().to_owned();
    half.push(".new");
    let half = PathBuf::from(half);
    for leftover in [half.as_path(), folder] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover)?;
        }
    }
    magis_sample::write_repository(&half)?;
    std::fs::rename(&half, folder)
}
