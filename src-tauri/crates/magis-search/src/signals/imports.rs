//! Files an import away from one of the best files.

use super::Reading;
use std::collections::BTreeMap;

/// So many of the best files lend their neighbours weight.
const LENDERS: usize = 5;

/// By file that is lent to: the lender's score, and the lender.
pub(crate) fn lend(reading: &Reading<'_>, scores: &[f64]) -> BTreeMap<usize, (f64, usize)> {
    let neighbours = reading.view.neighbours();
    let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let mut lent: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for lender in order.into_iter().take(LENDERS) {
        for file in neighbours.near(lender).filter(|file| scores[*file] > 0.0) {
            let entry = lent.entry(file).or_insert((0.0, lender));
            if scores[lender] > entry.0 {
                *entry = (scores[lender], lender);
            }
        }
    }
    lent
}
