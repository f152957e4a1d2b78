//! The tantivy index on disk or in memory: its schema, its documents, its damage.
//!
//! A chunk of a file is one document with terms; a file is one more with its metadata. Scores are not tantivy's, see `bm25`.

mod schema;

use schema::{Splitter, schema};

use crate::SearchError;
use crate::bm25::NONE;
use crate::directory::{IndexFolder, NOTES, is_unfinished};
use crate::metadata::{FileMetadata, IndexedText};
use crate::tokens::RULES;
use crate::vocabulary::BETWEEN;
use magis_core::LineSpan;
use magis_platform::private;
use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::{Directory as _, INDEX_WRITER_LOCK};
use tantivy::index::SegmentId;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::{
    DocId, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, SegmentReader, TantivyDocument,
    TantivyError, Term,
};
use tantivy::{DocSet as _, TERMINATED};

/// How an index was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenState {
    New,
    /// It was there and whole.
    Kept,
    /// What was there could not be used and was thrown away; the next update builds it anew.
    Rebuilt {
        /// What was wrong with it.
        why: String,
    },
}

/// The opened index and its fields.
pub(crate) struct Store {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    folder: Option<PathBuf>,
}

/// A writing transaction; only one exists at a time, over all processes.
pub(crate) struct Writer<'a> {
    writer: IndexWriter,
    store: &'a Store,
}

/// What a segment holds and has not deleted.
#[derive(Debug)]
pub(crate) struct StoredSegment {
    id: SegmentId,
    /// How many of its documents are deleted; nothing else of a segment ever changes.
    deleted: u32,
    pub contents: Vec<StoredContent>,
    pub chunks: Vec<StoredChunk>,
}

/// The document of a blob, as the index stores it.
#[derive(Debug)]
pub(crate) struct StoredContent {
    /// What its chunks and it have in common; counts up, never used again.
    pub id: u64,
    pub doc: DocId,
    pub metadata: Arc<FileMetadata>,
}

/// The document of a chunk, as the index stores it.
#[derive(Debug)]
pub(crate) struct StoredChunk {
    pub doc: DocId,
    pub content: u64,
    pub span: LineSpan,
    pub length: u64,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    content: Field,
    metadata: Field,
    body: Field,
    literals: Field,
    first: Field,
    last: Field,
    length: Field,
}

/// Part of the schema, so that an index of another format is recognised. Count up when `FileMetadata`, the tokenizer or what
/// `magis-syntax` finds changes.
const METADATA: &str = "facts_6";
/// The name under which the index knows the splitting of word sequences at white space.
const SEQUENCES: &str = "sequences-1";
/// Bytes that terms may take before they are written, of all threads together.
const BUFFER: usize = 64 << 20;
/// The same for contents that are not worth a segment: as few as tantivy takes. Its table of terms is as large as the bytes
/// allow, and to lay it out takes longer than to write one changed file.
const SMALL_BUFFER: usize = 15_000_000;
const MOST_THREADS: usize = 4;
/// The number of contents that are worth a segment.
const A_SEGMENT: usize = 500;

impl Store {
    /// Returns an empty one in memory.
    pub fn in_memory() -> Result<Self, SearchError> {
        let (schema, fields) = schema();
        Self::over(Index::create_in_ram(schema), fields, None)
    }

    /// Returns the one in `folder`; made where there is none, made anew where it is damaged or of another format. Also
    /// gives what it holds, which is read to know whether it is damaged.
    pub fn open(folder: &Path) -> Result<(Self, Vec<Arc<StoredSegment>>, OpenState), SearchError> {
        private::create_folder(folder).map_err(|error| folder_error(folder, error.to_string()))?;
        let present = NOTES.iter().any(|file| folder.join(file).exists());
        if !present {
            let entries = folder
                .read_dir()
                .map_err(|error| folder_error(folder, error.to_string()))?;
            if entries.flatten().any(|entry| !is_unfinished(&entry.file_name())) {
                return Err(folder_error(
                    folder,
                    "it holds files that are not an index's".to_owned(),
                ));
            }
            return Ok((Self::create(folder)?, Vec::new(), OpenState::New));
        }
        match Self::existing(folder) {
            Ok((store, stored)) => Ok((store, stored, OpenState::Kept)),
            Err(why) => {
                std::fs::remove_dir_all(folder).map_err(|error| folder_error(folder, error.to_string()))?;
                private::create_folder(folder).map_err(|error| folder_error(folder, error.to_string()))?;
                Ok((Self::create(folder)?, Vec::new(), OpenState::Rebuilt { why }))
            }
        }
    }

