//! The index of one tree: opening, building and bringing it up to date.
//!
//! What is indexed is keyed by blob, so that branches, renames and checkouts cost only what is new; where a blob lies in
//! the tree is the view's. It does not read git.

use crate::facts::{Depth, Facts, Key};
use crate::reading;
use crate::store::{Store, StoredContent, StoredPiece};
use crate::view::View;
use magis_core::{BlobId, RepoPath};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The text of one file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its blob.
    pub blob: BlobId,
    /// Its text.
    pub text: String,
}

/// Where an index lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexPlace {
    /// In memory, gone when dropped.
    Memory,
    /// In this folder, which belongs to the index alone.
    Folder(PathBuf),
}

/// How an index was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenState {
    /// There was none.
    New,
    /// It was there and whole.
    Kept,
    /// What was there could not be used and was thrown away; the next update builds it anew.
    Rebuilt {
        /// What was wrong with it.
        why: String,
    },
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
    /// Files that could not be read; they are not in the index.
    pub unread: Vec<RepoPath>,
    /// Files whose path alone is indexed because their text is huge or minified.
    pub path_only: Vec<RepoPath>,
    /// Files not reached because the update was stopped; the next update adds them.
    pub not_reached: usize,
}

/// Why the index could not be used.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The folder cannot be used.
    #[error(
        "the search index in {folder} cannot be opened: {reason}; check that the folder is writable and the disk is not full"
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Another process writes to it.
    #[error("the search index in {folder} is being updated by another process; wait for it or close it")]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Writing failed.
    #[error("updating the search index failed: {0}; check the free space of the disk, then try again")]
    Write(String),
    /// Reading failed.
    #[error("reading the search index failed: {0}; open the repository again to rebuild it")]
    Read(String),
}

/// A search index over the files of one tree. Opened from a folder it knows the contents of earlier trees, but stands for
/// no tree until [`Index::update`].
#[derive(Debug)]
pub struct Index {
    state: OpenState,
    pub(crate) store: Store,
    /// All that is stored, of whatever tree.
    contents: Vec<StoredContent>,
    /// So many contents of other trees are kept, if it was said.
    spare: Option<usize>,
    pub(crate) view: View,
}

impl Index {
    /// An index of `documents`, made at `place`; in a folder, what is there already is used where blobs agree.
    pub fn build(documents: impl IntoIterator<Item = SourceFile>, place: IndexPlace) -> Result<Self, SearchError> {
        let mut index = match place {
            IndexPlace::Memory => Self::in_memory()?,
            IndexPlace::Folder(folder) => Self::open(folder)?,
        };
        let texts: BTreeMap<RepoPath, (BlobId, String)> = documents
            .into_iter()
            .map(|file| (file.path, (file.blob, file.text)))
            .collect();
        let wanted: Vec<(RepoPath, BlobId)> = texts
            .iter()
            .map(|(path, (blob, _))| (path.clone(), blob.clone()))
            .collect();
        index.update(
            &wanted,
            |path, _| texts.get(path).map(|(_, text)| text.clone()),
            |_, _| {},
        )?;
        Ok(index)
    }

    /// An empty index in memory.
    pub fn in_memory() -> Result<Self, SearchError> {
        Self::over(Store::in_memory()?, OpenState::New)
    }

