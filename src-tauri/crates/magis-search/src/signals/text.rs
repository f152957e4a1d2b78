//! BM25 of the whole file, and of its best chunk: a function that matches lifts a long file.

use super::{Found, SignalInput, best};
use magis_core::Evidence;

/// Scores whole files by their words (BM25).
pub(crate) fn files<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let (view, text, query) = (reading.view, reading.text, reading.query);
    let strengths = view.files.iter().map(|file| text.contents[file.content]).collect();
    Found::relative(strengths, move |file| {
        let terms = text.terms(view.files[file].content, &query.terms);
        (!terms.is_empty()).then(|| Evidence::Text { terms: owned(&terms) })
    })
}

/// File and best chunk, by the title alone.
pub(crate) fn title<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let (view, title, query) = (reading.view, reading.title, reading.query);
    let (whole, chunk) = (best(title.contents.iter().copied()), best(title.chunks.iter().copied()));
    let strength =
        |file: usize| title.contents[view.files[file].content] / whole + view.best_chunk(file, &title.chunks) / chunk;
    let strengths = (0..view.files.len()).map(strength).collect();
    Found::relative(strengths, move |file| {
        let terms = title.terms(view.files[file].content, &query.title);
        (!terms.is_empty()).then(|| Evidence::Title { terms: owned(&terms) })
    })
}

/// Scores each file by its best chunk (BM25).
pub(crate) fn chunks<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let (view, text) = (reading.view, reading.text);
    let strength = |file: usize| view.best_chunk(file, &text.chunks);
    let strengths = (0..view.files.len()).map(strength).collect();
    Found::relative(strengths, move |file| {
        let chunks = view.chunks_of(file);
        // Of one chunk there is no best.
        let several = chunks.len() > 1;
        let score = |chunk: &usize| text.chunks[*chunk];
        let best = chunks.max_by(|a, b| score(a).total_cmp(&score(b)).then(b.cmp(a)));
        best.filter(|_| several).map(|chunk| Evidence::Lines {
            span: view.spans[chunk],
        })
    })
}

fn owned(terms: &[&str]) -> Vec<String> {
    terms.iter().map(|term| (*term).to_owned()).collect()
}
