//! Words of the issue that together make up a name: "the separability matrix" means `separability_matrix`.

use super::{Found, SignalInput};
use crate::known_symbol::SymbolShape;
use magis_core::Evidence;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let view = reading.view;
    let words = view.name_words();
    let scorer = words.scorer(&reading.query.terms);
    let mut strengths: Vec<f64> = vec![0.0; view.files.len()];
    let mut which: Vec<Option<usize>> = vec![None; view.files.len()];
    for (file, known) in view.files.iter().enumerate() {
        for (number, symbol) in known.symbols().iter().enumerate() {
            if symbol.shape == SymbolShape::Constant {
                continue;
            }
            let score = scorer.score(words.of(known.content, number));
            if score > strengths[file] {
                strengths[file] = score;
                which[file] = Some(number);
            }
        }
    }
    Found::of(strengths, move |file| {
        let symbol = which[file].and_then(|number| view.files[file].symbols().get(number));
        symbol.map(|symbol| Evidence::NameWords {
            name: symbol.qualified.clone(),
        })
    })
}
