//! The summary memory as a person sees it: what is remembered of each file, what that cost and saved, and the person's
//! own words in place of a model's.
//!
//! How a run uses the memory is the Custodian's business.

use super::contents::{self, BlobKind, SummaryNotNeeded};
use super::describing::{self, FileVersion};
use super::{memory_log, summary_lookup};
use crate::{EngineError, Magis};
use magis_core::{BlobId, RepoId, RepoPath};
use magis_llm::LanguageModel;
use magis_platform::now_ms;
use magis_prompts::Template;
use magis_repo::{BaseChoice, FileEntry};
use magis_store::{Coverage, Maker, Summary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What memory holds of one file of the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMemory {
    pub path: RepoPath,
    /// Its size in bytes.
    pub bytes: u64,
    /// How well it is remembered.
    pub state: MemoryState,
    /// The summary; none where there is none that a run would read.
    pub summary: Option<Summary>,
}

/// How well a file is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryState {
    Fresh,
    Stale,
    None,
    /// Not as it is, and it need not be.
    SummaryNotNeeded(SummaryNotNeeded),
}

/// A summary with what is known of its standing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub summary: Summary,
    /// Whether the file has changed since.
    pub state: MemoryState,
    /// What changed since, where a run asked.
    pub change_message: Option<String>,
}

/// What the memory cost and saved on one day, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryDayTotals {
    /// The day, `2026-11-21`.
    pub day: String,
    /// Tokens worked through to make summaries and messages of changes.
    pub spent: u64,
    /// Tokens that summaries already there made unnecessary: what each cost when it was made.
    pub saved: u64,
}

impl Magis {
    /// Returns what memory holds of each of `files` of the last commit, in their order. Contents that were never looked
    /// into are.
    ///
    /// # Errors
    /// When the repository or the database cannot be read.
    pub fn memory_of(&self, repo: RepoId, files: &[FileEntry]) -> Result<Vec<FileMemory>, EngineError> {
        let snapshot = self.snapshot_of(repo, &BaseChoice::Head)?;
        let mut texts = snapshot.read_ahead(files.iter().map(|file| &file.blob));
        let contents = contents::look_into(&self.data.index(repo), &versions(files), |_, blob| {
            contents::in_git(texts.scan(blob))
        });
        let all = self.store.all_summaries(repo)?;
        let mut by_path: BTreeMap<&RepoPath, Vec<&Summary>> = BTreeMap::new();
        let mut by_content: BTreeMap<&BlobId, &Summary> = BTreeMap::new();
        for summary in &all {
            by_path.entry(&summary.kept.path).or_default().push(summary);
            by_content.entry(&summary.kept.blob).or_insert(summary);
        }
        let memory = |file: &FileEntry| {
            let versions = by_path.get(&file.path).map(Vec::as_slice).unwrap_or_default();
            let exact = || versions.iter().filter(|one| one.kept.blob == file.blob);
            let known = exact()
                .find(|one| one.is_corrected())
                .or_else(|| exact().next())
                .or_else(|| by_content.get(&file.blob))
                .or_else(|| versions.first())
                .map(|summary| (*summary).clone());
            let needs_none = contents.get(&file.blob).and_then(|content| content.needs_none());
            let state = state_of(known.as_ref(), &file.blob, needs_none);
            FileMemory {
                path: file.path.clone(),
                bytes: file.bytes,
                state,
                summary: known.filter(|_| !matches!(state, MemoryState::SummaryNotNeeded(_))),
            }
        };
        Ok(files.iter().map(memory).collect())
    }

    /// Returns how many of `files` memory knows, without looking into any: one that nobody looked into yet counts as
    /// text.
    ///
    /// # Errors
    /// When the repository or the database cannot be read.
    pub fn coverage_of(&self, repo: RepoId, files: &[FileEntry]) -> Result<Coverage, EngineError> {
        let mut contents = contents::known(&self.data.index(repo));
        for file in files {
            contents
                .entry(file.blob.clone())
                .or_insert(BlobKind::Text { bytes: file.bytes });
        }
        Ok(self.store.coverage(repo, &versions(files), |blob| {
            contents.get(blob).and_then(|content| content.needs_none()).is_some()
        })?)
    }

