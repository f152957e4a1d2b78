//! What relevance is judged by, beside the ranking, and how it is fused with it.

use magis_llm::Score;
use magis_search::{keep, z_scores};

/// How much counts what, beside the ranking.
mod weight {
    /// Log-likelihood ratio by token.
    pub const LIKELIHOOD: f64 = 0.1;
    /// Yes or no on code: on what was measured it adds next to nothing to that.
    pub const CODE: f64 = 0.02;
}

/// Keep thresholds of a candidate file: in units of what the ranking's best has it may lie so far below the best of
/// ranking and likelihood together, and by places it has to be among the first as well. Each file costs a minute, and every
/// additional one lowers the odds (the paper's table of complexity).
///
/// Of 140 issues 95.2 % of the right files among the first ten stay so, and 77.1 % of the wrong ones go (the halves of
/// [`RelevanceFeatures::fused`]: 95.0 and 76.3, 95.4 and 77.7). Each rule alone: near the best, four at most, 95.2 and
/// 72.6; by places 95.2 and 75.6.
mod thresholds {
    use magis_search::KeepRule;

    /// Near the best in the ranking and the likelihood together.
    pub const NEAR: KeepRule = KeepRule {
        margin: 0.6,
        most: usize::MAX,
    };
    /// Among the first by places.
    pub const FIRST: KeepRule = KeepRule { margin: 0.2, most: 5 };
    /// Near the best, where something shows the fault.
    pub const TRIED: KeepRule = KeepRule { most: 4, ..NEAR };
    /// The first places lie so close together: the second has 11/12 of the first, the third 11/13.
    pub const PLACES: f64 = 11.0;
    /// A place by likelihood beside one in the ranking.
    pub const LIKELIHOOD: f64 = 0.5;
}

/// The features that relevance is judged by: of the files of one issue, each in the order of the ranking.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RelevanceFeatures<'a> {
    pub ranking: &'a [f64],
    pub per_token: &'a [Option<f64>],
    pub yes_no: &'a [Option<f64>],
}

/// How much likelier the issue makes a name as the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ConditionalScore {
    /// log P(name | issue) − log P(name), in nats.
    pub log_ratio: f64,
    /// Tokens of the name.
    pub tokens: u32,
}

impl RelevanceFeatures<'_> {
    /// Returns how relevant each file is: by its share of what the ranking's best has, and by how far what the model
    /// says of it stands out among the others, as z-scores. One that was not asked about counts as average in that
    /// question.
    ///
    /// Chosen on 63 issues of eight repositories (places 1, 3, 5, 10: 61.9, 82.5, 87.3, 95.2 by the ranking alone; 68.3,
    /// 87.3, 90.5, 95.2 so) and looked at again on 77 of a ninth (62.3, 77.9, 80.5, 84.4; 64.9, 79.2, 83.1, 88.3). The
    /// z-scores of a ranking whose first is far ahead would hide that, and so would places.
    pub fn fused(self) -> Vec<f64> {
        let best = self.ranking.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let (named, answered) = (z_scores(self.per_token), z_scores(self.yes_no));
        let at = |scores: &[f64], index: usize| scores.get(index).copied().unwrap_or(0.0);
        let fused = |(index, score): (usize, &f64)| {
            score / best + weight::LIKELIHOOD * at(&named, index) + weight::CODE * at(&answered, index)
        };
        self.ranking.iter().enumerate().map(fused).collect()
    }

    /// Returns which files stay candidates where something shows the fault: those that it runs through, where it says so,
    /// as what never ran did not show it. Their places do not count, as a wrong file costs some runs that fail there, and
    /// no wrong patch.
    pub fn kept_to_try(self, entered: &[bool]) -> Vec<bool> {
        let mut fused = self.fused();
        if entered.contains(&true) {
            for (fused, _) in fused.iter_mut().zip(entered).filter(|(_, entered)| !**entered) {
                *fused = f64::NEG_INFINITY;
            }
        }
        keep(&fused, thresholds::TRIED)
    }

    /// Returns which files stay candidates.
    pub fn kept(self) -> Vec<bool> {
        let fused = self.fused();
        let (near, first) = (
            keep(&fused, thresholds::NEAR),
            keep(&self.by_places(), thresholds::FIRST),
        );
        let best = descending(&fused).first().copied();
        let kept = |at: usize| best == Some(at) || (near[at] && first[at]);
        (0..fused.len()).map(kept).collect()
    }

    /// Returns the places in ranking and likelihood together, the best being 1.
    fn by_places(self) -> Vec<f64> {
        let places = |values: &[f64]| -> Vec<f64> {
            let before = |value: &f64| values.iter().filter(|other| *other > value).count() as f64;
            values
                .iter()
                .map(|value| thresholds::PLACES / (thresholds::PLACES + before(value)))
                .collect()
        };
        let named: Vec<f64> = self.per_token.iter().map(|named| named.unwrap_or(f64::MIN)).collect();
        let (ranked, named) = (places(self.ranking), places(&named));
        let named = named.into_iter().chain(std::iter::repeat(1.0));
        let together: Vec<f64> = ranked
            .into_iter()
            .zip(named)
            .map(|(ranked, named)| ranked + thresholds::LIKELIHOOD * named)
            .collect();
        let best = together.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        together.into_iter().map(|value| value / best).collect()
    }
}

