//! BM25 of the whole file, and of its best piece: a function that matches lifts a long file.

use super::{Found, Reading};
use magis_core::Evidence;

/// Whole files.
pub(crate) fn files<'a>(reading: &Reading<'a>) -> Found<'a> {
    let (view, text, query) = (reading.view, reading.text, reading.query);
    let strengths = view.files.iter().map(|file| text.contents[file.content]).collect();
    Found::relative(strengths, move |file| {
        let terms = text.terms(view.files[file].content, &query.terms);
        if terms.is_empty() {
            return Vec::new();
        }
        vec![Evidence::Text {
            terms: terms.into_iter().map(ToOwned::to_owned).collect(),
        }]
    })
}

/// Best pieces.
pub(crate) fn pieces<'a>(reading: &Reading<'a>) -> Found<'a> {
    let best = |file| {
        let pieces = reading.view.pieces_of(file);
        pieces.map(|piece| reading.text.pieces[piece]).fold(0.0, f64::max)
    };
    let strengths = (0..reading.view.files.len()).map(best).collect();
    // What matches in the piece matches in the file, and is said there.
    Found::relative(strengths, |_| Vec::new())
}
