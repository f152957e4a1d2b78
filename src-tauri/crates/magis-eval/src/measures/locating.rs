//! Location of files and symbols: which of the reference's places an order finds.
//!
//! Whether they were of any use is for other measures to say.

use magis_core::{LineSpan, RepoPath};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The places at which a set counts as located.
pub const PLACES: [usize; 5] = [1, 3, 5, 10, 20];

/// Recall of file location of a set, as a mean over its instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallCurve {
    /// How many instances.
    pub instances: usize,
    /// |G ∩ R| / |R| where G is the first 1, 2, … files of the order.
    pub at: Vec<f64>,
}

/// In how many instances all reference files are among the first k.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Located {
    /// How many instances.
    pub instances: usize,
    /// At each of [`PLACES`].
    pub at: [usize; 5],
}

/// In how many instances one of the first k symbols has a line of the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SymbolHits {
    /// How many instances.
    pub instances: usize,
    /// At each of [`PLACES`].
    pub at: [usize; 5],
}

/// What a choice among the first files of an order kept and dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Files of the reference among those that were to be chosen from.
    pub right: usize,
    /// Those of them that were kept.
    pub right_kept: usize,
    /// The other files among those that were to be chosen from.
    pub wrong: usize,
    /// Those of them that were dropped.
    pub wrong_dropped: usize,
}

/// |G ∩ R| / |R|; none where the reference has no file.
pub fn recall(found: &[RepoPath], reference: &BTreeSet<RepoPath>) -> Option<f64> {
    if reference.is_empty() {
        return None;
    }
    let found: BTreeSet<&RepoPath> = found.iter().collect();
    Some(reference.iter().filter(|path| found.contains(path)).count() as f64 / reference.len() as f64)
}

/// The curve over instances, each with its order of files and its reference files. A shorter order stays at its last
/// value.
pub fn recall_curve<'a>(instances: impl IntoIterator<Item = (&'a [RepoPath], &'a BTreeSet<RepoPath>)>) -> RecallCurve {
    let instances: Vec<_> = instances
        .into_iter()
        .filter(|(_, reference)| !reference.is_empty())
        .collect();
    let longest = instances.iter().map(|(order, _)| order.len()).max().unwrap_or(0);
    let at = (1..=longest).map(|k| {
        let each = instances
            .iter()
            .filter_map(|(order, reference)| recall(&order[..k.min(order.len())], reference));
        each.sum::<f64>() / instances.len() as f64
    });
    RecallCurve {
        instances: instances.len(),
        at: at.collect(),
    }
}

impl Located {
    /// Takes in an instance.
    pub fn count(&mut self, order: &[RepoPath], reference: &BTreeSet<RepoPath>) {
        self.instances += 1;
        for (located, k) in self.at.iter_mut().zip(PLACES) {
            let all = recall(&order[..k.min(order.len())], reference).is_some_and(|recall| recall >= 1.0);
            *located += usize::from(all);
        }
    }

    /// The share of the instances at each place, in percent.
    pub fn percent(&self) -> [f64; 5] {
        percent(self.at, self.instances)
    }
}

impl SymbolHits {
    /// Takes in an instance: its order of symbols, and the lines of its reference by file.
    pub fn count(&mut self, order: &[(RepoPath, LineSpan)], reference: &BTreeMap<RepoPath, Vec<LineSpan>>) {
        self.instances += 1;
        let has_line = |(path, span): &(RepoPath, LineSpan)| {
            let changed = reference.get(path).into_iter().flatten();
            changed.copied().any(|lines| span.intersection(lines).is_some())
        };
        let first = order.iter().position(has_line);
        for (hit, k) in self.at.iter_mut().zip(PLACES) {
            *hit += usize::from(first.is_some_and(|first| first < k));
        }
    }

    /// The share of the instances at each place, in percent.
    pub fn percent(&self) -> [f64; 5] {
        percent(self.at, self.instances)
    }
}

impl Choice {
    /// Takes in an instance: the files that were chosen from, whether each was kept, and the reference.
    pub fn count<'a>(&mut self, files: impl IntoIterator<Item = (&'a RepoPath, bool)>, reference: &BTreeSet<RepoPath>) {
        for (path, kept) in files {
            if reference.contains(path) {
                self.right += 1;
                self.right_kept += usize::from(kept);
            } else {
                self.wrong += 1;
                self.wrong_dropped += usize::from(!kept);
            }
        }
    }
}

fn percent(at: [usize; 5], instances: usize) -> [f64; 5] {
    at.map(|count| 100.0 * count as f64 / instances.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &str) -> Vec<RepoPath> {
        names
            .split_whitespace()
            .map(|name| RepoPath::new(name).unwrap())
            .collect()
    }

    fn check(order: &str, reference: &str, expected: Option<f64>) {
        assert_eq!(recall(&paths(order), &paths(reference).into_iter().collect()), expected);
    }

    #[test]
    fn recall_is_the_share_of_the_reference_that_was_found() {
        check("a b c", "b x", Some(0.5));
        check("", "b", Some(0.0));
        check("a", "", None);
    }

    #[test]
    fn the_curve_rises_to_the_mean_of_all() {
        let (one, two) = (paths("a b c"), paths("d"));
        let (gold_one, gold_two) = (paths("b c").into_iter().collect(), paths("d e").into_iter().collect());
        let curve = recall_curve([(one.as_slice(), &gold_one), (two.as_slice(), &gold_two)]);
        assert_eq!(
            curve,
            RecallCurve {
                instances: 2,
                at: vec![0.25, 0.5, 0.75]
            }
        );
    }

    #[test]
    fn an_instance_is_located_when_all_its_files_are() {
        let mut located = Located::default();
        located.count(&paths("a b"), &paths("a b").into_iter().collect());
        located.count(&paths("c"), &paths("x").into_iter().collect());
        assert_eq!(
            located,
            Located {
                instances: 2,
                at: [0, 1, 1, 1, 1]
            }
        );
        assert_eq!(located.percent().map(|percent| percent as u32), [0, 50, 50, 50, 50]);
    }

    #[test]
    fn a_symbol_hits_when_a_line_of_the_reference_lies_in_it() {
        let span = |first, last| LineSpan::new(first, last).unwrap();
        let gold: BTreeMap<RepoPath, Vec<LineSpan>> = [(RepoPath::new("a").unwrap(), vec![span(10, 12)])].into();
        let order: Vec<(RepoPath, LineSpan)> = [("b", span(1, 99)), ("a", span(1, 9)), ("a", span(12, 40))]
            .map(|(path, span)| (RepoPath::new(path).unwrap(), span))
            .into();
        let mut hits = SymbolHits::default();
        hits.count(&order, &gold);
        hits.count(&order[..2], &gold);
        assert_eq!((hits.instances, hits.at), (2, [0, 1, 1, 1, 1]));
    }

    #[test]
    fn a_choice_counts_what_it_kept_of_the_right_and_dropped_of_the_wrong() {
        let mut choice = Choice::default();
        let files = paths("a b c d");
        let kept = [true, false, true, false];
        choice.count(files.iter().zip(kept), &paths("a b x").into_iter().collect());
        let expected = Choice {
            right: 2,
            right_kept: 1,
            wrong: 2,
            wrong_dropped: 1,
        };
        assert_eq!(choice, expected);
    }
}
