//! What the functions that match best call: the fault is often one call below the function that the issue describes.

use super::{Found, SignalInput, best};
use crate::idf::idf;
use crate::known_symbol::SymbolShape;
use magis_core::Evidence;

/// The number of the best chunks that are followed.
const PIECES: usize = 30;
/// A name that more files define than this is not followed where imports do not tell which is meant.
const MOST_DEFINERS: usize = 3;

/// Below this number of neighbours by import, their number says little.
const MANY_NEIGHBOURS: f64 = 10.0;
/// The best of all is certain from here on: one rare name that the best function calls.
const ENOUGH: f64 = 1.0;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let view = reading.view;
    let symbol_table = view.symbol_table();
    let mut strengths = vec![0.0; view.files.len()];
    let mut source: Vec<Option<usize>> = vec![None; view.files.len()];
    for seed in seeds(reading) {
        let file = &view.files[seed.file];
        for number in &file.symbols()[seed.symbol].uses {
            let Some(name) = file.metadata.names.get(*number as usize) else {
                continue;
            };
            let defining = symbol_table.files(name);
            let imported: Vec<usize> = view
                .neighbours()
                .imported(seed.file)
                .filter(|imported| defining.contains(&(*imported as u32)))
                .collect();
            let meant = if !imported.is_empty() {
                imported
            } else if defining.len() <= MOST_DEFINERS && !defining.contains(&(seed.file as u32)) {
                defining.iter().map(|file| *file as usize).collect()
            } else {
                continue;
            };
            let idf = idf(view.files.len(), symbol_table.users(name).len());
            let share = seed.strength.powi(2) * idf / meant.len() as f64;
            for to in meant {
                if to != seed.file {
                    strengths[to] += share;
                    source[to].get_or_insert(seed.file);
                }
            }
        }
    }
    for (file, strength) in strengths.iter_mut().enumerate() {
        // What everything calls is called by what matches, too.
        *strength /= (1.0 + view.neighbours().degree(file) as f64 / MANY_NEIGHBOURS).sqrt();
    }
    Found::relative_above(ENOUGH, strengths, move |file| {
        source[file].map(|by| Evidence::CalledBy {
            by: view.files[by].path.clone(),
        })
    })
}

/// A function that matches, and how well, 0..1.
struct Seed {
    file: usize,
    symbol: usize,
    strength: f64,
}

/// Returns the functions of the best chunks of sources, best first.
fn seeds(reading: &SignalInput<'_>) -> Vec<Seed> {
    let view = reading.view;
    let scores = &reading.text.chunks;
    let most = best(scores.iter().copied());
    let mut order: Vec<usize> = (0..scores.len()).filter(|chunk| scores[*chunk] > 0.0).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    // Of files of one content the first counts.
    let mut file_of: Vec<Option<usize>> = vec![None; view.chunks.len()];
    for (number, file) in view.files.iter().enumerate().rev() {
        file_of[file.content] = file.kind.reason().is_none().then_some(number);
    }
    let mut found: Vec<Seed> = Vec::new();
    let mut followed = 0;
    for chunk in order {
        let Some(file) = file_of[view.collection.content_of[chunk] as usize] else {
            continue;
        };
        followed += 1;
        if followed > PIECES {
            break;
        }
        let symbols = view.files[file].symbols().iter().enumerate();
        let within = symbols.filter(|(_, symbol)| {
            symbol.shape == SymbolShape::Function && symbol.span.intersection(view.spans[chunk]).is_some()
        });
        for (symbol, _) in within {
            if !found.iter().any(|seed| (seed.file, seed.symbol) == (file, symbol)) {
                found.push(Seed {
                    file,
                    symbol,
                    strength: scores[chunk] / most,
                });
            }
        }
    }
    found
}