impl ConditionalScore {
    /// Of each continuation, asked after the issue and without it.
    pub fn each(with: &[Score], without: &[Score]) -> Vec<Self> {
        let named = |(with, without): (&Score, &Score)| Self {
            log_ratio: with.logprob - without.logprob,
            tokens: with.tokens,
        };
        with.iter().zip(without).map(named).collect()
    }

    /// Returns the log-likelihood divided by the number of tokens.
    pub fn per_token(&self) -> Option<f64> {
        (self.tokens > 0).then(|| self.log_ratio / f64::from(self.tokens))
    }
}

/// Returns the places of the values, greatest first; equal ones in their order.
pub(crate) fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranking: &[f64], per_token: &[f64], order: &[usize]) {
        let per_token: Vec<Option<f64>> = per_token.iter().copied().map(Some).collect();
        let fused = features(ranking, &per_token).fused();
        assert_eq!(descending(&fused), order, "{ranking:?} with {per_token:?}: {fused:?}");
    }

    fn features<'a>(ranking: &'a [f64], per_token: &'a [Option<f64>]) -> RelevanceFeatures<'a> {
        RelevanceFeatures {
            ranking,
            per_token,
            yes_no: &[],
        }
    }

    #[test]
    fn naming_decides_between_files_that_rank_side_by_side() {
        check(&[5.0, 2.0, 1.9, 0.5], &[2.0, 0.0, 3.0, 1.0], &[0, 2, 1, 3]);
    }

    #[test]
    fn the_first_place_falls_only_where_naming_has_it_far_behind() {
        check(&[2.0, 1.9, 0.3, 0.2, 0.1], &[8.0, 9.0, 3.0, 2.0, 1.0], &[0, 1, 2, 3, 4]);
        check(&[2.0, 1.9, 0.3, 0.2, 0.1], &[0.0, 9.0, 3.0, 2.0, 1.0], &[1, 0, 2, 3, 4]);
    }

    #[test]
    fn without_an_answer_the_ranking_stands_and_what_was_not_asked_counts_as_average() {
        assert_eq!(features(&[3.0, 1.5], &[]).fused(), [1.0, 0.5]);
        let asked = [None, Some(-1.0), Some(1.0)];
        assert_eq!(descending(&features(&[3.0; 3], &asked).fused()), [2, 0, 1]);
        assert!(RelevanceFeatures::default().fused().is_empty() && RelevanceFeatures::default().kept().is_empty());
    }

    #[test]
    fn files_near_the_best_stay_and_never_more_than_five() {
        assert_eq!(features(&[5.0, 4.0, 2.0, 1.0], &[]).kept(), [true, true, true, false]);
        assert_eq!(features(&[1.0; 9], &[]).kept().iter().filter(|kept| **kept).count(), 5);
    }

    #[test]
    fn what_stands_far_back_by_places_goes_however_near_it_is() {
        let named: Vec<Option<f64>> = [4.0, 3.9, 3.8, 3.7, 3.6].map(Some).into();
        let ranking = [5.0, 4.9, 4.8, 4.7, 4.6];
        assert_eq!(features(&ranking, &named).kept(), [true, true, true, false, false]);
    }

    #[test]
    fn where_something_shows_the_fault_four_near_the_best_stay_whatever_their_places() {
        let named: Vec<Option<f64>> = [4.0, 3.9, 3.8, 3.7, 3.6].map(Some).into();
        let ranking = [5.0, 4.9, 4.8, 4.7, 4.6];
        let unknown = [false; 5];
        assert_eq!(
            features(&ranking, &named).kept_to_try(&unknown),
            [true, true, true, true, false]
        );
        assert_eq!(
            features(&[5.0, 4.0, 1.0], &[]).kept_to_try(&unknown[..3]),
            [true, true, false]
        );
        assert!(RelevanceFeatures::default().kept_to_try(&[]).is_empty());
    }

    #[test]
    fn what_shows_the_fault_leaves_the_files_that_it_runs_through() {
        let kept = features(&[9.0, 8.0, 3.0, 1.0], &[]).kept_to_try(&[false, false, true, true]);
        assert_eq!(kept, [false, false, true, true]);
    }

    #[test]
    fn a_name_counts_by_token() {
        let score = |logprob, tokens| Score { logprob, tokens };
        let named = ConditionalScore::each(&[score(-2.0, 4), score(-1.0, 0)], &[score(-10.0, 4), score(-1.0, 0)]);
        assert_eq!((named[0].log_ratio, named[0].per_token()), (8.0, Some(2.0)));
        assert_eq!(named[1].per_token(), None, "no token, nothing by token");
    }
}