    /// Returns what the memory of a repository cost and saved by day, the last day first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_days(&self, repo: RepoId) -> Result<Vec<MemoryDayTotals>, EngineError> {
        let mut days: BTreeMap<String, MemoryDayTotals> = BTreeMap::new();
        let steps = [Template::FileSummary.name(), Template::ChangeMessage.name()];
        for total in self.store.day_totals(Some(repo))? {
            if steps.contains(&total.step.as_str()) {
                let day = days.entry(total.day.clone()).or_default();
                day.spent += total.prompt_tokens + total.generated_tokens;
            }
        }
        for outside in self.store.memory_work_by_day(repo)? {
            days.entry(outside.day).or_default().spent += outside.tokens;
        }
        let costs: BTreeMap<RepoPath, u64> = self.store.summary_costs(repo)?.into_iter().collect();
        for reuse in self.store.reuses(repo)? {
            days.entry(reuse.day).or_default().saved += costs.get(&reuse.path).copied().unwrap_or(0);
        }
        let named = |(day, totals)| MemoryDayTotals { day, ..totals };
        Ok(days.into_iter().rev().map(named).collect())
    }

    /// Returns what is remembered of a file: the summary of its version in the last commit, or else the last one.
    ///
    /// # Errors
    /// When the repository or the database cannot be read.
    pub fn remembered(&self, repo: RepoId, path: &RepoPath) -> Result<Option<Remembered>, EngineError> {
        let now_there = self.head_file(repo, path).ok().map(|(_, blob)| blob);
        let exact = match &now_there {
            Some(blob) => self.store.summary_of(repo, path, blob)?,
            None => None,
        };
        let Some(summary) = exact.map_or_else(|| self.store.latest_summary(repo, path), |found| Ok(Some(found)))?
        else {
            return Ok(None);
        };
        let change_message = match &now_there {
            Some(blob) => self.messages_between(repo, &summary, blob)?,
            None => None,
        };
        let state = now_there.map_or(MemoryState::Stale, |blob| state_of(Some(&summary), &blob, None));
        Ok(Some(Remembered {
            summary,
            state,
            change_message,
        }))
    }

    /// Puts a person's words in place of a model's; runs read them from now on.
    ///
    /// # Errors
    /// When HEAD has no such file, or the database cannot be written.
    pub fn correct_summary(&self, repo: RepoId, path: &RepoPath, text: &str) -> Result<Remembered, EngineError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EngineError::EmptySummary { path: path.clone() });
        }
        let missing = || EngineError::NothingRemembered { path: path.clone() };
        let known = self.remembered(repo, path)?.ok_or_else(missing)?;
        self.store
            .correct_summary(repo, path, &known.summary.kept.blob, text, now_ms())?
            .ok_or_else(missing)?;
        self.remembered(repo, path)?.ok_or_else(missing)
    }

    /// Makes the summary of a file anew (P2), of its version in the last commit. What a person wrote in its place goes.
    ///
    /// # Errors
    /// When HEAD has no such file, the model fails, or the database cannot be written.
    pub async fn renew_summary(
        &self,
        repo: RepoId,
        path: &RepoPath,
        model: Arc<dyn LanguageModel>,
    ) -> Result<Remembered, EngineError> {
        let (text, blob) = self.head_file(repo, path)?;
        let file = FileVersion {
            repo,
            path,
            blob: &blob,
            text: &text,
        };
        let mut calls = memory_log::calls(&self.store, repo, model);
        let described = describing::ask_summary(&mut calls, file)
            .await
            .map_err(|error| describing::no_summary(path, error))?;
        self.store.replace_summaries(&described)?;
        let missing = || EngineError::NothingRemembered { path: path.clone() };
        self.remembered(repo, path)?.ok_or_else(missing)
    }

    /// Drops what is remembered of a file, in all versions; returns how many summaries there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_summary(&self, repo: RepoId, path: &RepoPath) -> Result<u32, EngineError> {
        Ok(self.store.drop_summaries_of(repo, path)?)
    }

    /// Returns what is on record of the changes from a summary's version to this one, in their order.
    fn messages_between(&self, repo: RepoId, summary: &Summary, to: &BlobId) -> Result<Option<String>, EngineError> {
        let template_hash = Template::ChangeMessage.hash();
        let maker = Maker {
            model_sha: &summary.kept.model_sha,
            template_hash: &template_hash,
        };
        let chains = summary_lookup::chains(&self.store, repo, maker, vec![summary.clone()])?;
        let found = chains
            .into_iter()
            .find(|chain| chain.end == *to && !chain.messages.is_empty());
        Ok(found.map(|chain| chain.messages.join(" Then: ")))
    }

    /// Returns the text and the blob of a file of the last commit.
    fn head_file(&self, repo: RepoId, path: &RepoPath) -> Result<(String, BlobId), EngineError> {
        let snapshot = self.snapshot_of(repo, &BaseChoice::Head)?;
        let blob = snapshot.blob(path)?;
        Ok((snapshot.read(path)?.text, blob))
    }
}

fn versions(files: &[FileEntry]) -> Vec<(RepoPath, BlobId)> {
    files
        .iter()
        .map(|file| (file.path.clone(), file.blob.clone()))
        .collect()
}

/// A run takes the very summary first, then what needs none as it is, and an older summary last.
fn state_of(summary: Option<&Summary>, blob: &BlobId, needs_none: Option<SummaryNotNeeded>) -> MemoryState {
    match (summary, needs_none) {
        (Some(summary), _) if summary.kept.blob == *blob => MemoryState::Fresh,
        (_, Some(why)) => MemoryState::SummaryNotNeeded(why),
        (Some(_), None) => MemoryState::Stale,
        (None, None) => MemoryState::None,
    }
}