    /// Starts writing about so many contents.
    pub fn writer(&self, contents: usize) -> Result<Writer<'_>, SearchError> {
        // Each thread makes a segment of its own, which is worth it for many contents only.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.min(1 + contents / A_SEGMENT).min(MOST_THREADS);
        let buffer = if contents < A_SEGMENT { SMALL_BUFFER } else { BUFFER };
        let writer = match self.index.writer_with_num_threads(threads, buffer) {
            Ok(writer) => writer,
            Err(TantivyError::LockFailure(..)) => {
                return Err(SearchError::Busy {
                    folder: self.folder.clone().unwrap_or_default(),
                });
            }
            Err(error) => return Err(write_error(&error)),
        };
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(0.3);
        writer.set_merge_policy(Box::new(policy));
        Ok(Writer { writer, store: self })
    }

    /// Brings `stored` up to date with what is committed, and gives what searches just that. Segments that did not change are
    /// not read again.
    pub fn look(&self, stored: &mut Vec<Arc<StoredSegment>>) -> Result<Searcher, SearchError> {
        self.reader
            .reload()
            .map_err(|error| SearchError::Read(error.to_string()))?;
        let searcher = self.reader.searcher();
        let known: LazyCell<HashMap<u64, &Arc<FileMetadata>>, _> = LazyCell::new(|| {
            let contents = stored.iter().flat_map(|segment| &segment.contents);
            contents.map(|content| (content.id, &content.metadata)).collect()
        });
        let segment = |reader: &SegmentReader| {
            let is_same = |held: &&Arc<StoredSegment>| {
                held.id == reader.segment_id() && held.deleted == reader.num_deleted_docs()
            };
            match stored.iter().find(is_same) {
                Some(held) => Ok(Arc::clone(held)),
                None => self.segment(reader, &known).map(Arc::new),
            }
        };
        let now = searcher
            .segment_readers()
            .iter()
            .map(segment)
            .collect::<Result<_, _>>()?;
        *stored = now;
        Ok(searcher)
    }

    /// Returns what a segment holds. `known` are contents read before, by their ids.
    fn segment(
        &self,
        reader: &SegmentReader,
        known: &HashMap<u64, &Arc<FileMetadata>>,
    ) -> Result<StoredSegment, SearchError> {
        let read = |error: TantivyError| SearchError::Read(error.to_string());
        let broken = |what: &str| SearchError::Read(format!("a document has no {what}"));
        let column = |name: &str| reader.fast_fields().u64(name).map_err(read);
        let (content, first) = (column("content")?, column("first")?);
        let (last, length) = (column("last")?, column("length")?);
        let documents = reader
            .get_store_reader(8)
            .map_err(|error| SearchError::Read(error.to_string()))?;
        let (mut contents, mut chunks) = (Vec::new(), Vec::new());
        for doc in reader.doc_ids_alive() {
            let id = content.first(doc).ok_or_else(|| broken("content"))?;
            if let (Some(first), Some(last), Some(length)) = (first.first(doc), last.first(doc), length.first(doc)) {
                let span =
                    LineSpan::new(first as u32, last as u32).map_err(|error| SearchError::Read(error.to_string()))?;
                chunks.push(StoredChunk {
                    doc,
                    content: id,
                    span,
                    length,
                });
                continue;
            }
            let metadata = if let Some(metadata) = known.get(&id) {
                Arc::clone(metadata)
            } else {
                let document: TantivyDocument = documents.get(doc).map_err(read)?;
                let metadata = document
                    .get_first(self.fields.metadata)
                    .and_then(|value| value.as_str());
                let metadata = serde_json::from_str(metadata.ok_or_else(|| broken("metadata"))?);
                Arc::new(metadata.map_err(|error| SearchError::Read(error.to_string()))?)
            };
            contents.push(StoredContent { id, doc, metadata });
        }
        Ok(StoredSegment {
            id: reader.segment_id(),
            deleted: reader.num_deleted_docs(),
            contents,
            chunks,
        })
    }

    /// Returns the contents whose literals have this run of words, by the numbers of `content_of_doc`.
    pub fn holders(
        &self,
        searcher: &Searcher,
        content_of_doc: &[Vec<u32>],
        run: &str,
    ) -> Result<Vec<u32>, SearchError> {
        let term = Term::from_field_text(self.fields.literals, run);
        let read = |error: std::io::Error| SearchError::Read(error.to_string());
        let mut holders = Vec::new();
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let inverted = reader
                .inverted_index(self.fields.literals)
                .map_err(|error| SearchError::Read(error.to_string()))?;
            let postings = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(read)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED {
                let content = content_of_doc[segment].get(postings.doc() as usize).copied();
                holders.extend(content.filter(|content| *content != NONE));
                postings.advance();
            }
        }
        holders.sort_unstable();
        Ok(holders)
    }

    /// Returns the field the terms stand in.
    pub fn body(&self) -> Field {
        self.fields.body
    }

    fn create(folder: &Path) -> Result<Self, SearchError> {
        let (schema, fields) = schema();
        // File metadata is small: another thread to compress them costs an update of one file more than it saves a cold one.
        let settings = IndexSettings {
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        let index = IndexFolder::open(folder)
            .map_err(TantivyError::from)
            .and_then(|directory| Index::create(directory, schema, settings))
            .map_err(|error| folder_error(folder, error.to_string()))?;
        Self::over(index, fields, Some(folder.to_owned()))
    }

    fn existing(folder: &Path) -> Result<(Self, Vec<Arc<StoredSegment>>), String> {
        let directory = IndexFolder::open(folder).map_err(|error| error.to_string())?;
        let index = Index::open(directory).map_err(|error| error.to_string())?;
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err("it was made by another version".to_owned());
        }
        let damaged = index.validate_checksum().map_err(|error| error.to_string())?;
        if let Some(file) = damaged.iter().min() {
            return Err(format!("its file {} is damaged", file.display()));
        }
        let store = Self::over(index, fields, Some(folder.to_owned())).map_err(|error| error.to_string())?;
        let mut stored = Vec::new();
        store.look(&mut stored).map_err(|error| error.to_string())?;
        Ok((store, stored))
    }

    fn over(index: Index, fields: Fields, folder: Option<PathBuf>) -> Result<Self, SearchError> {
        index.tokenizers().register(RULES, Splitter);
        index.tokenizers().register(SEQUENCES, Splitter);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(|error: TantivyError| SearchError::Read(error.to_string()))?;
        if let Some(folder) = &folder {
            remove_unfinished(&index, folder);
        }
        Ok(Self {
            index,
            reader,
            fields,
            folder,
        })
    }
}

