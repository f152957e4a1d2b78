//! The signals, one a file: each reads the issue and the tree and gives every file a strength from 0 to 1, with the
//! evidence for those it speaks for. How much each counts is `signal`'s; adding them up is `rank`'s.

pub(crate) mod calls;
pub(crate) mod co_change;
pub(crate) mod commits;
pub(crate) mod example;
pub(crate) mod imports;
pub(crate) mod literal;
pub(crate) mod modules;
pub(crate) mod name_words;
pub(crate) mod names;
pub(crate) mod path_words;
pub(crate) mod quoted;
pub(crate) mod tests;
pub(crate) mod text;
pub(crate) mod traces;

use crate::bm25::TextScores;
use crate::issue::Mention;
use crate::view::View;
use crate::{Index, IssueQuery};
use magis_core::Evidence;
use std::collections::{BTreeMap, HashMap};

/// What a signal reads.
#[derive(Clone, Copy)]
pub(crate) struct SignalInput<'a> {
    pub index: &'a Index,
    pub view: &'a View,
    pub query: &'a IssueQuery,
    pub text: &'a TextScores,
    pub title: &'a TextScores,
}

/// What a signal found.
pub(crate) struct Found<'a> {
    /// By file: 0..1.
    pub strengths: Vec<f64>,
    /// Why it speaks for a file.
    pub why: Box<dyn Fn(usize) -> Vec<Evidence> + 'a>,
}

/// By file that a score is propagated to: how much, and from which file.
pub(crate) type Propagated = BTreeMap<usize, (f64, usize)>;

/// The number of the best files whose scores are propagated.
pub(crate) const SOURCES: usize = 5;

/// Returns the `n` files with the highest scores, best first.
pub(crate) fn strongest(scores: &[f64], n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order.truncate(n);
    order
}

/// Of several sources the one that gives most counts.
pub(crate) fn propagate_to(propagated: &mut Propagated, file: usize, share: f64, source: usize) {
    let entry = propagated.entry(file).or_insert((share, source));
    if share > entry.0 {
        *entry = (share, source);
    }
}

impl<'a> Found<'a> {
    /// Strengths that are 0..1 as they are.
    pub fn of<W: IntoIterator<Item = Evidence>>(strengths: Vec<f64>, why: impl Fn(usize) -> W + 'a) -> Self {
        Self {
            strengths,
            why: Box::new(move |file| why(file).into_iter().collect()),
        }
    }

    /// Strengths brought to 0..1 by the best of them.
    pub fn relative<W: IntoIterator<Item = Evidence>>(strengths: Vec<f64>, why: impl Fn(usize) -> W + 'a) -> Self {
        Self::relative_above(0.0, strengths, why)
    }

    /// As [`Found::relative`], where even the best is less than 1 if it lies below `floor`.
    pub fn relative_above<W: IntoIterator<Item = Evidence>>(
        floor: f64,
        mut strengths: Vec<f64>,
        why: impl Fn(usize) -> W + 'a,
    ) -> Self {
        let best = best(strengths.iter().copied()).max(floor);
        for strength in &mut strengths {
            *strength /= best;
        }
        Self::of(strengths, why)
    }
}

impl<'a> SignalInput<'a> {
    /// By search term: how many contents have it.
    pub fn using(&self) -> HashMap<&'a str, usize> {
        let terms = self.query.terms.iter().zip(&self.text.file_frequency);
        terms.map(|(term, files)| (term.text.as_str(), *files)).collect()
    }

    /// Returns the files that `strength` says something of.
    pub fn matches(&self, strength: impl Fn(&str) -> f64) -> Vec<(usize, f64)> {
        let files = self.view.files.iter().enumerate();
        files
            .map(|(file, known)| (file, strength(known.path.as_str())))
            .filter(|(_, found)| *found > 0.0)
            .collect()
    }

    /// As [`SignalInput::matches`], only the strongest.
    pub fn best_matches(&self, strength: impl Fn(&str) -> f64) -> Vec<(usize, f64)> {
        let mut matches = self.matches(strength);
        let strongest = best(matches.iter().map(|(_, strength)| *strength));
        matches.retain(|(_, strength)| *strength >= strongest);
        matches
    }
}

/// Returns what the issue names, by the files it means: each mention speaks for the files it matches best, less where
/// these are many.
pub(crate) fn named<'a, Match: Fn(&str) -> f64>(
    reading: &SignalInput<'a>,
    mentions: &'a [Mention],
    matching: impl Fn(&'a str) -> Match,
) -> Found<'a> {
    let mut strengths = vec![0.0; reading.view.files.len()];
    let mut names: Vec<Option<&'a str>> = vec![None; reading.view.files.len()];
    for mention in mentions {
        let meant = reading.best_matches(matching(&mention.text));
        let shared = (meant.len() as f64).sqrt();
        for (file, strength) in meant {
            let strength = strength * mention.weight.clamp(0.3, 1.0) / shared;
            if strength > strengths[file] {
                strengths[file] = strength;
                names[file] = Some(&mention.text);
            }
        }
    }
    let quoted = |name: &str| Evidence::QuotedPath {
        quoted: name.to_owned(),
    };
    Found::of(strengths, move |file| names[file].map(quoted))
}

/// Returns the largest value, or 1 where none is above 0: what is divided by.
pub(crate) fn best(values: impl Iterator<Item = f64>) -> f64 {
    let best = values.fold(0.0, f64::max);
    if best > 0.0 { best } else { 1.0 }
}
