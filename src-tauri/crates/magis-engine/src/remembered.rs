//! The summary memory as a person sees it: what is remembered of each file, what that cost and saved, and the person's
//! own words in place of a model's.
//!
//! How a run uses the memory is the Custodian's business.

use crate::condense::condense;
use crate::desk::now;
use crate::workspace::CHARS_PER_TOKEN;
use crate::{EngineError, Magis};
use magis_core::{BlobId, RepoId, RepoPath};
use magis_llm::{ChatRequest, Constraint, LanguageModel, Message, MessageRole, Sampling};
use magis_prompts::{FileSummary, Prompt, Template, render};
use magis_repo::{BaseChoice, FileEntry, ObjectStore, Snapshot};
use magis_store::{NewSummary, Summary};
use magis_syntax::skeleton_within;
use std::collections::BTreeMap;

/// Characters of a file that a summary is made from at the most; a longer file gives its skeleton.
const WHOLE_FILE: usize = 1_200 * CHARS_PER_TOKEN;

/// What memory holds of one file of the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMemory {
    /// The file.
    pub path: RepoPath,
    /// Its size in bytes.
    pub bytes: u64,
    /// How well it is remembered.
    pub state: MemoryState,
    /// The summary; none where there is none.
    pub summary: Option<Summary>,
}

/// How well a file is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryState {
    /// As it is.
    Fresh,
    /// In another version.
    Stale,
    /// Not at all.
    None,
}

/// A summary with what is known of its standing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The summary.
    pub summary: Summary,
    /// Whether the file has changed since.
    pub state: MemoryState,
    /// What changed since, where a run asked.
    pub change_message: Option<String>,
}

/// What the memory cost and saved on one day, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryDay {
    /// The day, `2026-11-21`.
    pub day: String,
    /// Tokens worked through to make summaries and messages of changes.
    pub spent: u64,
    /// Tokens that summaries already there made unnecessary: what each cost when it was made.
    pub saved: u64,
}

impl Magis {
    /// What memory holds of each of `files`, in their order.
    pub fn memory_of(&self, repo: RepoId, files: &[FileEntry]) -> Result<Vec<FileMemory>, EngineError> {
        let latest = self.store.summaries(repo)?;
        let latest: BTreeMap<&RepoPath, &Summary> = latest.iter().map(|one| (&one.kept.path, one)).collect();
        let memory = |file: &FileEntry| {
            let known = match latest.get(&file.path) {
                Some(summary) if summary.kept.blob != file.blob => {
                    let exact = self.store.summary_of(repo, &file.path, &file.blob)?;
                    Some(exact.unwrap_or_else(|| (*summary).clone()))
                }
                found => found.map(|summary| (*summary).clone()),
            };
            Ok(FileMemory {
                path: file.path.clone(),
                bytes: file.bytes,
                state: state_of(known.as_ref(), &file.blob),
                summary: known,
            })
        };
        files.iter().map(memory).collect()
    }

    /// What the memory of a repository cost and saved by day, the last day first.
    pub fn memory_days(&self, repo: RepoId) -> Result<Vec<MemoryDay>, EngineError> {
        let mut days: BTreeMap<String, MemoryDay> = BTreeMap::new();
        let steps = [Template::FileSummary.name(), Template::ChangeMessage.name()];
        for total in self.store.day_totals(Some(repo))? {
            if steps.contains(&total.step.as_str()) {
                let day = days.entry(total.day.clone()).or_default();
                day.spent += total.prompt_tokens + total.generated_tokens;
            }
        }
        let costs: BTreeMap<RepoPath, u64> = self.store.summary_costs(repo)?.into_iter().collect();
        for reuse in self.store.reuses(repo)? {
            days.entry(reuse.day).or_default().saved += costs.get(&reuse.path).copied().unwrap_or(0);
        }
        let named = |(day, totals)| MemoryDay { day, ..totals };
        Ok(days.into_iter().rev().map(named).collect())
    }

