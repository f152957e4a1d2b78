//! Inverse document frequency: how much it says that something is there.

/// Returns how much it says that `having` of `all` have something, from 0 (all have it) to 1.
pub(crate) fn idf(all: usize, having: usize) -> f64 {
    let all = all as f64 + 1.0;
    ((all / (having as f64 + 1.0)).ln() / all.ln()).max(0.0)
}
