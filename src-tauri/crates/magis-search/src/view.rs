//! One tree as the index sees it: its files, each with its content, and what is held of them in memory.
//!
//! The index holds the contents of many trees; a view is those of one. It is made anew with each update.

use crate::bm25::{Collection, NONE};
use crate::file::File;
use crate::kind::Kind;
use crate::metadata::Key;
use crate::neighbours::Neighbours;
use crate::store::{StoredChunk, StoredContent, StoredSegment};
use crate::symbol_table::SymbolTable;
use crate::words::NameWords;
use magis_core::{LineSpan, RepoPath};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use tantivy::Searcher;

/// Which content lies at each path of a tree.
pub(crate) type Tree<'t> = BTreeMap<&'t RepoPath, Key>;

/// What is held in memory: all but the terms.
#[derive(Debug)]
pub(crate) struct View {
    pub searcher: Searcher,
    /// In the order of their paths.
    pub files: Vec<File>,
    /// By chunk: its lines.
    pub spans: Vec<LineSpan>,
    /// By content: its chunks, a range in the order of `spans`.
    pub chunks: Vec<Range<usize>>,
    pub collection: Collection,
    /// By segment and document: the content; [`NONE`] for other documents.
    pub content_of_doc: Vec<Vec<u32>>,
    /// Who imports whom; worked out when first asked for.
    neighbours: OnceLock<Neighbours>,
    /// The words of all names, likewise.
    name_words: OnceLock<NameWords>,
    /// Who defines what, likewise.
    symbol_table: OnceLock<SymbolTable>,
}

impl View {
    /// Returns the files of `tree` whose contents are stored and are texts. Equal trees give equal views, however the
    /// index came to hold them.
    pub fn of(searcher: Searcher, tree: &Tree<'_>, stored: &[Arc<StoredSegment>]) -> Self {
        let contents = stored.iter().flat_map(|segment| &segment.contents);
        let by_key: HashMap<&Key, &StoredContent> = contents.map(|content| (&content.metadata.key, content)).collect();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut files = Vec::with_capacity(tree.len());
        for (path, key) in tree {
            let content = by_key.get(key);
            let Some(content) = content.filter(|content| content.metadata.skipped.is_none()) else {
                continue;
            };
            let next = numbers.len() as u32;
            files.push(File {
                path: (*path).clone(),
                kind: Kind::of_file(path, content.metadata.origin),
                content: *numbers.entry(content.id).or_insert(next) as usize,
                metadata: Arc::clone(&content.metadata),
            });
        }
        let none = || -> Vec<Vec<u32>> {
            let segments = searcher.segment_readers().iter();
            segments.map(|reader| vec![NONE; reader.max_doc() as usize]).collect()
        };
        let (mut chunk_of, mut content_of_doc) = (none(), none());
        let mut content_lengths = vec![0; numbers.len()];
        let mut own: Vec<(u32, usize, &StoredChunk)> = Vec::new();
        for (number, segment) in stored.iter().enumerate() {
            for content in &segment.contents {
                if let Some(content_number) = numbers.get(&content.id) {
                    content_of_doc[number][content.doc as usize] = *content_number;
                    content_lengths[*content_number as usize] = content.metadata.length;
                }
            }
            let chunks = segment.chunks.iter();
            own.extend(chunks.filter_map(|chunk| Some((*numbers.get(&chunk.content)?, number, chunk))));
        }
        own.sort_by_key(|(content, _, chunk)| (*content, chunk.span));
        let mut ranges = vec![0..0; numbers.len()];
        for (number, (content, segment, chunk)) in own.iter().enumerate() {
            chunk_of[*segment][chunk.doc as usize] = number as u32;
            let range: &mut Range<usize> = &mut ranges[*content as usize];
            let first = if range.end == 0 { number } else { range.start };
            *range = first..number + 1;
        }
        Self {
            searcher,
            files,
            spans: own.iter().map(|(.., chunk)| chunk.span).collect(),
            chunks: ranges,
            collection: Collection {
                chunk_of,
                content_of: own.iter().map(|(content, ..)| *content).collect(),
                chunk_lengths: own.iter().map(|(.., chunk)| chunk.length).collect(),
                content_lengths,
            },
            content_of_doc,
            neighbours: OnceLock::new(),
            name_words: OnceLock::new(),
            symbol_table: OnceLock::new(),
        }
    }

    /// Returns the number of a file.
    pub fn find(&self, path: &RepoPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok()
    }

    /// Returns the chunks of a file.
    pub fn chunks_of(&self, file: usize) -> Range<usize> {
        self.chunks[self.files[file].content].clone()
    }

    /// Returns the best of the scores that the chunks of a file have; `scores` is by chunk.
    pub fn best_chunk(&self, file: usize, scores: &[f64]) -> f64 {
        scores[self.chunks_of(file)].iter().copied().fold(0.0, f64::max)
    }

    /// Returns the import graph: for each file those it imports and those that import it.
    pub fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| Neighbours::of(&self.files))
    }

    /// Returns where names are defined and used.
    pub fn symbol_table(&self) -> &SymbolTable {
        self.symbol_table.get_or_init(|| SymbolTable::of(&self.files))
    }

    /// Returns the words that names are made of.
    pub fn name_words(&self) -> &NameWords {
        self.name_words.get_or_init(|| NameWords::of_files(&self.files))
    }
}
