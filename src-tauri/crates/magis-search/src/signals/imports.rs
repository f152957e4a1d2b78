//! Files an import away from one of the best files.

use super::{Propagated, SOURCES, SignalInput, propagate_to, strongest};

/// By file that a score is propagated to: the score of the source.
pub(crate) fn propagate(reading: &SignalInput<'_>, scores: &[f64]) -> Propagated {
    let neighbours = reading.view.neighbours();
    let mut propagated = Propagated::new();
    for source in strongest(scores, SOURCES) {
        for file in neighbours.near(source).filter(|file| scores[*file] > 0.0) {
            propagate_to(&mut propagated, file, scores[source], source);
        }
    }
    propagated
}
