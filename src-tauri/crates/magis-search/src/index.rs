//! The index of one tree: opening, building and bringing it up to date.
//!
//! It is keyed by (path, blob), so that a second tree costs only what differs. It does not read git.

use crate::bm25::{Collection, NONE};
use crate::facts;
use crate::neighbours::Neighbours;
use crate::store::{Store, StoredFile};
use magis_core::{BlobId, LineSpan, RepoPath};
use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tantivy::Searcher;
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
    /// Files of an earlier tree taken out.
    pub removed: usize,
    /// Files that were there already.
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

/// A search index over the files of one tree.
#[derive(Debug)]
pub struct Index {
    state: OpenState,
    pub(crate) store: Store,
    pub(crate) contents: Contents,
}

impl Index {
    /// An index of `documents`, made at `place`; in a folder, what is there already is used where (path, blob) agree.
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

    /// How the index was found.
    pub fn state(&self) -> &OpenState {
        &self.state
    }

    /// How many files it holds.
    pub fn files(&self) -> usize {
        self.contents.files.len()
    }

    /// Makes the index hold exactly `wanted`: takes out what is not in it, reads what is missing.
    /// `progress` is told how many of the missing files are done, and their number.
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
        mut read: impl FnMut(&RepoPath, &BlobId) -> Option<String>,
        mut progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Update, SearchError> {
        let mut missing: BTreeMap<&RepoPath, &BlobId> = wanted.iter().map(|(path, blob)| (path, blob)).collect();
        let mut update = Update::default();
        let mut gone = Vec::new();
        for file in &self.contents.files {
            if missing.get(&file.facts.path) == Some(&&file.facts.blob) {
                missing.remove(&file.facts.path);
                update.kept += 1;
            } else {
                gone.push(file.id);
            }
        }
        update.removed = gone.len();
        if gone.is_empty() && missing.is_empty() {
            return Ok(update);
        }
        let mut next = self.contents.files.iter().map(|file| file.id + 1).max().unwrap_or(0);
        let mut writer = self.store.writer()?;
        for id in gone {
            writer.remove(id);
        }
        let total = missing.len();
        for (done, (path, blob)) in missing.into_iter().enumerate() {
            if let Some(text) = read(path, blob) {
                let (facts, pieces) = facts::read(path, blob, &text);
                if facts::unindexable(&text) {
                    update.path_only.push(path.clone());
                }
                writer.add(next, &facts, pieces)?;
                next += 1;
                update.added += 1;
            } else {
                update.unread.push(path.clone());
            }
            if (done + 1) % COMMIT_EVERY == 0 {
                writer.commit()?;
            }
            if progress(done + 1, total).is_break() {
                update.not_reached = total - done - 1;
                break;
            }
        }
        writer.finish()?;
        self.contents = Contents::load(&self.store)?;
        Ok(update)
    }

    fn over(store: Store, state: OpenState) -> Result<Self, SearchError> {
        let contents = Contents::load(&store)?;
        Ok(Self { state, store, contents })
    }
}

/// So many files are lost at most when the program is killed while it indexes.
const COMMIT_EVERY: usize = 2000;

/// What of the index is held in memory: all but the terms.
#[derive(Debug)]
pub(crate) struct Contents {
    pub searcher: Searcher,
    /// In the order of their paths.
    pub files: Vec<StoredFile>,
    /// By piece: its lines.
    pub spans: Vec<LineSpan>,
    /// By file: its pieces, a range in the order of `spans`.
    pub pieces: Vec<Range<usize>>,
    pub collection: Collection,
    /// Who imports whom; worked out when first asked for.
    pub neighbours: OnceLock<Neighbours>,
}

impl Contents {
    fn load(store: &Store) -> Result<Self, SearchError> {
        let searcher = store.searcher()?;
        let (mut files, mut pieces) = store.contents(&searcher)?;
        files.sort_by(|a, b| a.facts.path.cmp(&b.facts.path));
        let numbers: HashMap<u64, u32> = files.iter().zip(0..).map(|(file, number)| (file.id, number)).collect();
        pieces.retain(|piece| numbers.contains_key(&piece.file));
        pieces.sort_by_key(|piece| (numbers.get(&piece.file).copied(), piece.span));
        let mut collection = Collection {
            piece_of: searcher
                .segment_readers()
                .iter()
                .map(|reader| vec![NONE; reader.max_doc() as usize])
                .collect(),
            file_lengths: files.iter().map(|file| file.facts.length).collect(),
            ..Collection::default()
        };
        let mut ranges = vec![0..0; files.len()];
        for (number, piece) in pieces.iter().enumerate() {
            let Some(file) = numbers.get(&piece.file).copied() else {
                continue;
            };
            collection.piece_of[piece.segment][piece.doc as usize] = number as u32;
            collection.file_of.push(file);
            collection.piece_lengths.push(piece.length);
            let range: &mut Range<usize> = &mut ranges[file as usize];
            let first = if range.end == 0 { number } else { range.start };
            *range = first..number + 1;
        }
        Ok(Self {
            searcher,
            files,
            spans: pieces.iter().map(|piece| piece.span).collect(),
            pieces: ranges,
            collection,
            neighbours: OnceLock::new(),
        })
    }

    /// The number of a file.
    pub fn find(&self, path: &RepoPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.facts.path.cmp(path)).ok()
    }
}