/// Removes what writers left that were killed; nothing where one is writing. What cannot be removed only takes room.
fn remove_unfinished(index: &Index, folder: &Path) {
    let Ok(_held) = index.directory().acquire_lock(&INDEX_WRITER_LOCK) else {
        return;
    };
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        if is_unfinished(&entry.file_name()) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

impl Writer<'_> {
    /// Takes out a content and its chunks.
    pub fn remove(&self, id: u64) {
        self.writer
            .delete_term(Term::from_field_u64(self.store.fields.content, id));
    }

    /// Adds a content and its chunks.
    pub fn add(&self, id: u64, content: IndexedText) -> Result<(), SearchError> {
        let fields = self.store.fields;
        for chunk in content.chunks {
            let mut document = TantivyDocument::default();
            document.add_u64(fields.content, id);
            document.add_u64(fields.first, u64::from(chunk.span.first()));
            document.add_u64(fields.last, u64::from(chunk.span.last()));
            document.add_u64(fields.length, chunk.words.length);
            document.add_text(fields.body, chunk.words.terms);
            self.writer
                .add_document(document)
                .map_err(|error| write_error(&error))?;
        }
        let metadata =
            serde_json::to_string(&content.metadata).map_err(|error| SearchError::Write(error.to_string()))?;
        let mut document = TantivyDocument::default();
        document.add_u64(fields.content, id);
        document.add_text(fields.metadata, metadata);
        if !content.literals.is_empty() {
            document.add_text(fields.literals, content.literals.join(&BETWEEN.to_string()));
        }
        self.writer
            .add_document(document)
            .map_err(|error| write_error(&error))?;
        Ok(())
    }

    /// Makes all so far durable.
    pub fn commit(&mut self) -> Result<(), SearchError> {
        self.writer.commit().map(|_| ()).map_err(|error| write_error(&error))
    }

    /// Commits and waits for background work.
    pub fn finish(mut self) -> Result<(), SearchError> {
        self.commit()?;
        self.writer.wait_merging_threads().map_err(|error| write_error(&error))
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("index", &self.index)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn folder_error(folder: &Path, reason: String) -> SearchError {
    SearchError::Folder {
        folder: folder.to_owned(),
        reason,
    }
}

fn write_error(error: &TantivyError) -> SearchError {
    SearchError::Write(error.to_string())
}
