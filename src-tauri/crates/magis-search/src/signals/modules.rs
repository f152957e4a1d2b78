//! Dotted module names of the issue, as files.

use super::{Found, Reading};
use crate::matching::module_match;
use magis_core::Evidence;

pub(crate) fn find<'a>(reading: &Reading<'a>) -> Found<'a> {
    let mut strengths: Vec<f64> = vec![0.0; reading.view.files.len()];
    let mut modules: Vec<Option<&'a str>> = vec![None; reading.view.files.len()];
    for mention in &reading.query.modules {
        let dotted: Vec<&str> = mention.text.split('.').collect();
        let meant = reading.best_matches(|path| module_match(&dotted, path));
        let shared = (meant.len() as f64).sqrt();
        for (file, strength) in meant {
            let strength = strength * mention.weight.clamp(0.3, 1.0) / shared;
            if strength > strengths[file] {
                strengths[file] = strength;
                modules[file] = Some(&mention.text);
            }
        }
    }
    Found {
        strengths,
        why: Box::new(move |file| {
            let module = modules[file].iter();
            module
                .map(|module| Evidence::QuotedPath {
                    quoted: (*module).to_owned(),
                })
                .collect()
        }),
    }
}
