//! How complex the reference changes are, how that goes with "resolved", and generated changes beside the references
//! (the paper's tables 1, 3 and 5, figures 8 and 9).
//!
//! What a change is and how large is `change`'s.

use crate::change::Size;
use crate::statistics::{Range, Regression, logistic};
use serde::Serialize;

/// The regression of "resolved" on one index of complexity of the reference change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexRegression {
    pub index: &'static str,
    /// What comes of it.
    pub regression: Regression,
}

/// A generated change beside its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub generated: Size,
    pub reference: Size,
    /// Whether it is resolved.
    pub resolved: bool,
}

/// Minimum, maximum and mean of one number of a group of changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeStatistic {
    pub index: &'static str,
    /// Of the generated changes.
    pub generated: Option<Range>,
    /// Of the references of the same instances.
    pub reference: Option<Range>,
}

/// Changes of one kind: resolved, or applied but unresolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub instances: usize,
    pub statistics: Vec<ChangeStatistic>,
    /// How many generated changes and references add so many lines.
    pub added: Vec<Bucket>,
    /// How many generated changes and references delete so many lines.
    pub deleted: Vec<Bucket>,
}

/// How many changes have so many lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bucket {
    pub from: u32,
    /// To so many, included; none: without an end.
    pub to: Option<u32>,
    pub generated: usize,
    pub reference: usize,
}

type Index = (&'static str, fn(&Size) -> Option<u32>);

const COMPLEXITY: [Index; 6] = [
    ("files", |size| Some(size.files)),
    ("functions", |size| size.functions),
    ("hunks", |size| Some(size.hunks)),
    ("lines added", |size| Some(size.added)),
    ("lines deleted", |size| Some(size.deleted)),
    ("lines changed", |size| Some(size.changed())),
];

const PLACE: [Index; 2] = [
    ("first line", |size| Some(size.first_line)),
    ("last line", |size| Some(size.last_line)),
];

/// The first number of each bucket of lines.
const BUCKETS: [u32; 8] = [0, 1, 3, 6, 11, 21, 51, 101];

/// Regresses "resolved" on each index of the reference change.
pub fn regressions(instances: &[(Size, bool)]) -> Vec<IndexRegression> {
    let regression = |(index, of): &Index| {
        let known: Vec<(f64, bool)> = instances
            .iter()
            .filter_map(|(size, resolved)| Some((f64::from(of(size)?), *resolved)))
            .collect();
        IndexRegression {
            index,
            regression: logistic(&known),
        }
    };
    COMPLEXITY.iter().map(regression).collect()
}

/// Returns the statistics of the changes that are resolved, or of those that are not.
pub fn group(pairs: &[Pair], resolved: bool) -> Group {
    let pairs: Vec<&Pair> = pairs.iter().filter(|pair| pair.resolved == resolved).collect();
    let range = |of: fn(&Size) -> Option<u32>, side: fn(&Pair) -> &Size| {
        Range::of(pairs.iter().filter_map(|pair| of(side(pair))).map(f64::from))
    };
    let statistic = |(index, of): &Index| ChangeStatistic {
        index,
        generated: range(*of, |pair| &pair.generated),
        reference: range(*of, |pair| &pair.reference),
    };
    Group {
        instances: pairs.len(),
        statistics: COMPLEXITY.iter().chain(&PLACE).map(statistic).collect(),
        added: buckets(&pairs, |size| size.added),
        deleted: buckets(&pairs, |size| size.deleted),
    }
}

fn buckets(pairs: &[&Pair], of: fn(&Size) -> u32) -> Vec<Bucket> {
    let bucket = |(at, from): (usize, &u32)| {
        let to = BUCKETS.get(at + 1).map(|next| next - 1);
        let inside = |size: &Size| (*from..=to.unwrap_or(u32::MAX)).contains(&of(size));
        Bucket {
            from: *from,
            to,
            generated: pairs.iter().filter(|pair| inside(&pair.generated)).count(),
            reference: pairs.iter().filter(|pair| inside(&pair.reference)).count(),
        }
    };
    BUCKETS.iter().enumerate().map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(files: u32, added: u32, deleted: u32) -> Size {
        Size {
            files,
            functions: None,
            hunks: files,
            added,
            deleted,
            first_line: 5,
            last_line: 9,
        }
    }

    #[test]
    fn each_group_has_its_own_statistics_beside_the_references() {
        let pair = |generated, resolved| Pair {
            generated,
            reference: size(1, 4, 0),
            resolved,
        };
        let pairs = [
            pair(size(1, 10, 0), true),
            pair(size(2, 2, 120), false),
            pair(size(4, 4, 10), false),
        ];
        let unresolved = group(&pairs, false);
        assert_eq!(unresolved.instances, 2);
        let row = |index: &str| unresolved.statistics.iter().find(|row| row.index == index).unwrap();
        assert_eq!(
            row("files").generated,
            Some(Range {
                min: 2.0,
                max: 4.0,
                mean: 3.0
            })
        );
        assert_eq!(
            row("lines deleted").generated,
            Some(Range {
                min: 10.0,
                max: 120.0,
                mean: 65.0
            })
        );
        assert_eq!(
            row("lines changed").reference,
            Some(Range {
                min: 4.0,
                max: 4.0,
                mean: 4.0
            })
        );
        assert_eq!(row("functions").generated, None);
        let counts: Vec<usize> = unresolved.deleted.iter().map(|bucket| bucket.generated).collect();
        assert_eq!(counts, [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(unresolved.deleted[0].reference, 2);
    }

    #[test]
    fn an_index_that_never_varies_is_said_to() {
        let set = [
            (size(1, 1, 0), true),
            (size(1, 5, 0), false),
            (size(1, 2, 0), false),
            (size(1, 9, 0), true),
        ];
        let found = regressions(&set);
        assert_eq!(
            found[0],
            IndexRegression {
                index: "files",
                regression: Regression::Constant
            }
        );
        assert!(matches!(found[3].regression, Regression::Fitted(_)), "{found:?}");
    }
}
