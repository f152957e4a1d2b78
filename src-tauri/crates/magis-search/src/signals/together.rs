//! Files that were changed together with one of the best files: what changed together will change together.

use super::past::Past;
use super::{LENDERS, Lent, lend_to, strongest};
use std::collections::{BTreeMap, BTreeSet};

/// What a commit of more files changed belongs together less.
const MOST_FILES: usize = 20;
/// Fewer common changes are chance.
const LEAST: usize = 3;

/// By file that is lent to: the lender's score, by the share of all changes of either that were changes of both. A file that
/// everything changes keeps company with all, and so with none.
pub(crate) fn lend(past: &Past<'_>, scores: &[f64]) -> Lent {
    let lenders = strongest(scores, LENDERS);
    let mut common: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut changes = vec![0; scores.len()];
    for (commit, files) in past.history.commits.iter().zip(&past.changed) {
        if commit.changed.len() > MOST_FILES {
            continue;
        }
        let files: BTreeSet<usize> = files.iter().copied().collect();
        for file in &files {
            changes[*file] += 1;
        }
        for lender in lenders.iter().filter(|lender| files.contains(lender)) {
            for file in files.iter().filter(|file| *file != lender) {
                *common.entry((*lender, *file)).or_default() += 1;
            }
        }
    }
    let mut lent = Lent::new();
    for ((lender, file), times) in common {
        if times >= LEAST && scores[file] > 0.0 {
            let either = changes[lender] + changes[file] - times;
            let share = times as f64 / (either + LEAST) as f64;
            lend_to(&mut lent, file, share * scores[lender], lender);
        }
    }
    lent
}
