//! Where an issue is to be resolved, outside of any run: ranked files and symbols of one tree, each with its evidence. No
//! model is asked.
//!
//! It goes by the same index and the same signals as a run, so that what is shown and measured here is what runs stand on.

use crate::searchable::{Preparing, Searchable};
use crate::{EngineError, Magis};
use magis_core::{Base, BlobId, Candidate, Hint, Issue, RepoId, RepoPath, SkippedFile};
use magis_repo::{BaseChoice, ObjectStore, Repository, Snapshot};
use magis_search::{IssueQuery, Ranking, ScoredSymbol, Signals};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// How much of a ranking is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocateExtent {
    /// So many files at the most.
    pub files: usize,
    /// So many functions and types at the most.
    pub symbols: usize,
    /// The signals that are heard.
    pub signals: Signals,
}

/// Where an issue may have to be resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// In which tree.
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
    /// The repository.
    pub repo: RepoId,
    repository: Repository,
    objects: ObjectStore,
    searchable: Searchable,
    snapshot: Snapshot,
    skipped: Vec<SkippedFile>,
    took: LocateTime,
}

impl Magis {
    /// The files and symbols of a repository that an issue most likely means.
    ///
    /// # Errors
    /// When the repository, the base or the index cannot be read, and when `watch` breaks it off
    /// ([`EngineError::is_cancelled`]); what was indexed by then is kept.
    pub fn locate(
        &self,
        repository: &Path,
        base: &BaseChoice,
        issue: &Issue,
        extent: LocateExtent,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<Location, EngineError> {
        self.locator(repository, base, watch)?.locate(issue, &[], extent)
    }

    /// Opens the index and the history of a repository at one of its trees; what they lack is read first.
    pub fn locator(
        &self,
        repository: &Path,
        base: &BaseChoice,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<Locator, EngineError> {
        let begun = Instant::now();
        let repository = Repository::open(repository)?;
        repository.state()?;
        let repo = self.know(&repository)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        let snapshot = Snapshot::take(&repository, &objects, base)?;
        let mut locator = Locator {
            repo,
            searchable: Searchable::open(&self.data.index(repo))?,
            repository,
            objects,
            snapshot,
            skipped: Vec::new(),
            took: LocateTime::default(),
        };
        let opening = begun.elapsed();
        locator.bring(watch)?;
        locator.took.index += opening;
        Ok(locator)
    }
}

impl Locator {
    /// Goes to another tree of the repository; its index stays open.
    pub fn go_to(
        &mut self,
        base: &BaseChoice,
        watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.snapshot = Snapshot::take(&self.repository, &self.objects, base)?;
        self.bring(watch)
    }

    /// Keeps all contents of trees once gone to: for whoever goes through many.
    #[must_use]
    pub fn keeping_all(mut self) -> Self {
        self.searchable.index = self.searchable.index.keeping(usize::MAX);
        self
    }

    /// The tree it stands at.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The files and symbols that an issue most likely means.
    pub fn locate(&self, issue: &Issue, hints: &[Hint], extent: LocateExtent) -> Result<Location, EngineError> {
        let begun = Instant::now();
        let query = IssueQuery::of(issue, hints);
        let sources = self.searchable.sources(extent.signals);
        let ranking = self.searchable.index.rank_by(&query, sources, extent.files)?;
        let symbols = if extent.symbols > 0 {
            self.searchable.index.symbols(&query, sources, extent.symbols)?
        } else {
            Vec::new()
        };
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

    /// The functions and types of each candidate that an issue most likely means, `most` of each, strongest first.
    pub fn symbols_of(
        &self,
        issue: &Issue,
        candidates: &[Candidate],
        most: usize,
    ) -> Result<Vec<Vec<ScoredSymbol>>, EngineError> {
        let query = IssueQuery::of(issue, &[]);
        let of = |candidate: &Candidate| self.searchable.index.symbols_for(&query, &candidate.path, most);
        Ok(candidates.iter().map(of).collect::<Result<_, _>>()?)
    }

    fn bring(&mut self, watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>) -> Result<(), EngineError> {
        let begun = Instant::now();
        let (files, skipped) = self.snapshot.files()?;
        let files: Vec<(RepoPath, BlobId)> = files.into_iter().map(|file| (file.path, file.blob)).collect();
        self.skipped = skipped;
        let listing = begun.elapsed();
        let brought = self.searchable.bring_to(&self.snapshot, &files, watch)?;
        self.took = LocateTime {
            index: listing + brought.index,
            history: brought.history,
            query: Duration::ZERO,
        };
        Ok(())
    }
}
