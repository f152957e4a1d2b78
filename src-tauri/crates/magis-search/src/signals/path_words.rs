//! Words of the path that stand in the issue.

use super::{Found, SignalInput};
use crate::idf::idf;
use crate::{Term, tokens};
use magis_core::Evidence;
use std::collections::HashMap;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let (view, query) = (reading.view, reading.query);
    let words: Vec<Vec<String>> = view.files.iter().map(|file| path_words(file.path.as_str())).collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    let wanted: HashMap<&str, &Term> = query.terms.iter().map(|term| (term.text.as_str(), term)).collect();
    let score = |words: &Vec<String>| {
        let (mut score, mut whole) = (0.0, 0.0);
        for word in words {
            let idf = idf(view.files.len(), having.get(word.as_str()).copied().unwrap_or(0));
            whole += idf;
            score += wanted.get(word.as_str()).map_or(0.0, |term| idf * term.weight.min(2.0));
        }
        score / f64::sqrt(1.0 + whole)
    };
    let strengths = words.iter().map(score).collect();
    Found::relative(strengths, move |file| {
        let words = path_words(view.files[file].path.as_str());
        let words: Vec<String> = words
            .iter()
            .filter_map(|word| wanted.get(word.as_str()))
            .map(|term| term.spelled.clone())
            .collect();
        (!words.is_empty()).then_some(Evidence::PathWords { words })
    })
}

/// Returns the words of a path, each once, in the form of search terms.
pub(crate) fn path_words(path: &str) -> Vec<String> {
    let stem = path.rsplit_once('.').map_or(
        path,
        |(stem, extension)| if extension.contains('/') { path } else { stem },
    );
    let mut words: Vec<String> = Vec::new();
    for word in tokens::terms(stem) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}
