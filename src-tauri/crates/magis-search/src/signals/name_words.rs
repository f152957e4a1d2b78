//! Words of the issue that together make up a name: "the separability matrix" means `separability_matrix`.

use super::{Found, Reading};
use crate::facts::Shape;
use magis_core::Evidence;

/// Of its symbols, the best and a part of the next.
const SECOND: f64 = 0.5;

pub(crate) fn find<'a>(reading: &Reading<'a>) -> Found<'a> {
    let view = reading.view;
    let words = view.name_words();
    let scorer = words.scorer(&reading.query.terms);
    let mut strengths = vec![0.0; view.files.len()];
    let mut which: Vec<Option<usize>> = vec![None; view.files.len()];
    for (file, known) in view.files.iter().enumerate() {
        let (mut first, mut second) = ((0.0, None), 0.0);
        for (number, symbol) in known.symbols().iter().enumerate() {
            if symbol.shape == Shape::Constant {
                continue;
            }
            let score = scorer.score(words.of(known.content, number));
            if score > first.0 {
                second = first.0;
                first = (score, Some(number));
            } else if score > second {
                second = score;
            }
        }
        strengths[file] = first.0 + SECOND * second;
        which[file] = first.1;
    }
    Found::relative(strengths, move |file| {
        let symbol = which[file].and_then(|number| view.files[file].symbols().get(number)).into_iter();
        symbol
            .map(|symbol| Evidence::NameWords {
                name: symbol.qualified.clone(),
            })
            .collect()
    })
}