    /// The index in `folder`, made there if there is none; a damaged or outdated one is emptied, see [`Index::state`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SearchError> {
        let (store, state) = Store::open(folder.as_ref())?;
        Self::over(store, state)
    }

    /// Keeps `contents` that the tree of the day does not have, instead of twice as many as that has: for a way back.
    #[must_use]
    pub fn keeping(mut self, contents: usize) -> Self {
        self.spare = Some(contents);
        self
    }

    /// How the index was found.
    pub fn state(&self) -> &OpenState {
        &self.state
    }

    /// How many files its tree has.
    pub fn files(&self) -> usize {
        self.view.files.len()
    }

    /// Makes the index stand for exactly `wanted`: reads the contents that are missing.
    /// `progress` is told how many of the missing contents are done, and their number.
    pub fn update(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Update, SearchError> {
        self.update_while(wanted, read, |done, total| {
            progress(done, total);
            ControlFlow::Continue(())
        })
    }

    /// As [`Index::update`], until `progress` breaks; what was added by then is kept for the next time.
    pub fn update_while(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        self.update_to(Depth::Whole, wanted, read, progress)
    }

    /// As [`Index::update_while`], but reads words alone, in a small part of the time: for a first search in a tree that is
    /// new. The next [`Index::update`] reads the rest of the same contents; until then a ranking says that it has only words.
    pub fn update_text_while(
        &mut self,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        self.update_to(Depth::Text, wanted, read, progress)
    }

    fn update_to(
        &mut self,
        depth: Depth,
        wanted: &[(RepoPath, BlobId)],
        read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        let tree: BTreeMap<&RepoPath, &BlobId> = wanted.iter().map(|(path, blob)| (path, blob)).collect();
        let mut missing = self.missing(&tree, depth);
        let mut update = Update {
            kept: tree.len() - missing.values().map(Vec::len).sum::<usize>(),
            ..Update::default()
        };
        let before = self.view.files.iter();
        update.removed = before.filter(|file| tree.get(&file.path) != Some(&file.blob())).count();
        if !missing.is_empty() {
            self.add(depth, &mut missing, &mut update, read, progress)?;
        }
        let tree: Vec<(RepoPath, BlobId)> = tree
            .into_iter()
            .map(|(path, blob)| (path.clone(), blob.clone()))
            .collect();
        let pieces = self.load()?;
        self.view = View::of(self.store.searcher()?, &tree, &self.contents, pieces);
        Ok(update)
    }

    /// The contents of `tree` that the index has not read so far, with the paths they lie at.
    fn missing<'t>(&self, tree: &BTreeMap<&'t RepoPath, &'t BlobId>, depth: Depth) -> BTreeMap<Key, Vec<&'t RepoPath>> {
        let known = self.known(depth);
        let mut missing: BTreeMap<Key, Vec<&RepoPath>> = BTreeMap::new();
        for (path, blob) in tree {
            let key = Key::of(path, blob);
            if !known.contains(&key) {
                missing.entry(key).or_default().push(path);
            }
        }
        missing
    }

    /// What was read so far or further.
    fn known(&self, depth: Depth) -> HashSet<&Key> {
        let deep = self.contents.iter().filter(|content| content.facts.depth >= depth);
        deep.map(|content| &content.facts.key).collect()
    }

    /// Reads and writes what is missing.
    fn add(
        &mut self,
        depth: Depth,
        missing: &mut BTreeMap<Key, Vec<&RepoPath>>,
        update: &mut Update,
        mut read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        mut progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<(), SearchError> {
        let mut writer = self.store.writer(missing.len())?;
        // Another process may have written since this one looked.
        self.contents = self.store.contents(&self.store.searcher()?, &self.facts())?.0;
        let known = self.known(depth);
        missing.retain(|key, _| !known.contains(key));
        let mut next = self.contents.iter().map(|content| content.id + 1).max().unwrap_or(0);
        for id in self.spare(update.kept + missing.len()) {
            writer.remove(id);
        }
        let shallow: HashMap<&Key, u64> = self
            .contents
            .iter()
            .filter(|content| content.facts.depth < depth)
            .map(|content| (&content.facts.key, content.id))
            .collect();
        let mut ordered: Vec<(&Key, &Vec<&RepoPath>)> = missing.iter().collect();
        ordered.sort_by_key(|(_, paths)| paths[0]);
        let (mut done, mut uncommitted) = (0, 0);
        let mut reached = vec![false; ordered.len()];
        let jobs = ordered.iter().map(|(key, paths)| (paths[0], &key.blob));
        reading::read_all(jobs, depth, &mut read, |number, content| {
            let (key, paths) = ordered[number];
            let paths = || paths.iter().copied().cloned();
            reached[number] = true;
            if let Some(content) = content {
                if content.path_only {
                    update.path_only.extend(paths());
                }
                if let Some(id) = shallow.get(key) {
                    writer.remove(*id);
                }
                uncommitted += content.weight();
                writer.add(next, content)?;
                next += 1;
                update.added += paths().count();
            } else {
                update.unread.extend(paths());
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
        update.unread.sort();
        update.path_only.sort();
        writer.finish()
    }

    /// The oldest contents that no tree of late wanted, beyond what is kept for a way back.
    fn spare(&self, wanted: usize) -> Vec<u64> {
        let viewed: HashSet<&Key> = self.view.files.iter().map(|file| &file.facts.key).collect();
        let mut others: Vec<u64> = self
            .contents
            .iter()
            .filter(|content| !viewed.contains(&content.facts.key))
            .map(|content| content.id)
            .collect();
        others.sort_unstable();
        let most = self.spare.unwrap_or((SPARE * wanted).max(SPARE_AT_LEAST));
        others.truncate(others.len().saturating_sub(most));
        others
    }

    /// The contents of the tree whose literals have this run of words, by their numbers.
    pub(crate) fn holders(&self, run: &str) -> Result<Vec<u32>, SearchError> {
        self.store.holders(&self.view.searcher, &self.view.content_of_doc, run)
    }

    fn facts(&self) -> HashMap<u64, Arc<Facts>> {
        let contents = self.contents.iter();
        contents
            .map(|content| (content.id, Arc::clone(&content.facts)))
            .collect()
    }

    /// Looks at what is stored now; its pieces.
    fn load(&mut self) -> Result<Vec<StoredPiece>, SearchError> {
        let (contents, pieces) = self.store.contents(&self.store.searcher()?, &self.facts())?;
        self.contents = contents;
        Ok(pieces)
    }

    fn over(store: Store, state: OpenState) -> Result<Self, SearchError> {
        let searcher = store.searcher()?;
        let (contents, _) = store.contents(&searcher, &HashMap::new())?;
        Ok(Self {
            state,
            store,
            spare: None,
            view: View::of(searcher, &[], &contents, Vec::new()),
            contents,
        })
    }
}

/// So many bytes of terms are lost at most when the program is killed while it indexes.
const COMMIT_EVERY: usize = 64 << 20;
/// Contents that the tree does not have, as branches left behind do: so many times the tree are kept.
const SPARE: usize = 2;
/// Or so many, where the tree is small.
const SPARE_AT_LEAST: usize = 2000;
