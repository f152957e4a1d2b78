//! Ranking and judgements as one order, and which candidates stay.
//!
//! All numbers are compared inside one issue only. This does not ask the model; its answers are passed in.

/// The weight of log-likelihood beside the ranking. Set by hand.
const LIKELIHOOD_WEIGHT: f64 = 0.5;

/// When a file stays a candidate: how far below the best it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeepRule {
    /// How far below the best, in the units of the scores, a file may lie.
    pub margin: f64,
    /// How many may stay at most.
    pub most: usize,
}

/// z(ranking) + 0.5 · z(log-likelihood), for the candidates of one issue, in their order.
///
/// A candidate that was not asked about counts as average. Both slices have one entry a candidate; a shorter `likelihood`
/// counts as "not asked" for the rest.
pub fn fuse(ranking: &[f64], likelihood: &[Option<f64>]) -> Vec<f64> {
    let ranked: Vec<Option<f64>> = ranking.iter().copied().map(Some).collect();
    let (ranked, named) = (z_scores(&ranked), z_scores(likelihood));
    let named = named.into_iter().chain(std::iter::repeat(0.0));
    let together = ranked.into_iter().zip(named);
    together
        .map(|(ranked, named)| ranked + LIKELIHOOD_WEIGHT * named)
        .collect()
}

/// Returns which of the fused candidates stay: those within the rule's margin of the best, the best always.
pub fn keep(fused: &[f64], rule: KeepRule) -> Vec<bool> {
    let mut order: Vec<usize> = (0..fused.len()).collect();
    order.sort_by(|a, b| comparable(fused[*b]).total_cmp(&comparable(fused[*a])).then(a.cmp(b)));
    let mut kept = vec![false; fused.len()];
    let Some(best) = order.first().map(|index| comparable(fused[*index])) else {
        return kept;
    };
    for (place, index) in order.into_iter().take(rule.most.max(1)).enumerate() {
        kept[index] = place == 0 || (fused[index].is_finite() && fused[index] >= best - rule.margin);
    }
    kept
}

/// Returns what is no number ranks last.
fn comparable(score: f64) -> f64 {
    if score.is_nan() { f64::NEG_INFINITY } else { score }
}

/// (x − mean) / standard deviation over the finite values; the others, and all when nothing varies, are 0.
pub fn z_scores(values: &[Option<f64>]) -> Vec<f64> {
    let finite: Vec<f64> = values
        .iter()
        .flatten()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    let count = finite.len() as f64;
    let mean = finite.iter().sum::<f64>() / count.max(1.0);
    let deviation = (finite.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count.max(1.0)).sqrt();
    let z = |value: f64| {
        if deviation > 1e-9 {
            (value - mean) / deviation
        } else {
            0.0
        }
    };
    values
        .iter()
        .map(|value| value.filter(|v| v.is_finite()).map_or(0.0, z))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_keep(fused: &[f64], rule: KeepRule, expected: &[bool]) {
        assert_eq!(keep(fused, rule), expected, "{fused:?} by {rule:?}");
    }

    #[test]
    fn naming_moves_a_close_second_to_the_front() {
        let ranking = [3.0, 2.9, 1.0];
        let fused = fuse(&ranking, &[Some(-1.0), Some(4.0), Some(0.0)]);
        assert!(fused[1] > fused[0] && fused[0] > fused[2], "{fused:?}");
    }

    #[test]
    fn naming_does_not_overturn_a_clear_first() {
        let fused = fuse(&[9.0, 1.0, 1.1, 0.9], &[Some(0.0), Some(1.0), Some(0.0), Some(0.0)]);
        assert!(fused.iter().all(|score| *score <= fused[0]), "{fused:?}");
    }

    #[test]
    fn what_was_not_asked_counts_as_average() {
        let plain = fuse(&[2.0, 1.0], &[]);
        assert_eq!(fuse(&[2.0, 1.0], &[None, Some(3.0)]), plain);
        assert_eq!(fuse(&[2.0, 1.0], &[Some(f64::NAN), Some(1.0)]), plain);
        assert_eq!(fuse(&[], &[]), Vec::<f64>::new());
    }

    #[test]
    fn the_best_always_stays_and_far_ones_go() {
        let rule = KeepRule { margin: 1.0, most: 3 };
        check_keep(&[0.0, 2.0, 1.5, -3.0], rule, &[false, true, true, false]);
        check_keep(&[1.0, 1.0, 1.0, 1.0], rule, &[true, true, true, false]);
        check_keep(&[f64::NAN, f64::NAN], rule, &[true, false]);
        check_keep(&[], rule, &[]);
    }
}
