//! Line-location coverage: how many of the reference's lines a run chose (formula 1 of the paper).
//!
//! Choosing too many lines costs nothing in this measure; that is the paper's definition.

use crate::statistics::{Regression, logistic};
use magis_core::{LineSpan, RepoPath};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many intervals the coverage from 0 to 1 is divided into.
pub const INTERVALS: usize = 10;

/// An instance, as far as this measure is concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Covered {
    pub coverage: f64,
    /// Whether it is resolved, where that was judged.
    pub resolved: Option<bool>,
}

/// The coverage of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageTable {
    /// How many instances have a coverage.
    pub instances: usize,
    /// The mean over them.
    pub mean: Option<f64>,
    /// The distribution (the paper's figures 1 and 5) with the resolved ratio of each interval (figure 6).
    pub intervals: Vec<Interval>,
    /// "Resolved" on coverage; none where nothing was judged.
    pub regression: Option<Regression>,
}

/// One interval of coverage; its upper end belongs to the last one alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub from: f64,
    pub to: f64,
    pub instances: usize,
    /// Of these, judged ones.
    pub judged: usize,
    /// Of these, resolved ones.
    pub resolved: usize,
    /// Resolved in this and all intervals before it, as a share of all resolved (the paper's curve); none where nothing
    /// is resolved.
    pub cumulative: Option<f64>,
}

/// Σ |reference ∩ chosen| / Σ |reference|; none where the reference touches no line of the base version.
pub fn coverage(
    reference: &BTreeMap<RepoPath, Vec<LineSpan>>,
    chosen: &BTreeMap<RepoPath, Vec<LineSpan>>,
) -> Option<f64> {
    let (mut all, mut hit) = (0_u64, 0_u64);
    for (path, spans) in reference {
        let chosen = LineSpan::merged(chosen.get(path).cloned().unwrap_or_default());
        for span in LineSpan::merged(spans.clone()) {
            all += u64::from(span.lines());
            let common = chosen.iter().filter_map(|other| span.intersection(*other));
            hit += common.map(|common| u64::from(common.lines())).sum::<u64>();
        }
    }
    (all > 0).then(|| hit as f64 / all as f64)
}

/// Returns the distribution, the resolved ratios and the regression of a set.
pub fn coverage_table(instances: &[Covered]) -> CoverageTable {
    let place = |coverage: f64| ((coverage * INTERVALS as f64) as usize).min(INTERVALS - 1);
    let all_resolved = instances.iter().filter(|one| one.resolved == Some(true)).count();
    let mut resolved_so_far = 0;
    let mut intervals = Vec::with_capacity(INTERVALS);
    for at in 0..INTERVALS {
        let inside: Vec<&Covered> = instances.iter().filter(|one| place(one.coverage) == at).collect();
        let resolved = inside.iter().filter(|one| one.resolved == Some(true)).count();
        resolved_so_far += resolved;
        intervals.push(Interval {
            from: at as f64 / INTERVALS as f64,
            to: (at + 1) as f64 / INTERVALS as f64,
            instances: inside.len(),
            judged: inside.iter().filter(|one| one.resolved.is_some()).count(),
            resolved,
            cumulative: (all_resolved > 0).then(|| f64::from(resolved_so_far as u32) / all_resolved as f64),
        });
    }
    let judged: Vec<(f64, bool)> = instances
        .iter()
        .filter_map(|one| Some((one.coverage, one.resolved?)))
        .collect();
    let count = instances.len();
    CoverageTable {
        instances: count,
        mean: (count > 0).then(|| instances.iter().map(|one| one.coverage).sum::<f64>() / count as f64),
        intervals,
        regression: (!judged.is_empty()).then(|| logistic(&judged)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(all: &[(&str, &[(u32, u32)])]) -> BTreeMap<RepoPath, Vec<LineSpan>> {
        let span = |(first, last): &(u32, u32)| LineSpan::new(*first, *last).unwrap();
        all.iter()
            .map(|(path, spans)| (RepoPath::new(*path).unwrap(), spans.iter().map(span).collect()))
            .collect()
    }

    #[test]
    fn coverage_is_the_share_of_reference_lines_that_were_chosen() {
        let reference = lines(&[("a.py", &[(10, 19), (30, 30)]), ("b.py", &[(1, 9)])]);
        let chosen = lines(&[("a.py", &[(15, 40), (16, 17)]), ("c.py", &[(1, 9)])]);
        assert_eq!(coverage(&reference, &chosen), Some(6.0 / 20.0));
        assert_eq!(coverage(&reference, &lines(&[])), Some(0.0));
        assert_eq!(coverage(&reference, &reference), Some(1.0));
        assert_eq!(coverage(&lines(&[("new.py", &[])]), &chosen), None);
    }

    #[test]
    fn intervals_count_instances_and_accumulate_resolved_ones() {
        let of = |coverage, resolved| Covered { coverage, resolved };
        let set = [
            of(0.0, Some(false)),
            of(0.05, Some(true)),
            of(0.55, None),
            of(0.95, Some(true)),
            of(1.0, Some(false)),
            of(1.0, Some(true)),
        ];
        let table = coverage_table(&set);
        let row = |at: usize| {
            let interval = table.intervals[at];
            (
                interval.instances,
                interval.judged,
                interval.resolved,
                interval.cumulative,
            )
        };
        assert_eq!(row(0), (2, 2, 1, Some(1.0 / 3.0)));
        assert_eq!(row(5), (1, 0, 0, Some(1.0 / 3.0)));
        assert_eq!(row(9), (3, 3, 2, Some(1.0)));
        assert!((table.mean.unwrap() - 3.55 / 6.0).abs() < 1e-12);
        assert!(matches!(table.regression, Some(Regression::Fitted(_))));
    }
}
