//! BM25 (Robertson, Walker et al. 1994) over whole files and over their chunks, from tantivy's postings.
//!
//! Computed here because tantivy's own scores count deleted documents and round lengths: an index brought up to date
//! would rank otherwise than a fresh one. Sums run in the order of the query, so equal input gives equal numbers.

use crate::{SearchError, Term as QueryTerm};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, Searcher, TERMINATED, Term};

/// Saturation of the term frequency, at its usual value.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The most terms that are named as evidence.
const SHOWN: usize = 4;

/// What the scores need to know of the documents. Numbers of contents and chunks are positions in these lists.
#[derive(Debug, Default)]
pub(crate) struct Collection {
    /// By segment and document: the chunk; [`NONE`] for documents that are none, or not of the tree.
    pub chunk_of: Vec<Vec<u32>>,
    /// By chunk: its content.
    pub content_of: Vec<u32>,
    /// By chunk: how many terms.
    pub chunk_lengths: Vec<u64>,
    /// By content: how many terms.
    pub content_lengths: Vec<u64>,
}

/// Stands for no chunk at all.
pub(crate) const NONE: u32 = u32::MAX;

/// The scores of one query.
#[derive(Debug)]
pub(crate) struct TextScores {
    /// By content, the whole text.
    pub contents: Vec<f64>,
    pub chunks: Vec<f64>,
    /// By file: the heaviest terms, as positions in the query, heaviest first.
    heaviest: Vec<[(f64, u32); SHOWN]>,
    /// By term: how many files have it.
    pub file_frequency: Vec<usize>,
}

/// The scores of an issue.
#[derive(Debug)]
pub(crate) struct IssueScores {
    /// By all it says.
    pub text: TextScores,
    /// By its title alone: the one line in which a person says what it is about.
    pub title: TextScores,
}

impl TextScores {
    /// Returns the terms that weighed most in a file, heaviest first.
    pub fn terms<'a>(&self, file: usize, query: &'a [QueryTerm]) -> Vec<&'a str> {
        let entries = self.heaviest[file].iter().filter(|(weight, _)| *weight > 0.0);
        entries
            .filter_map(|(_, term)| query.get(*term as usize))
            .map(|term| term.spelled.as_str())
            .collect()
    }
}

/// Scores all files and chunks.
pub(crate) fn score(
    searcher: &Searcher,
    body: Field,
    collection: &Collection,
    query: &[QueryTerm],
) -> Result<TextScores, SearchError> {
    let files = Lengths::of(&collection.content_lengths);
    let chunks = Lengths::of(&collection.chunk_lengths);
    let mut scores = TextScores {
        contents: vec![0.0; collection.content_lengths.len()],
        chunks: vec![0.0; collection.chunk_lengths.len()],
        heaviest: vec![[(0.0, 0); SHOWN]; collection.content_lengths.len()],
        file_frequency: Vec::with_capacity(query.len()),
    };
    let mut in_file = vec![0_u32; collection.content_lengths.len()];
    let (mut touched, mut found) = (Vec::new(), Vec::new());
    for (position, term) in query.iter().enumerate() {
        found.clear();
        touched.clear();
        postings(searcher, body, collection, &term.text, &mut found)?;
        for (chunk, count) in &found {
            let file = collection.content_of[*chunk as usize];
            if in_file[file as usize] == 0 {
                touched.push(file);
            }
            in_file[file as usize] += count;
        }
        scores.file_frequency.push(touched.len());
        let idf = term.weight * chunks.idf(found.len());
        for (chunk, count) in &found {
            let chunk = *chunk as usize;
            scores.chunks[chunk] += idf * chunks.saturated(*count, collection.chunk_lengths[chunk]);
        }
        let idf = term.weight * files.idf(touched.len());
        for file in &touched {
            let file = *file as usize;
            let weight = idf * files.saturated(in_file[file], collection.content_lengths[file]);
            in_file[file] = 0;
            scores.contents[file] += weight;
            remember(&mut scores.heaviest[file], weight, position as u32);
        }
    }
    Ok(scores)
}

/// Appends (chunk, how often) for every living chunk that has `text`.
fn postings(
    searcher: &Searcher,
    body: Field,
    collection: &Collection,
    text: &str,
    found: &mut Vec<(u32, u32)>,
) -> Result<(), SearchError> {
    let term = Term::from_field_text(body, text);
    for (segment, reader) in searcher.segment_readers().iter().enumerate() {
        let inverted = reader
            .inverted_index(body)
            .map_err(|error| SearchError::Read(error.to_string()))?;
        let postings = inverted.read_postings(&term, IndexRecordOption::WithFreqs);
        let Some(mut postings) = postings.map_err(|error| SearchError::Read(error.to_string()))? else {
            continue;
        };
        let mut doc = postings.doc();
        while doc != TERMINATED {
            let chunk = collection.chunk_of[segment].get(doc as usize).copied().unwrap_or(NONE);
            if chunk != NONE {
                found.push((chunk, tantivy::postings::Postings::term_freq(&postings)));
            }
            doc = postings.advance();
        }
    }
    Ok(())
}

fn remember(heaviest: &mut [(f64, u32); SHOWN], weight: f64, term: u32) {
    let Some(place) = heaviest.iter().position(|(kept, _)| weight > *kept) else {
        return;
    };
    heaviest[place..].rotate_right(1);
    heaviest[place] = (weight, term);
}

struct Lengths {
    count: f64,
    average: f64,
}

impl Lengths {
    fn of(lengths: &[u64]) -> Self {
        let filled = lengths.iter().filter(|length| **length > 0).count().max(1) as f64;
        Self {
            count: filled,
            average: (lengths.iter().sum::<u64>() as f64 / filled).max(1.0),
        }
    }

    fn idf(&self, having: usize) -> f64 {
        let having = having as f64;
        (1.0 + (self.count - having + 0.5) / (having + 0.5)).ln()
    }

    fn saturated(&self, count: u32, length: u64) -> f64 {
        let count = f64::from(count);
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length as f64 / self.average))
    }
}
