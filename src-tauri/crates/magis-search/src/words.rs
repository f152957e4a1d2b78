//! The words that the names of a tree are made of, as numbers, so that a query compares thousands of names at once.

use crate::file::File;
use crate::idf::idf;
use crate::{Term, tokens};
use std::collections::{HashMap, HashSet};

/// The words of all names of a tree.
#[derive(Debug, Default)]
pub(crate) struct NameWords {
    numbers: HashMap<String, u32>,
    /// By word: in names of how many files, as 0..1.
    idfs: Vec<f64>,
    /// By content and symbol.
    words: Vec<Vec<Vec<u32>>>,
}

/// A query's words against names.
#[derive(Debug)]
pub(crate) struct Scorer<'a> {
    words: &'a NameWords,
    weights: Vec<f64>,
}

impl NameWords {
    /// Returns the words of the names in `files`.
    pub fn of_files(files: &[File]) -> Self {
        let mut found = Self::default();
        let mut having: Vec<usize> = Vec::new();
        let contents = files.iter().map(|file| file.content + 1).max().unwrap_or(0);
        found.words = vec![Vec::new(); contents];
        for file in files {
            if !found.words[file.content].is_empty() {
                continue;
            }
            let mut here: HashSet<u32> = HashSet::new();
            let mut names = Vec::with_capacity(file.symbols().len());
            for symbol in file.symbols() {
                let mut own: Vec<u32> = Vec::new();
                for word in words_of(symbol.name()) {
                    let next = found.numbers.len() as u32;
                    let number = *found.numbers.entry(word).or_insert(next);
                    if number == next {
                        having.push(0);
                    }
                    if !own.contains(&number) {
                        own.push(number);
                    }
                    if here.insert(number) {
                        having[number as usize] += 1;
                    }
                }
                names.push(own);
            }
            found.words[file.content] = names;
        }
        found.idfs = having.into_iter().map(|having| idf(files.len(), having)).collect();
        found
    }

    /// Returns the words of one symbol.
    pub fn of(&self, content: usize, symbol: usize) -> &[u32] {
        let names = self.words.get(content).and_then(|names| names.get(symbol));
        names.map_or(&[], Vec::as_slice)
    }

    /// Scores names by `terms`.
    pub fn scorer(&self, terms: &[Term]) -> Scorer<'_> {
        let mut weights = vec![0.0; self.idfs.len()];
        for term in terms {
            if let Some(number) = self.numbers.get(&term.text) {
                weights[*number as usize] = term.weight.min(2.0);
            }
        }
        Scorer { words: self, weights }
    }
}

impl Scorer<'_> {
    /// Returns how far the query says the words of a name, 0..1: the share that is said, by inverse document frequency.
    /// A name of one word, or of words that are in most names, says nothing that the text does not.
    pub fn score(&self, words: &[u32]) -> f64 {
        let (mut said, mut whole, mut count) = (0.0, 0.0, 0);
        for word in words {
            let (idf, weight) = (self.words.idfs[*word as usize], self.weights[*word as usize]);
            whole += idf;
            if weight > 0.0 {
                said += idf * weight.min(1.0);
                count += 1;
            }
        }
        if count < 2 || whole <= 0.0 {
            return 0.0;
        }
        (said / whole).powi(2) * (said / DISTINCTIVE).min(1.0)
    }
}

/// The sum of inverse document frequencies that makes a name distinctive: two words that are in few names each.
const DISTINCTIVE: f64 = 1.5;

/// Returns the stems of the parts of a name.
fn words_of(name: &str) -> Vec<String> {
    let parts = tokens::parts(name.trim_matches('_'));
    let lower = parts.into_iter().map(str::to_lowercase);
    lower
        .filter(|part| part.len() > 1 && !tokens::is_stop_word(part))
        .map(|part| tokens::stem(&part))
        .collect()
}
