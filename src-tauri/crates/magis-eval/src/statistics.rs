//! Logistic regression with one predictor; shares with their intervals, and paired ones compared; minimum, maximum and mean.
//!
//! The regression is fitted by Newton's method (iteratively reweighted least squares); its tests are Wald's. No other models are fitted here.

use serde::Serialize;
use std::fmt;

/// What a logistic regression of a yes/no outcome on one predictor gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Regression {
    Fitted(LinearFit),
    /// A value of the predictor separates the two outcomes, so the likelihood has no maximum and no coefficient exists.
    Separated,
    /// All outcomes are the same, or all values are: there is nothing to fit.
    Constant,
}

/// A fitted logistic regression: log-odds = intercept + coefficient · x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinearFit {
    pub n: usize,
    /// The log-odds at x = 0.
    pub intercept: f64,
    /// The change of the log-odds with one unit of x.
    pub coefficient: f64,
    /// The standard error of the coefficient.
    pub standard_error: f64,
    /// Wald's two-sided p-value of the coefficient.
    pub p: f64,
}

/// Minimum, maximum and mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
}

/// Regresses the outcomes on the predictor.
pub fn logistic(observations: &[(f64, bool)]) -> Regression {
    let of = |wanted: bool| {
        observations
            .iter()
            .filter(move |(_, outcome)| *outcome == wanted)
            .map(|(x, _)| *x)
    };
    let (Some(no), Some(yes)) = (Range::of(of(false)), Range::of(of(true))) else {
        return Regression::Constant;
    };
    if no.min.min(yes.min) >= no.max.max(yes.max) {
        return Regression::Constant;
    }
    // With one predictor the outcomes are separated, wholly or up to ties, exactly if their ranges do not cross.
    if no.max <= yes.min || yes.max <= no.min {
        return Regression::Separated;
    }
    fit(observations).map_or(Regression::Separated, Regression::Fitted)
}

/// The predictor is centred and scaled while fitting, so that large values do no harm.
fn fit(observations: &[(f64, bool)]) -> Option<LinearFit> {
    let n = observations.len() as f64;
    let mean = observations.iter().map(|(x, _)| x).sum::<f64>() / n;
    let scale = (observations.iter().map(|(x, _)| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let standard: Vec<(f64, f64)> = observations
        .iter()
        .map(|(x, yes)| ((x - mean) / scale, if *yes { 1.0 } else { 0.0 }))
        .collect();
    let (mut a, mut b) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        let Curvature { gradient, hessian } = Curvature::at(&standard, a, b);
        let [[h00, h01], [_, h11]] = hessian;
        let determinant = h00 * h11 - h01 * h01;
        if determinant <= f64::MIN_POSITIVE {
            return None;
        }
        let step_a = (h11 * gradient[0] - h01 * gradient[1]) / determinant;
        let step_b = (h00 * gradient[1] - h01 * gradient[0]) / determinant;
        let mut share = 1.0;
        let before = likelihood(&standard, a, b);
        while likelihood(&standard, a + share * step_a, b + share * step_b) < before - 1e-12 && share > 1e-6 {
            share /= 2.0;
        }
        (a, b) = (a + share * step_a, b + share * step_b);
        if step_a.abs().max(step_b.abs()) < 1e-10 {
            let Curvature {
                hessian: [[h00, h01], [_, h11]],
                ..
            } = Curvature::at(&standard, a, b);
            let variance = h00 / (h00 * h11 - h01 * h01);
            let (coefficient, standard_error) = (b / scale, variance.sqrt() / scale);
            let p = two_sided(coefficient / standard_error);
            return Some(LinearFit {
                n: observations.len(),
                intercept: a - b * mean / scale,
                coefficient,
                standard_error,
                p,
            });
        }
    }
    None
}

/// The log-likelihood's gradient and the negative of its second derivatives.
struct Curvature {
    gradient: [f64; 2],
    hessian: [[f64; 2]; 2],
}

impl Curvature {
    fn at(observations: &[(f64, f64)], a: f64, b: f64) -> Self {
        let mut at = Self {
            gradient: [0.0; 2],
            hessian: [[0.0; 2]; 2],
        };
        for (x, y) in observations {
            let p = 1.0 / (1.0 + (-(a + b * x)).exp());
            let weight = p * (1.0 - p);
            at.gradient[0] += y - p;
            at.gradient[1] += (y - p) * x;
            at.hessian[0][0] += weight;
            at.hessian[0][1] += weight * x;
            at.hessian[1][1] += weight * x * x;
        }
        at.hessian[1][0] = at.hessian[0][1];
        at
    }
}

fn likelihood(observations: &[(f64, f64)], a: f64, b: f64) -> f64 {
    let one = |(x, y): &(f64, f64)| {
        let odds = a + b * x;
        // log(1 + e^odds) without overflow.
        y * odds - (odds.max(0.0) + (-odds.abs()).exp().ln_1p())
    };
    observations.iter().map(one).sum()
}

/// Returns the two-sided tail of the standard normal distribution.
fn two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

impl Range {
    /// Of these values; none where there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return None;
        }
        Some(Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean: values.iter().sum::<f64>() / values.len() as f64,
        })
    }
}

/// Returns the middle value; of two middle ones their mean; none where there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        length if length % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Returns the value that so many percent of the values do not exceed (nearest rank); none where there are none.
pub fn percentile(values: impl IntoIterator<Item = f64>, percent: usize) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied()
}

/// Returns Wilson's 95 % interval of a share; all of [0, 1] where there is nothing to go by.
pub fn wilson(part: usize, whole: usize) -> (f64, f64) {
    /// The standard normal distribution's 97.5th percentile.
    const Z: f64 = 1.959_963_984_540_054;
    if whole == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let middle = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - reach) / scale).max(0.0), ((middle + reach) / scale).min(1.0))
}

