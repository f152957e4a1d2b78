//! Runs of words of the issue that stand in string literals: messages, options, labels.

use super::{Found, SignalInput};
use crate::file::File;
use crate::idf::idf;
use crate::{SearchError, literals};
use magis_core::Evidence;
use std::collections::BTreeMap;

/// A run that stands in more files than this says nothing of where.
const MOST_FILES: usize = 20;
/// Rarities of runs that together are a message for certain.
const ENOUGH: f64 = 2.0;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Result<Found<'a>, SearchError> {
    let files = &reading.view.files;
    let mut by_content = vec![0.0; reading.view.chunks.len()];
    let mut said: BTreeMap<u32, (f64, &'a str)> = BTreeMap::new();
    let mut is_source = vec![false; by_content.len()];
    for file in files {
        is_source[file.content] |= file.kind.reason().is_none();
    }
    for (run, weight) in &reading.query.runs {
        // Catalogues of translations repeat each message in every language.
        let mut holders = reading.index.holders(run)?;
        holders.retain(|holder| is_source[*holder as usize]);
        if holders.is_empty() || holders.len() > MOST_FILES {
            continue;
        }
        let strength = idf(files.len(), holders.len()) * weight;
        for holder in holders {
            by_content[holder as usize] += strength;
            let entry = said.entry(holder).or_insert((strength, run));
            if strength > entry.0 {
                *entry = (strength, run);
            }
        }
    }
    // Two rare runs are a message; a hundred are a copy of the file.
    let strength = |file: &File| (by_content[file.content] / ENOUGH).min(1.0);
    Ok(Found::of(files.iter().map(strength).collect(), move |file| {
        let run = said.get(&(files[file].content as u32));
        run.map(|(_, run)| Evidence::Literal {
            text: literals::spelled(run),
        })
    }))
}
