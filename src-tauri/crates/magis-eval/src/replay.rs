//! A history replayed commit by commit: what a model reads to keep the summaries of changed files right, with memory and
//! without.
//!
//! The summaries are made by the engine's own way of describing a file; only the answers are of typical length where no
//! model is asked. It writes nothing into the repository.

mod history;
mod meter;

pub use history::{History, ReplayStep};
pub use meter::{Answers, CHARACTERS_A_TOKEN, Meter, Spent, TYPICAL_MESSAGE, TYPICAL_SUMMARY, TokensBy};

use anyhow::{Context as _, Result};
use magis_core::{Description, DescriptionSource, RepoId, RepoPath};
use magis_engine::model::{Priority, WorkerCommand};
use magis_engine::{DataFolder, Magis};
use magis_llm::LanguageModel;
use magis_repo::{BaseChoice, Git, ObjectStore, Repository, Snapshot};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What memory holds when the replay begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    Cold,
    /// The files that will change, as they are at the commit the replay begins from.
    Warm,
}

/// How versions were described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Descriptions {
    /// Versions that were described.
    pub versions: u32,
    /// Of these: their very content had a summary.
    pub stored: u32,
    /// A summary with what changed since.
    pub updated: u32,
    pub anew: u32,
    /// The file itself, which is shorter than a summary.
    pub itself: u32,
}

/// What a way of doing it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Way {
    pub descriptions: Descriptions,
    /// What the model did for it.
    pub spent: Spent,
}

/// What a replay of a history found, commit by commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Replayed {
    /// Commits that were replayed.
    pub commits: u32,
    /// Changed versions that were left out, because they are no text or too large for any run.
    pub unreadable: u32,
    /// The summaries that memory holds at the beginning, made once.
    pub first: Way,
    /// With memory, from there on.
    pub memory: Way,
    /// Each changed version summarised anew.
    pub anew: Way,
    /// Tokens of each changed version read whole.
    pub whole: u64,
}

impl Replayed {
    /// Returns how many times less is read with memory than by summarising anew; none where memory read nothing.
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.anew.spent.read, self.memory.spent.read)
    }

    /// Returns the same, with what the first summaries cost counted with memory.
    pub fn ratio_with_first(&self) -> Option<f64> {
        ratio(self.anew.spent.read, self.memory.spent.read + self.first.spent.read)
    }

    /// Returns how many times less is read with memory than by reading whole files.
    pub fn ratio_to_whole(&self) -> Option<f64> {
        ratio(self.whole, self.memory.spent.read)
    }
}

fn ratio(all: u64, part: u64) -> Option<f64> {
    (part > 0).then(|| all as f64 / part as f64)
}

impl Descriptions {
    fn count(&mut self, description: &Description) {
        self.versions += 1;
        *match description.source {
            DescriptionSource::Stored => &mut self.stored,
            DescriptionSource::Updated { .. } => &mut self.updated,
            DescriptionSource::Fresh | DescriptionSource::Names => &mut self.anew,
            DescriptionSource::Itself => &mut self.itself,
        } += 1;
    }
}

/// A memory of its own with the repository in it.
struct Memory {
    magis: Magis,
    repo: RepoId,
    repository: Repository,
    objects: ObjectStore,
}

impl Memory {
    fn new(folder: &Path, clone: &Path) -> Result<Self> {
        let data = DataFolder::locate(Some(folder.to_owned()))?;
        let no_worker = WorkerCommand {
            program: "no-worker".into(),
            args: Vec::new(),
            priority: Priority::Normal,
        };
        let magis = Magis::open(data, no_worker, Git::in_this_process())?;
        let repo = magis.add_repository(clone)?;
        let repository = magis.git().open(clone)?;
        let objects = ObjectStore::open(magis.data().objects(repo), &repository)?;
        Ok(Self {
            magis,
            repo,
            repository,
            objects,
        })
    }

    fn at(&self, commit: &str) -> Result<Snapshot> {
        let choice = BaseChoice::Revision {
            name: commit.to_owned(),
        };
        Snapshot::take(&self.repository, &self.objects, &choice).with_context(|| format!("reading commit {commit}"))
    }

    async fn describe(
        &self,
        snapshot: &Snapshot,
        path: &RepoPath,
        model: Arc<dyn LanguageModel>,
        way: &mut Way,
    ) -> Result<()> {
        let described = self.magis.describe(self.repo, snapshot, path, model).await;
        way.descriptions
            .count(&described.with_context(|| format!("describing {path}"))?);
        Ok(())
    }
}

/// Replays a history. `scratch` is an empty folder; the answers to summaries made anew are always of typical length, so
/// that a model that is asked is asked for the memory alone.
pub async fn replay(history: &History, meter: &Arc<Meter>, start: Start, scratch: &Path) -> Result<Replayed> {
    let clone = scratch.join("clone");
    history.clone_to(&clone)?;
    let memory = Memory::new(&scratch.join("memory"), &clone)?;
    let without = Memory::new(&scratch.join("anew"), &clone)?;
    let mut done = Replayed::default();
    if start == Start::Warm {
        let snapshot = memory.at(history.from())?;
        for path in history.known_before()? {
            if snapshot.read(&path).is_ok() {
                memory
                    .describe(&snapshot, &path, meter.clone(), &mut done.first)
                    .await?;
            }
        }
        done.first.spent = meter.take();
    }
    for ReplayStep { commit, changed } in history.steps()? {
        done.commits += 1;
        // A model is loaded anew for each commit: what it shares with earlier prompts, it shares within one.
        meter.forget();
        let typical = Arc::new(meter.without_answers());
        let (known, empty) = (memory.at(&commit)?, without.at(&commit)?);
        for path in changed {
            let Ok(source) = known.read(&path) else {
                done.unreadable += 1;
                continue;
            };
            memory.describe(&known, &path, meter.clone(), &mut done.memory).await?;
            done.memory.spent += meter.take();
            without.describe(&empty, &path, typical.clone(), &mut done.anew).await?;
            done.anew.spent += typical.take();
            without.magis.drop_summary(without.repo, &path)?;
            done.whole += u64::from(meter.tokens(&source.text).await?);
        }
    }
    Ok(done)
}
