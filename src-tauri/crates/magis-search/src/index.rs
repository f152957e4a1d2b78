//! The index of one tree: opening, building and bringing it up to date.
//!
//! What is indexed is keyed by blob, so that branches, renames and checkouts cost only what is new; where a blob lies in
//! the tree is the view's. It does not read git.

use crate::file::File;
use crate::metadata::{Depth, Key};
use crate::store::{OpenState, Store, StoredContent, StoredSegment};
use crate::view::{Tree, View};
use crate::{SearchError, reading};
use magis_core::{BlobId, RepoPath, SkipReason, SkippedFile};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// How many contents that its tree does not have, as branches left behind do, an index keeps for a way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// None but those of the tree before.
    None,
    /// Twice as many as the tree has, or 2000 where that is more.
    Few,
    /// All there ever were.
    All,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// Files read and added.
    pub added: usize,
    /// Files of the earlier tree that this one does not have.
    pub removed: usize,
    /// Files whose content was there already.
    pub kept: usize,
    /// All files of the tree that are no text or could not be read, in the order of their paths; a ranking does not have
    /// them. What is no text is remembered, and the others are tried again by the next update.
    pub skipped: Vec<SkippedFile>,
    /// Files whose path alone is indexed because their text is huge or minified.
    pub path_only: Vec<RepoPath>,
    /// Files not reached because the update was stopped; the next update adds them.
    pub not_reached: usize,
}

/// A search index over the files of one tree. Opened from a folder it knows the contents of earlier trees, but stands for
/// no tree until [`Index::update`].
#[derive(Debug)]
pub struct Index {
    state: OpenState,
    pub(crate) store: Store,
    /// All that is stored, of whatever tree.
    stored: Vec<Arc<StoredSegment>>,
    retention: Retention,
    pub(crate) view: View,
}

impl Index {
    /// Returns an empty index in memory.
    ///
    /// # Errors
    /// When tantivy cannot make an index.
    pub fn in_memory() -> Result<Self, SearchError> {
        Self::over(Store::in_memory()?, Vec::new(), OpenState::New)
    }

