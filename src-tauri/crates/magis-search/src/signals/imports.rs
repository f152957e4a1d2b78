//! Files an import away from one of the best files.

use super::{LENDERS, Lent, Reading, lend_to, strongest};

/// By file that is lent to: the lender's score.
pub(crate) fn lend(reading: &Reading<'_>, scores: &[f64]) -> Lent {
    let neighbours = reading.view.neighbours();
    let mut lent = Lent::new();
    for lender in strongest(scores, LENDERS) {
        for file in neighbours.near(lender).filter(|file| scores[*file] > 0.0) {
            lend_to(&mut lent, file, scores[lender], lender);
        }
    }
    lent
}