/// Returns the two-sided p-value of the exact test of `McNemar`: of the pairs whose halves differ, so many went one way and so many the other.
pub fn mcnemar(one_way: usize, other_way: usize) -> f64 {
    let n = one_way + other_way;
    // The binomial distribution with p = 1/2, summed up to the rarer way; each term out of the one before.
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut tail = term;
    for k in 1..=one_way.min(other_way) {
        term *= (n - k + 1) as f64 / k as f64;
        tail += term;
    }
    (2.0 * tail).min(1.0)
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fitted(LinearFit {
                coefficient,
                standard_error,
                p,
                n,
                ..
            }) => {
                let star = if *p < 0.05 { " *" } else { "" };
                write!(f, "{coefficient:.4} (SE {standard_error:.4}, p {p:.4}, n {n}){star}")
            }
            Self::Separated => f.write_str("separated: no coefficient exists"),
            Self::Constant => f.write_str("nothing varies"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(observations: &[(f64, bool)], intercept: f64, coefficient: f64, error: f64, p: f64) {
        let Regression::Fitted(fit) = logistic(observations) else {
            unreachable!("{observations:?} can be fitted");
        };
        let found = [fit.intercept, fit.coefficient, fit.standard_error, fit.p];
        for (found, expected) in found.into_iter().zip([intercept, coefficient, error, p]) {
            assert!((found - expected).abs() <= 5e-5 * expected.abs().max(1.0), "{fit:?}");
        }
    }

    /// Hours of study and passing an exam: the example of many textbooks; published −4.0777, 1.5046, 0.6287, 0.0167.
    #[test]
    fn the_textbook_example_of_hours_and_exams_is_reproduced() {
        let hours = [
            0.50, 0.75, 1.00, 1.25, 1.50, 1.75, 1.75, 2.00, 2.25, 2.50, 2.75, 3.00, 3.25, 3.50, 4.00, 4.25, 4.50, 4.75,
            5.00, 5.50,
        ];
        let passed = "00000010101010111111";
        let observations: Vec<(f64, bool)> = hours.into_iter().zip(passed.chars().map(|c| c == '1')).collect();
        check(&observations, -4.07771, 1.50465, 0.62872, 0.01670);
    }

    /// For a 2×2 table the coefficient is the log odds ratio, its variance the sum of the reciprocal counts.
    #[test]
    fn a_yes_no_predictor_gives_the_log_odds_ratio() {
        let cells = [(0.0, true, 10), (0.0, false, 30), (1.0, true, 25), (1.0, false, 15)];
        let observations: Vec<(f64, bool)> = cells
            .into_iter()
            .flat_map(|(x, yes, count)| std::iter::repeat_n((x, yes), count))
            .collect();
        let ratio = (25.0_f64 * 30.0 / (15.0 * 10.0)).ln();
        let error = (1.0_f64 / 10.0 + 1.0 / 30.0 + 1.0 / 25.0 + 1.0 / 15.0).sqrt();
        check(&observations, (10.0_f64 / 30.0).ln(), ratio, error, 0.001_019);
    }

    #[test]
    fn large_values_of_the_predictor_do_not_upset_the_fit() {
        let small = [
            (1.0, false),
            (2.0, true),
            (3.0, false),
            (4.0, true),
            (5.0, true),
            (2.5, false),
        ];
        let Regression::Fitted(plain) = logistic(&small) else {
            unreachable!("it can be fitted")
        };
        let large = small.map(|(x, yes)| (x * 1e6 + 7e6, yes));
        check(
            &large,
            plain.intercept - 7.0 * plain.coefficient,
            plain.coefficient / 1e6,
            plain.standard_error / 1e6,
            plain.p,
        );
    }

    #[test]
    fn separation_and_constancy_are_said_instead_of_a_number() {
        let separated = [(0.0, false), (0.1, false), (0.5, true), (0.9, true)];
        assert_eq!(logistic(&separated), Regression::Separated);
        let up_to_ties = [(0.0, false), (0.5, false), (0.5, true), (0.9, true)];
        assert_eq!(logistic(&up_to_ties), Regression::Separated);
        let reversed = [(3.0, false), (1.0, true)];
        assert_eq!(logistic(&reversed), Regression::Separated);
        assert_eq!(logistic(&[(1.0, true), (2.0, true)]), Regression::Constant);
        assert_eq!(logistic(&[(1.0, true), (1.0, false)]), Regression::Constant);
        assert_eq!(logistic(&[]), Regression::Constant);
    }

    /// Wilson's interval of 8 out of 10 and of none out of 20, by R's `prop.test(correct = FALSE)`; the exact test by `binom.test`.
    #[test]
    fn published_intervals_and_paired_tests_are_reproduced() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 5e-5, "{found} is not {expected}");
        for (part, whole, low, high) in [(8, 10, 0.490_16, 0.943_32), (0, 20, 0.0, 0.161_13), (0, 0, 0.0, 1.0)] {
            let (found_low, found_high) = wilson(part, whole);
            near(found_low, low);
            near(found_high, high);
        }
        for (one_way, other_way, p) in [
            (10, 2, 0.038_57),
            (2, 10, 0.038_57),
            (5, 5, 1.0),
            (0, 0, 1.0),
            (6, 0, 0.031_25),
        ] {
            near(mcnemar(one_way, other_way), p);
        }
    }

    #[test]
    fn range_and_median_of_few_values() {
        assert_eq!(
            Range::of([4.0, 1.0, 1.0]),
            Some(Range {
                min: 1.0,
                max: 4.0,
                mean: 2.0
            })
        );
        assert_eq!(Range::of([]), None);
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
