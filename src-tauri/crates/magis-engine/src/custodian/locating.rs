//! Where an issue is to be resolved, outside of any run: ranked files and symbols of one tree, each with its evidence; and
//! what a model says of them, where one is asked.
//!
//! It goes by the same index and the same signals as a run, so that what is shown and measured here is what runs stand on.

use super::index_session::{IndexSession, Preparing, joined};
use super::memory_log;
use super::relevance::{self, Relevance, UnconditionalScores, descending};
use crate::calls::condense;
use crate::{EngineError, Magis};
use magis_core::{Base, BlobId, Candidate, Hint, Issue, RepoId, RepoPath, SkippedFile};
use magis_llm::LanguageModel;
use magis_prompts::Head;
use magis_repo::{BaseChoice, ObjectStore, Repository, Snapshot};
use magis_search::{IssueQuery, Ranking, Retention, ScoredSymbol, Signals};
use magis_store::Store;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of an issue the model reads about so many characters, some 700 tokens: on two cores each further thousand costs two
/// seconds.
const ISSUE_CHARACTERS: usize = 2_500;

/// So many functions and types a model is asked about: not quite half of its time. A line of the change lay in one of so
/// many in 68 of 100 issues, in one of 20 in 65.
const SYMBOLS_ASKED: usize = 40;

/// Of a location that a model is to judge so many symbols should be there: those of a file that it lifts come from behind.
pub const SYMBOLS_TO_JUDGE: usize = 100;

/// How much of a ranking is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocateExtent {
    /// The most files that are judged.
    pub files: usize,
    /// The most functions and types that are judged.
    pub symbols: usize,
    /// The signals that are enabled.
    pub signals: Signals,
}

/// Where an issue may have to be resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    pub base: Base,
    /// The files, strongest first.
    pub ranking: Ranking,
    /// Functions and types, strongest first.
    pub symbols: Vec<ScoredSymbol>,
    /// Files that could not be looked at, with the reason.
    pub skipped: Vec<SkippedFile>,
    /// What a person should know of it, a sentence each.
    pub notes: Vec<String>,
    /// How long it took.
    pub took: LocateTime,
}

/// What a model says of a location.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelJudgement {
    /// Of each file, in the order the location has now; of the first ones only.
    pub files: Vec<Relevance>,
    /// Of each symbol, likewise.
    pub symbols: Vec<Relevance>,
    /// How long the model took.
    pub took: Duration,
}

/// How long locating took, by part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LocateTime {
    /// Opening the index and bringing it to the tree.
    pub index: Duration,
    /// Reading the commits before it.
    pub history: Duration,
    /// Ranking files and symbols.
    pub query: Duration,
}

/// The index and the history of one repository, at one of its trees, kept open for several questions.
pub struct Locator {
    pub repo: RepoId,
    repository: Repository,
    objects: ObjectStore,
    index_session: IndexSession,
    snapshot: Snapshot,
    skipped: Vec<SkippedFile>,
    took: LocateTime,
    store: Store,
}

impl Magis {
    /// Opens the index and the history of a repository at one of its trees; what they lack is read first. `retention` is for
    /// whoever goes through many trees.
    ///
    /// # Errors
    /// When the repository, the base or the index cannot be read, and when `watch` breaks it off
    /// ([`EngineError::is_cancelled`]); what was indexed by then is kept.
    pub fn locator(
        &self,
        repository: &Path,
        base: &BaseChoice,
        retention: Retention,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<Locator, EngineError> {
        let begun = Instant::now();
        let repository = self.git.open(repository)?;
        repository.state()?;
        let repo = self.know(&repository)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        let snapshot = Snapshot::take(&repository, &objects, base)?;
        let mut locator = Locator {
            repo,
            index_session: IndexSession::open(&self.data.index(repo), retention, watch)?,
            repository,
            objects,
            snapshot,
            skipped: Vec::new(),
            took: LocateTime::default(),
            store: self.store.clone(),
        };
        let opening = begun.elapsed();
        locator.bring(watch)?;
        locator.took.index += opening;
        Ok(locator)
    }
}

impl Locator {
    /// Goes to another tree of the repository; its index stays open.
    ///
    /// # Errors
    /// When the repository cannot be opened, or there is no such revision.
    pub fn go_to(
        &mut self,
        base: &BaseChoice,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.snapshot = Snapshot::take(&self.repository, &self.objects, base)?;
        self.bring(watch)
    }