    /// Returns the index in `folder`, made there if there is none; a damaged or outdated one is emptied, see
    /// [`Index::state`].
    ///
    /// # Errors
    /// When the folder cannot be made, or another program writes to it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SearchError> {
        let (store, stored, state) = Store::open(folder.as_ref())?;
        Self::over(store, stored, state)
    }

    /// Keeps this number of contents that the tree does not have, instead of a few.
    #[must_use]
    pub fn retaining(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// Returns how the index was found.
    pub fn state(&self) -> &OpenState {
        &self.state
    }

    /// Returns how many files its tree has.
    pub fn files(&self) -> usize {
        self.view.files.len()
    }

    /// Makes the index stand for exactly `wanted`: reads the contents that are missing.
    /// `progress` is told how many of the missing contents are done, and their number.
    ///
    /// # Errors
    /// When the tree cannot be read, or the index cannot be written.
    pub fn update(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Update, SearchError> {
        self.update_while(wanted, read, |done, total| {
            progress(done, total);
            ControlFlow::Continue(())
        })
    }

    /// As [`Index::update`], until `progress` breaks; what was added by then is kept for the next time.
    ///
    /// # Errors
    /// When the tree cannot be read, or the index cannot be written.
    pub fn update_while(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        self.update_to(Depth::Whole, wanted, read, progress)
    }

    /// As [`Index::update_while`], but reads words alone, in a small part of the time: for a first search in a tree that is
    /// new. The next [`Index::update`] reads the rest of the same contents; until then a ranking says that it has only words.
    ///
    /// # Errors
    /// When the tree cannot be read, or the index cannot be written.
    pub fn update_text_while(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        self.update_to(Depth::Text, wanted, read, progress)
    }

    fn update_to(
        &mut self,
        depth: Depth,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        let tree: Tree = wanted.iter().map(|(path, blob)| (path, Key::of(path, blob))).collect();
        let mut missing = self.missing(&tree, depth);
        let mut update = Update {
            kept: tree.len() - missing.values().map(Vec::len).sum::<usize>(),
            ..Update::default()
        };
        let before = self.view.files.iter();
        let is_gone = |file: &&File| tree.get(&file.path).is_none_or(|key| key.blob != *file.blob());
        update.removed = before.filter(is_gone).count();
        if !missing.is_empty() {
            self.add(depth, &tree, &mut missing, &mut update, read, progress)?;
        }
        let searcher = self.store.look(&mut self.stored)?;
        update.skipped.extend(self.no_texts(&tree));
        update.skipped.sort_by(|one, other| one.path.cmp(&other.path));
        self.view = View::of(searcher, &tree, &self.stored);
        Ok(update)
    }

    /// Returns the contents of `tree` that the index has not read so far, with the paths they lie at.
    fn missing<'t>(&self, tree: &'t Tree<'_>, depth: Depth) -> BTreeMap<&'t Key, Vec<&'t RepoPath>> {
        let known = self.known(depth);
        let mut missing: BTreeMap<&Key, Vec<&RepoPath>> = BTreeMap::new();
        for (path, key) in tree.iter().filter(|(_, key)| !known.contains(key)) {
            missing.entry(key).or_default().push(path);
        }
        missing
    }

    /// Returns the files of `tree` of which the index knows that they are no texts.
    fn no_texts(&self, tree: &Tree<'_>) -> Vec<SkippedFile> {
        let stored = self.contents().map(|content| &content.metadata);
        let known: HashMap<&Key, &SkipReason> = stored
            .filter_map(|metadata| Some((&metadata.key, metadata.skipped.as_ref()?)))
            .collect();
        let of = |(path, key): (&&RepoPath, &Key)| Some(skipped(path, known.get(key)?));
        tree.iter().filter_map(of).collect()
    }

    fn contents(&self) -> impl Iterator<Item = &StoredContent> {
        self.stored.iter().flat_map(|segment| &segment.contents)
    }

    /// Returns what was read so far or further.
    fn known(&self, depth: Depth) -> HashSet<&Key> {
        let deep = self.contents().filter(|content| content.metadata.depth >= depth);
        deep.map(|content| &content.metadata.key).collect()
    }

    /// Reads and writes what is `missing` of `tree`.
    fn add(
        &mut self,
        depth: Depth,
        tree: &Tree<'_>,
        missing: &mut BTreeMap<&Key, Vec<&RepoPath>>,
        update: &mut Update,
        mut read: impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
        mut progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<(), SearchError> {
        let mut writer = self.store.writer(missing.len())?;
        // Another process may have written since this one looked.
        self.store.look(&mut self.stored)?;
        let known = self.known(depth);
        missing.retain(|key, _| !known.contains(key));
        let mut next = self.contents().map(|content| content.id + 1).max().unwrap_or(0);
        for id in self.surplus(tree) {
            writer.remove(id);
        }
        let shallow: HashMap<&Key, u64> = self
            .contents()
            .filter(|content| content.metadata.depth < depth)
            .map(|content| (&content.metadata.key, content.id))
            .collect();
        let mut ordered: Vec<(&&Key, &Vec<&RepoPath>)> = missing.iter().collect();
        ordered.sort_by_key(|(_, paths)| paths[0]);
        let (mut done, mut uncommitted) = (0, 0);
        let mut reached = vec![false; ordered.len()];
        let jobs = ordered.iter().map(|(key, paths)| (paths[0], &key.blob));
        reading::read_all(jobs, depth, &mut read, |number, content| {
            let (key, paths) = ordered[number];
            let each = || paths.iter().copied();
            reached[number] = true;
            match content {
                Ok(content) => {
                    if content.path_only {
                        update.path_only.extend(each().cloned());
                    }
                    if content.metadata.skipped.is_none() {
                        update.added += paths.len();
                    }
                    if let Some(id) = shallow.get(key) {
                        writer.remove(*id);
                    }
                    uncommitted += content.weight();
                    writer.add(next, content)?;
                    next += 1;
                }
                Err(reason) => update.skipped.extend(each().map(|path| skipped(path, &reason))),
            }
            done += 1;
            if uncommitted > COMMIT_EVERY {
                uncommitted = 0;
                writer.commit()?;
            }
            Ok(progress(done, ordered.len()))
        })?;
        let left = reached.iter().zip(&ordered).filter(|(reached, _)| !**reached);
        update.not_reached = left.map(|(_, (_, paths))| paths.len()).sum();
        update.path_only.sort();
        writer.finish()
    }

    /// Returns the oldest contents that neither the tree gone to nor the one before it has, beyond what is kept for a
    /// way back.
    fn surplus(&self, tree: &Tree<'_>) -> Vec<u64> {
        let wanted: HashSet<&Key> = tree.values().collect();
        let viewed: HashSet<&Key> = self.view.files.iter().map(|file| &file.metadata.key).collect();
        let stored = self.contents().map(|content| (content.id, &content.metadata.key));
        let mut others: Vec<u64> = stored
            .filter(|(_, key)| !wanted.contains(key) && !viewed.contains(key))
            .map(|(id, _)| id)
            .collect();
        others.sort_unstable();
        let most = match self.retention {
            Retention::None => 0,
            Retention::Few => (KEPT * wanted.len()).max(KEPT_AT_LEAST),
            Retention::All => usize::MAX,
        };
        others.truncate(others.len().saturating_sub(most));
        others
    }

    /// Returns the contents of the tree whose literals have this run of words, by their numbers.
    pub(crate) fn holders(&self, run: &str) -> Result<Vec<u32>, SearchError> {
        self.store.holders(&self.view.searcher, &self.view.content_of_doc, run)
    }

    /// `stored` is what was read of the store by now.
    fn over(store: Store, mut stored: Vec<Arc<StoredSegment>>, state: OpenState) -> Result<Self, SearchError> {
        let searcher = store.look(&mut stored)?;
        Ok(Self {
            state,
            store,
            retention: Retention::Few,
            view: View::of(searcher, &Tree::new(), &stored),
            stored,
        })
    }
}

fn skipped(path: &RepoPath, reason: &SkipReason) -> SkippedFile {
    SkippedFile {
        path: path.to_string(),
        reason: reason.clone(),
    }
}

/// The most bytes of terms that are lost when the program is killed while it indexes.
const COMMIT_EVERY: usize = 64 << 20;
/// [`Retention::Few`] as a multiple of what the tree has.
const KEPT: usize = 2;
/// The least number for that, where the tree is small.
const KEPT_AT_LEAST: usize = 2000;
