//! BM25 of the whole file, and of its best piece: a function that matches lifts a long file.

use super::{Found, Reading, best};
use magis_core::Evidence;

/// Whole files.
pub(crate) fn files<'a>(reading: &Reading<'a>) -> Found<'a> {
    let (view, text, query) = (reading.view, reading.text, reading.query);
    let strengths = view.files.iter().map(|file| text.contents[file.content]).collect();
    Found::relative(strengths, move |file| {
        let terms = text.terms(view.files[file].content, &query.terms);
        (!terms.is_empty()).then(|| Evidence::Text {
            terms: terms.into_iter().map(ToOwned::to_owned).collect(),
        })
    })
}

/// File and best piece, by the title alone.
pub(crate) fn title<'a>(reading: &Reading<'a>) -> Found<'a> {
    let (view, title) = (reading.view, reading.title);
    let (whole, piece) = (best(title.contents.iter().copied()), best(title.pieces.iter().copied()));
    let strength =
        |file: usize| title.contents[view.files[file].content] / whole + view.best_piece(file, &title.pieces) / piece;
    let strengths = (0..view.files.len()).map(strength).collect();
    Found::relative(strengths, |_| None)
}

/// Best pieces.
pub(crate) fn pieces<'a>(reading: &Reading<'a>) -> Found<'a> {
    let view = reading.view;
    let strength = |file: usize| view.best_piece(file, &reading.text.pieces);
    let strengths = (0..view.files.len()).map(strength).collect();
    // What matches in the piece matches in the file, and is said there.
    Found::relative(strengths, |_| None)
}
