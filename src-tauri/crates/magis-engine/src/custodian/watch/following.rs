//! Brings index and memory state up to date with the working tree, change by change, on a thread of its own.

use super::{WatchEvent, WatchFailure, Watched};
use crate::EngineError;
use crate::custodian::contents::{self, BlobKind};
use crate::custodian::index_state::{self, lock};
use magis_core::{BlobId, RepoPath, SkipReason};
use magis_repo::{ChangedPaths, GitPart, Repository, WatcherEvent, WorkReader, WorkText, WorkTree};
use magis_search::{Index, SearchError, Update};
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often is looked whether somebody else (a run on another commit) changed the index.
const LOOK: Duration = Duration::from_secs(2);
/// When a file that changed under our eyes is looked at again.
const AGAIN: Duration = Duration::from_millis(200);
/// How seldom at the most, where it changes each time.
const SELDOM: Duration = Duration::from_secs(30);
/// How often the progress of reading is told.
const BEAT: Duration = Duration::from_millis(500);
/// An index that nobody needed for so long is closed: it holds names and imports of every file in memory.
const UNUSED: Duration = Duration::from_mins(1);

/// A message to the thread that follows a repository.
#[derive(Debug)]
pub(crate) enum WatcherMessage {
    /// Something that the watcher reported, and when.
    Event(WatcherEvent, Instant),
    Recount,
    /// Nobody wants to know any more.
    Stop,
}

/// How much of the working tree is looked at again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    Nothing,
    Files(BTreeSet<RepoPath>),
    All,
}

/// Keeps one repository's index and memory state right.
pub(crate) struct Following {
    watched: Watched,
    repository: Repository,
    stop: CancellationToken,
    folder: PathBuf,
    work: Option<WorkTree>,
    index: Option<Opened>,
    /// What the index said of itself on the disk when it was last right.
    stamp: Option<String>,
    /// What could not be done the last time, so that it is said once.
    failed: Option<String>,
    /// Files that changed while they were read the last time.
    restless: BTreeSet<RepoPath>,
}

/// The index while it is in use.
struct Opened {
    index: Index,
    used: Instant,
}

impl Scope {
    /// Returns what a word of the watcher asks to look at.
    pub fn of(event: &WatcherEvent) -> Self {
        match event {
            WatcherEvent::Watching { .. } | WatcherEvent::Polling { .. } => Self::All,
            WatcherEvent::Changed(change)
                if change.head.is_some() || change.git.iter().any(|part| *part != GitPart::Refs) =>
            {
                Self::All
            }
            WatcherEvent::Changed(change) => match &change.paths {
                ChangedPaths::None => Self::Nothing,
                ChangedPaths::Some(paths) => Self::Files(paths.iter().cloned().collect()),
                ChangedPaths::Many => Self::All,
            },
        }
    }

    /// Joins two sets of changes into one.
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Nothing, scope) | (scope, Self::Nothing) => scope,
            (Self::Files(mut one), Self::Files(other)) => {
                one.extend(other);
                Self::Files(one)
            }
        }
    }
}

impl Following {
    pub fn new(watched: Watched, repository: Repository, stop: CancellationToken) -> Self {
        let folder = watched.magis.data.index(watched.repo);
        Self {
            watched,
            repository,
            stop,
            folder,
            work: None,
            index: None,
            stamp: None,
            failed: None,
            restless: BTreeSet::new(),
        }
    }

    /// Until nobody wants to know any more. What could not be done is tried again.
    pub fn follow(&mut self, messages: &Receiver<WatcherMessage>) {
        let mut left = Scope::Nothing;
        let mut wait = LOOK;
        let mut again = AGAIN;
        loop {
            let mut next = match messages.recv_timeout(wait) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let (mut since, mut recounts) = (None, false);
            let mut scope = std::mem::replace(&mut left, Scope::Nothing);
            wait = LOOK;
            while let Some(message) = next {
                match message {
                    WatcherMessage::Stop => return,
                    WatcherMessage::Recount => recounts = true,
                    WatcherMessage::Event(event, at) => {
                        since.get_or_insert(at);
                        scope = scope.with(Scope::of(&event));
                        self.watched.held().changed_at = at;
                        self.watched.report(WatchEvent::from(&event));
                    }
                }
                next = messages.try_recv().ok();
            }
            if recounts {
                self.recount();
            }
            if scope == Scope::Nothing && (self.work.is_none() || !self.somebody_changed_the_index()) {
                self.index = self.index.take().filter(|opened| opened.used.elapsed() < UNUSED);
                continue;
            }
            match self.catch_up(&scope, since.unwrap_or_else(Instant::now)) {
                Ok(changing) => {
                    self.failed = None;
                    if !changing.is_empty() {
                        // What does not come to rest is looked at more and more seldom.
                        again = if self.restless == changing {
                            (2 * again).min(SELDOM)
                        } else {
                            AGAIN
                        };
                        wait = again;
                        left = Scope::Files(changing.clone());
                    }
                    self.restless = changing;
                }
                Err(_) if self.stop.is_cancelled() => return,
                Err(error) => {
                    self.index = None;
                    left = Scope::All;
                    let sentence = error.to_string();
                    if self.failed.replace(sentence.clone()) != Some(sentence) {
                        self.watched.report(WatchEvent::Failed(WatchFailure::of(error)));
                    }
                }
            }
        }
    }

