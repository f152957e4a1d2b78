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
    pub instances: usize,
    /// |G ∩ R| / |R| where G is the first 1, 2, … files of the order.
    pub at: Vec<f64>,
}

/// In how many instances what was looked for lies within the first k of an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
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

/// Returns the curve over instances, each with its order of files and its reference files. A shorter order stays at its
/// last value.
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

/// Returns the place at which an order has all files of the reference, counted from 0; none where it never has.
pub fn all_files(order: &[RepoPath], reference: &BTreeSet<RepoPath>) -> Option<usize> {
    let place = |path: &RepoPath| order.iter().position(|found| found == path);
    let places: Option<Vec<usize>> = reference.iter().map(place).collect();
    places?.into_iter().max()
}

/// Returns the place of the first symbol that has a line of the reference, counted from 0.
pub fn first_symbol(order: &[(RepoPath, LineSpan)], reference: &BTreeMap<RepoPath, Vec<LineSpan>>) -> Option<usize> {
    order.iter().position(|(path, span)| {
        let changed = reference.get(path).into_iter().flatten();
        changed.copied().any(|lines| span.intersection(lines).is_some())
    })
}

impl Hits {
    /// Takes in an instance: the place at which it was found, counted from 0.
    pub fn count(&mut self, place: Option<usize>) {
        self.instances += 1;
        for (hit, k) in self.at.iter_mut().zip(PLACES) {
            *hit += usize::from(place.is_some_and(|place| place < k));
        }
    }

    /// Returns the share of the instances at each place, in percent.
    pub fn percent(&self) -> [f64; 5] {
        self.at.map(|count| 100.0 * count as f64 / self.instances.max(1) as f64)
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
        let place = |order: &str, reference: &str| all_files(&paths(order), &paths(reference).into_iter().collect());
        assert_eq!(place("a b c", "a b"), Some(1));
        assert_eq!(place("c", "x"), None);
        assert_eq!(place("a", ""), None, "there is nothing to find");
    }

    #[test]
    fn hits_are_counted_by_place() {
        let mut hits = Hits::default();
        for place in [Some(0), Some(1), Some(19), Some(20), None] {
            hits.count(place);
        }
        assert_eq!((hits.instances, hits.at), (5, [1, 2, 2, 2, 3]));
        assert_eq!(hits.percent().map(|percent| percent as u32), [20, 40, 40, 40, 60]);
    }

    #[test]
    fn a_symbol_is_found_when_a_line_of_the_reference_lies_in_it() {
        let span = |first, last| LineSpan::new(first, last).unwrap();
        let gold: BTreeMap<RepoPath, Vec<LineSpan>> = [(RepoPath::new("a").unwrap(), vec![span(10, 12)])].into();
        let order: Vec<(RepoPath, LineSpan)> = [("b", span(1, 99)), ("a", span(1, 9)), ("a", span(12, 40))]
            .map(|(path, span)| (RepoPath::new(path).unwrap(), span))
            .into();
        assert_eq!(first_symbol(&order, &gold), Some(2));
        assert_eq!(first_symbol(&order[..2], &gold), None);
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