    /// What is remembered of a file: the summary of its version in the last commit, or else the last one.
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
            Some(blob) => self.store.change_message(repo, path, &summary.kept.blob, blob)?,
            None => None,
        };
        let state = now_there.map_or(MemoryState::Stale, |blob| state_of(Some(&summary), &blob));
        Ok(Some(Remembered {
            summary,
            state,
            change_message: change_message.map(|message| message.message),
        }))
    }

    /// Puts a person's words in place of a model's; runs read them from now on.
    pub fn correct_summary(&self, repo: RepoId, path: &RepoPath, text: &str) -> Result<Remembered, EngineError> {
        let missing = || EngineError::NothingRemembered { path: path.clone() };
        let known = self.remembered(repo, path)?.ok_or_else(missing)?;
        self.store
            .correct_summary(repo, path, &known.summary.kept.blob, text.trim())?
            .ok_or_else(missing)?;
        self.remembered(repo, path)?.ok_or_else(missing)
    }

    /// Makes the summary of a file anew (P2), of its version in the last commit. What a person wrote in its place goes.
    pub async fn renew_summary(
        &self,
        repo: RepoId,
        path: &RepoPath,
        model: &dyn LanguageModel,
    ) -> Result<Remembered, EngineError> {
        let (text, blob) = self.head_file(repo, path)?;
        let (shown, skeleton) = if text.len() <= WHOLE_FILE {
            (text.clone(), false)
        } else if let Some(skeleton) = skeleton_within(path, &text, WHOLE_FILE) {
            (skeleton.text, true)
        } else {
            (condense(&text, WHOLE_FILE).unwrap_or_else(|| text.clone()), false)
        };
        let prompt = FileSummary {
            path: path.to_string(),
            text: shown,
            skeleton,
        };
        let rendered = render(&prompt)?;
        let message = |role, content: &str| Message {
            role,
            content: content.to_owned(),
        };
        let request = ChatRequest {
            messages: vec![
                message(MessageRole::System, &rendered.system),
                message(MessageRole::User, &rendered.user),
            ],
            answer_prefix: rendered.answer,
            constraint: Constraint::None,
            sampling: Sampling::Greedy,
            max_tokens: prompt.max_tokens(),
            stop: prompt.stop(),
        };
        let reply = model.chat(&request, &mut |_| ()).await?;
        let unusable = |error: magis_prompts::ReplyError| EngineError::Summary {
            path: path.clone(),
            why: error.to_string(),
        };
        let summary = prompt.read(&reply.text).map_err(unusable)?;
        let tokens = model.count_tokens(std::slice::from_ref(&summary)).await?;
        let card = model.card().clone();
        self.store.drop_summaries_of(repo, path)?;
        self.store.put_summary(&NewSummary {
            repo,
            path: path.clone(),
            blob,
            text: summary,
            from_skeleton: skeleton,
            file_bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
            tokens: tokens.first().copied().unwrap_or(0),
            model: card.name,
            model_sha: card.sha256,
            template_hash: Template::FileSummary.hash(),
            made_at: now(),
            made_in: None,
        })?;
        let missing = || EngineError::NothingRemembered { path: path.clone() };
        self.remembered(repo, path)?.ok_or_else(missing)
    }

    /// The text and the blob of a file of the last commit.
    fn head_file(&self, repo: RepoId, path: &RepoPath) -> Result<(String, BlobId), EngineError> {
        let repository = self.open_repository(repo)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        let snapshot = Snapshot::take(&repository, &objects, &BaseChoice::Head)?;
        let blob = snapshot.blob(path)?;
        Ok((snapshot.read(path)?.text, blob))
    }
}

fn state_of(summary: Option<&Summary>, blob: &BlobId) -> MemoryState {
    match summary {
        Some(summary) if summary.kept.blob == *blob => MemoryState::Fresh,
        Some(_) => MemoryState::Stale,
        None => MemoryState::None,
    }
}