    /// Looks at what was touched, and brings the index up to date with it. Gives the files that changed again meanwhile:
    /// they are in the index once they have been looked at anew.
    fn catch_up(&mut self, scope: &Scope, since: Instant) -> Result<BTreeSet<RepoPath>, EngineError> {
        let recovered = self.failed.is_some();
        let unreadable = self.work.as_ref().map(|work| work.unreadable().clone());
        match (&mut self.work, scope) {
            (_, Scope::Nothing) => {}
            (Some(work), Scope::Files(paths)) => {
                let paths: Vec<RepoPath> = paths.iter().cloned().collect();
                let uncommitted = work.uncommitted().clone();
                let changed = work.look_at(&paths)?;
                // What a look could not read stays to be read, though it has not changed since.
                let is_same = changed.is_empty()
                    && *work.uncommitted() == uncommitted
                    && unreadable.as_ref() == Some(work.unreadable());
                if is_same && self.restless.is_empty() && !recovered && !self.somebody_changed_the_index() {
                    return Ok(BTreeSet::new());
                }
            }
            (Some(work), Scope::All) => work.look_at_all()?,
            (none @ None, Scope::Files(_) | Scope::All) => *none = Some(WorkTree::read(&self.repository)?),
        }
        let Some(work) = self.work.clone().map(Arc::new) else {
            return Ok(BTreeSet::new());
        };
        if unreadable.unwrap_or_default() != *work.unreadable() {
            let files = work.unreadable().iter().cloned().collect();
            self.watched.report(WatchEvent::Unreadable { files });
        }
        let (update, changing) = self.index_of(&work)?;
        let before = self.watched.held().work.clone();
        let same_files = before.as_ref().is_some_and(|before| before.files() == work.files());
        let index = self.index.as_ref();
        let told = index.filter(|_| !same_files || update.added > 0 || recovered);
        let connections = told.map(|opened| Arc::new(opened.index.connections()));
        {
            // Both at once: whoever chooses files sees them together.
            let mut held = self.watched.held();
            held.work = Some(Arc::clone(&work));
            if let Some(connections) = connections {
                held.connections = connections;
            }
        }
        if let Some(opened) = told {
            self.watched.report(WatchEvent::Indexed {
                files: opened.index.files(),
                added: update.added,
                removed: update.removed,
                took_ms: u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX),
            });
        }
        if before.as_ref() != Some(&work) {
            self.recount();
        }
        Ok(changing)
    }

    /// Brings the index up to date with the working tree; what it did, and the files that changed while they were read.
    fn index_of(&mut self, work: &WorkTree) -> Result<(Update, BTreeSet<RepoPath>), EngineError> {
        let wanted: Vec<(RepoPath, BlobId)> = work
            .files()
            .iter()
            .map(|(path, blob)| (path.clone(), blob.clone()))
            .collect();
        let reader = work.reader();
        let stop = self.stop.clone();
        let _lock = lock(&self.folder, &mut || going(&stop))?;
        let stamp = self.stamp_now();
        let is_ours = !stamp.is_empty() && self.stamp.take() == Some(stamp);
        let mut index = match self.index.take().filter(|_| is_ours) {
            Some(opened) => opened.index,
            None => Index::open(&self.folder)?,
        };
        let mut changing = BTreeSet::new();
        let update = match self.update(&mut index, &reader, &wanted, &mut changing) {
            // What was damaged under our hands is recognised, and made anew, by opening it.
            Err(SearchError::Read(_) | SearchError::Write(_)) => {
                index = Index::open(&self.folder)?;
                self.update(&mut index, &reader, &wanted, &mut changing)?
            }
            update => update?,
        };
        self.stamp = Some(self.stamp_now());
        self.index = Some(Opened {
            index,
            used: Instant::now(),
        });
        Ok((update, changing))
    }

    fn update(
        &mut self,
        index: &mut Index,
        reader: &WorkReader,
        wanted: &[(RepoPath, BlobId)],
        changing: &mut BTreeSet<RepoPath>,
    ) -> Result<Update, SearchError> {
        let commit = self.repository.head_place().ok().and_then(|head| head.commit);
        index_state::forget(&self.folder);
        let (stop, watched) = (self.stop.clone(), self.watched.clone());
        let mut told = Instant::now();
        let mut found = Vec::new();
        let update = index.update_while(
            wanted,
            |path, blob| {
                let text = reader.text(path, blob);
                found.extend(content_of(&text).map(|content| (blob.clone(), content)));
                match text {
                    WorkText::Text(source) => Ok(source.text),
                    // The index remembers it.
                    WorkText::NotText(reason) => Err(reason),
                    WorkText::Changed => {
                        changing.insert(path.clone());
                        Err(SkipReason::Missing)
                    }
                }
            },
            |done, total| {
                if told.elapsed() >= BEAT {
                    told = Instant::now();
                    watched.report(WatchEvent::Indexing { done, total });
                }
                going(&stop)
            },
        );
        contents::note(&self.folder, &found);
        let update = update?;
        if update.not_reached == 0
            && let Some(commit) = commit
        {
            index_state::note(&self.folder, &commit);
        }
        Ok(update)
    }

    /// Counts how much of the working tree memory knows.
    fn recount(&mut self) {
        let Some(work) = &self.work else { return };
        let files: Vec<(RepoPath, BlobId)> = work
            .files()
            .iter()
            .map(|(path, blob)| (path.clone(), blob.clone()))
            .collect();
        // What cannot be read counts as not remembered.
        let reader = work.reader();
        let contents = contents::look_into(&self.folder, &files, |path, blob| {
            let is_going = !self.stop.is_cancelled();
            is_going.then(|| content_of(&reader.text(path, blob))).flatten()
        });
        let needs_none = |blob: &BlobId| contents.get(blob).and_then(|content| content.needs_none()).is_some();
        match self.watched.magis.store.coverage(self.watched.repo, &files, needs_none) {
            Ok(memory) => {
                let mut held = self.watched.held();
                held.state.files = files.len();
                held.state.memory = memory;
                drop(held);
                self.watched.report(WatchEvent::Memory {
                    fresh: memory.fresh,
                    stale: memory.stale,
                    none: memory.none,
                    needs_none: memory.needs_none,
                });
            }
            Err(error) => self.watched.report(WatchEvent::Failed(WatchFailure::of(error.into()))),
        }
    }

    fn somebody_changed_the_index(&self) -> bool {
        self.stamp.as_ref().is_some_and(|known| *known != self.stamp_now())
    }

    /// Returns what the index says of itself on the disk; another text after every change, by whomever.
    fn stamp_now(&self) -> String {
        fs::read_to_string(self.folder.join("meta.json")).unwrap_or_default()
    }
}