    /// Returns the files and symbols that an issue most likely means.
    ///
    /// # Errors
    /// When the repository cannot be read, or the index cannot be written.
    pub fn locate(&self, issue: &Issue, hints: &[Hint], extent: LocateExtent) -> Result<Location, EngineError> {
        let begun = Instant::now();
        let query = IssueQuery::of(issue, hints);
        let sources = self.index_session.sources(extent.signals);
        let (ranking, symbols) = self
            .index_session
            .index
            .locate(&query, sources, extent.files, extent.symbols)?;
        let mut notes = self.snapshot.notes().to_vec();
        notes.extend(ranking.notes.iter().cloned());
        Ok(Location {
            base: self.snapshot.base().clone(),
            ranking,
            symbols,
            skipped: self.skipped.clone(),
            notes,
            took: LocateTime {
                query: begun.elapsed(),
                ..self.took
            },
        })
    }

    /// Asks a model for the first `files` files of a location and for the 40 functions and types that come first
    /// once it has been heard on their files, and puts both in the order that ranking and model give together. What
    /// lies behind those stays as it is.
    ///
    /// # Errors
    /// When the model fails or its call is cancelled.
    pub async fn judge(
        &self,
        issue: &Issue,
        location: &mut Location,
        files: usize,
        model: Arc<dyn LanguageModel>,
    ) -> Result<ModelJudgement, EngineError> {
        let begun = Instant::now();
        let condensed = condense(issue.text(), ISSUE_CHARACTERS);
        if let Some(text) = &condensed {
            location.notes.push(format!(
                "The model read {} of the issue's {} characters",
                text.chars().count(),
                issue.text().chars().count()
            ));
        }
        let head = Head {
            issue: Some(condensed.unwrap_or_else(|| issue.text().to_owned())),
            hints: Vec::new(),
        };
        let asked = files.min(location.ranking.candidates.len());
        let candidates = &mut location.ranking.candidates[..asked];
        let memory = UnconditionalScores::new(&self.store, self.repo, model.card());
        let mut calls = memory_log::calls(&self.store, self.repo, model);
        let of_files = relevance::judge_files(&mut calls, &memory, &head, candidates).await?;
        propagate(&mut location.symbols, candidates, &of_files.relevance);
        let named = SYMBOLS_ASKED.min(location.symbols.len());
        let symbols = &mut location.symbols[..named];
        let of_symbols = relevance::judge_symbols(&mut calls, &memory, &head, symbols).await?;
        for (what, why) in [("files", of_files.unasked), ("functions", of_symbols.unasked)] {
            if let Some(why) = why {
                location
                    .notes
                    .push(format!("The ranking of {what} stands alone: {why}"));
            }
        }
        Ok(ModelJudgement {
            files: reorder(candidates, &of_files.relevance),
            symbols: reorder(symbols, &of_symbols.relevance),
            took: begun.elapsed(),
        })
    }

    fn bring(&mut self, watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>) -> Result<(), EngineError> {
        let begun = Instant::now();
        let listed = self
            .snapshot
            .files_while(&mut |files| watch(Preparing::Listing { files }))?;
        let (files, skipped) = listed.ok_or_else(EngineError::cancelled)?;
        let files: Vec<(RepoPath, BlobId)> = files.into_iter().map(|file| (file.path, file.blob)).collect();
        let listing = begun.elapsed();
        let synced = self.index_session.sync_to(&self.snapshot, &files, watch)?;
        self.skipped = joined(skipped, synced.skipped);
        self.took = LocateTime {
            index: listing + synced.index,
            history: synced.history,
            query: Duration::ZERO,
        };
        Ok(())
    }
}

/// Lets symbols rise and fall with their files, which have been judged since.
fn propagate(symbols: &mut [ScoredSymbol], files: &[Candidate], relevance: &[Relevance]) {
    let best = files.iter().map(|file| file.score).fold(f64::MIN_POSITIVE, f64::max);
    let more: BTreeMap<&RepoPath, f64> = files
        .iter()
        .zip(relevance)
        .map(|(file, relevance)| (&file.path, relevance.fused - file.score / best))
        .collect();
    for symbol in symbols.iter_mut() {
        symbol.file_is_worth_more(more.get(&symbol.path).copied().unwrap_or(0.0));
    }
    symbols.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// Puts things in the order of their relevance, which is given back in that order.
fn reorder<T: Clone>(things: &mut [T], relevance: &[Relevance]) -> Vec<Relevance> {
    let fused: Vec<f64> = relevance.iter().map(|one| one.fused).collect();
    let order = descending(&fused);
    let before = things.to_vec();
    for (place, at) in order.iter().enumerate() {
        things[place] = before[*at].clone();
    }
    order.into_iter().map(|at| relevance[at]).collect()
}
