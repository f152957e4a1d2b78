//! Paths and file names that the issue quotes.

use super::{Found, Reading};
use crate::matching::path_match;
use magis_core::Evidence;

pub(crate) fn find<'a>(reading: &Reading<'a>) -> Found<'a> {
    let mut strengths = vec![0.0; reading.view.files.len()];
    let mut quotes: Vec<Option<&'a str>> = vec![None; reading.view.files.len()];
    for mention in &reading.query.paths {
        let meant = reading.best_matches(|path| path_match(&mention.text, path));
        let shared = (meant.len() as f64).sqrt();
        for (file, strength) in meant {
            let strength = strength * mention.weight.clamp(0.3, 1.0) / shared;
            if strength > strengths[file] {
                strengths[file] = strength;
                quotes[file] = Some(&mention.text);
            }
        }
    }
    Found {
        strengths,
        why: Box::new(move |file| {
            let quoted = quotes[file].iter();
            quoted
                .map(|quoted| Evidence::QuotedPath {
                    quoted: (*quoted).to_owned(),
                })
                .collect()
        }),
    }
}