/// Returns what a text of the working tree says of its content; nothing where that is gone.
fn content_of(text: &WorkText) -> Option<BlobKind> {
    match text {
        WorkText::Text(source) => Some(BlobKind::of(&source.text)),
        WorkText::NotText(reason) => BlobKind::skipped(reason),
        WorkText::Changed => None,
    }
}

fn going(stop: &CancellationToken) -> ControlFlow<()> {
    if stop.is_cancelled() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_repo::{HeadMove, HeadPlace, RepoChange};

    fn files(names: &[&str]) -> ChangedPaths {
        ChangedPaths::Some(names.iter().map(|name| RepoPath::new(*name).unwrap()).collect())
    }

    fn scope(paths: ChangedPaths, head: Option<HeadMove>, git: &[GitPart]) -> Scope {
        Scope::of(&WatcherEvent::Changed(RepoChange {
            paths,
            head,
            git: git.to_vec(),
        }))
    }

    #[test]
    fn only_named_files_are_looked_at_alone() {
        let moved = HeadMove {
            from: HeadPlace::default(),
            to: HeadPlace::default(),
        };
        let one = Scope::Files([RepoPath::new("a.py").unwrap()].into());
        assert_eq!(scope(files(&["a.py"]), None, &[]), one);
        assert_eq!(scope(files(&["a.py"]), Some(moved), &[]), Scope::All);
        assert_eq!(scope(files(&["a.py"]), None, &[GitPart::Index]), Scope::All);
        let branch = [GitPart::Refs];
        assert_eq!(
            scope(ChangedPaths::None, None, &branch),
            Scope::Nothing,
            "no file follows"
        );
        assert_eq!(scope(ChangedPaths::Many, None, &[]), Scope::All);
        assert_eq!(scope(ChangedPaths::None, None, &[]), Scope::Nothing);
    }

    #[test]
    fn two_words_ask_for_what_both_ask_for() {
        let (a, b) = (scope(files(&["a"]), None, &[]), scope(files(&["b"]), None, &[]));
        assert_eq!(a.clone().with(b), scope(files(&["a", "b"]), None, &[]));
        assert_eq!(a.clone().with(Scope::Nothing), a);
        assert_eq!(a.with(Scope::All), Scope::All);
    }
}
