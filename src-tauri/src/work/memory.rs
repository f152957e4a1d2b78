//! The summary memory: how much of a repository is known, and one summary: read, corrected, dropped, made anew.

use crate::problem::Problem;
use crate::state::{App, Driving, Watching};
use crate::view::{MemoryExportView, MemoryImportView, MemoryReport, SummaryView};
use magis_core::{RepoId, RepoPath};
use magis_engine::WithCode;
use std::path::Path;

impl App {
    /// Returns what is remembered of a repository's last commit, and what that cost and saved.
    pub fn memory_report(&self, repo: RepoId) -> Result<MemoryReport, Problem> {
        let magis = self.magis()?;
        let commit = magis.open_repository(repo)?.state()?.commit;
        let head = self.files_of_head(&magis, repo, &commit)?;
        let files = magis.memory_of(repo, &head.files)?;
        Ok(MemoryReport::new(repo, files, magis.memory_days(repo)?))
    }

    /// Returns the summary of a file.
    pub fn summary(&self, repo: RepoId, path: &str) -> Result<Option<SummaryView>, Problem> {
        let remembered = self.magis()?.remembered(repo, &RepoPath::new(path)?)?;
        Ok(remembered.map(Into::into))
    }

    /// Puts a person's words in place of a model's.
    pub fn correct_summary(&self, repo: RepoId, path: &str, text: &str) -> Result<SummaryView, Problem> {
        let corrected = self.magis()?.correct_summary(repo, &RepoPath::new(path)?, text)?;
        self.memory_changed(repo);
        Ok(corrected.into())
    }

    /// Drops every summary of a file.
    pub fn drop_summary(&self, repo: RepoId, path: &str) -> Result<(), Problem> {
        self.magis()?.drop_summary(repo, &RepoPath::new(path)?)?;
        self.memory_changed(repo);
        Ok(())
    }

    /// Gives the budget of describing files in advance again, for the current repository.
    pub fn renew_summarisation_budget(&self) {
        Watching::renew_budget(self);
    }

    /// Writes the memory of a repository into a file, without code.
    pub fn export_memory(&self, repo: RepoId, file: &Path) -> Result<MemoryExportView, Problem> {
        Ok(self.magis()?.export_memory(repo, file, WithCode::No)?.into())
    }

    /// Takes a memory file into the memory of a repository.
    pub fn import_memory(&self, repo: RepoId, file: &Path) -> Result<MemoryImportView, Problem> {
        let taken = self.magis()?.import_memory(repo, file)?;
        self.memory_changed(repo);
        Ok(taken.into())
    }

    /// Makes the summary of a file anew, with the model that is loaded, or else the usual one.
    pub async fn renew_summary(&self, repo: RepoId, path: &str) -> Result<SummaryView, Problem> {
        let path = RepoPath::new(path)?;
        let magis = self.magis()?;
        let model = match self.driving().loaded().await {
            Some(loaded) => loaded,
            None => self.driving().model(self, &magis, &self.usual_model()?).await?,
        };
        let renewed = magis.renew_summary(repo, &path, model).await;
        if self.driving().driven().is_empty() {
            Driving::free_when_idle(self);
        }
        let renewed = renewed?;
        self.memory_changed(repo);
        Ok(renewed.into())
    }
}
