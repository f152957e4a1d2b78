//! Recall of file location: which of the reference's files a run finds.
//!
//! Whether they were of any use is for other measures to say.

use magis_core::RepoPath;
use serde::Serialize;
use std::collections::BTreeSet;

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
        self.at
            .map(|located| 100.0 * located as f64 / self.instances.max(1) as f64)
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
}
