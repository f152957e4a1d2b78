//! What a step of so many rows costs, in steps of a single row: known from those that were computed, and expected for others.
//!
//! The ratios hang on the machine, the model and the form of its weights: a step of 8 rows takes between one and six times
//! as long as one of a single row, and one of two rows mostly hardly longer. Times are passed in; nothing is measured here.

use std::time::Duration;

/// Rows of the steps that are told apart: other numbers cost as the next larger one.
pub const SIZES: [usize; 10] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 60];
/// What each row more is expected to cost. Too little rather than too much, so that it is tried.
const EXPECTED: f64 = 0.2;
/// How much of a new time counts.
const NEW: f64 = 0.25;
/// How fast what is known becomes what is expected: times of a moment are not to count for ever.
const FORGETTING: f64 = 0.003;

/// The costs of steps.
#[derive(Debug)]
pub struct StepCosts {
    // Seconds of a step of a single row.
    single: Option<f64>,
    // The others, in such steps.
    sizes: [f64; SIZES.len()],
    // Seconds for copying the state of recurrent layers, and for a token that the model's own heads draft.
    copying: f64,
    heads: f64,
}

impl Default for StepCosts {
    fn default() -> Self {
        Self {
            single: None,
            sizes: SIZES.map(expected),
            copying: 0.0,
            heads: 0.0,
        }
    }
}

impl StepCosts {
    /// Takes note of how long a step of so many rows took.
    pub fn took(&mut self, rows: usize, time: Duration) {
        let time = time.as_secs_f64();
        if rows == 1 {
            let before = self.single.unwrap_or(time);
            self.single = Some(before + NEW * (time - before));
            for (cost, size) in self.sizes.iter_mut().zip(SIZES) {
                *cost += FORGETTING * (expected(size) - *cost);
            }
        } else if let Some(at) = size(rows)
            && let Some(single) = self.single.filter(|single| *single > 0.0)
        {
            let cost = &mut self.sizes[at];
            *cost += NEW * (time / single - *cost);
        }
    }

    /// Takes note of how long it took to copy the state of recurrent layers.
    pub fn copied(&mut self, time: Duration) {
        self.copying += NEW * (time.as_secs_f64() - self.copying);
    }

    /// Takes note of how long the model's own heads took for a draft.
    pub fn drafted(&mut self, tokens: usize, time: Duration) {
        if tokens > 0 {
            self.heads += NEW * (time.as_secs_f64() / tokens as f64 - self.heads);
        }
    }

    /// Returns the cost of a step of so many rows.
    pub fn of(&self, rows: usize) -> f64 {
        match size(rows) {
            _ if rows <= 1 => 1.0,
            Some(at) => self.sizes[at],
            None => expected(rows),
        }
    }

    /// Returns the cost of copying the state of recurrent layers.
    pub fn copying(&self) -> f64 {
        self.in_steps(self.copying)
    }

    /// Returns the cost of a token that the model's own heads draft.
    pub fn heads(&self) -> f64 {
        self.in_steps(self.heads)
    }

    fn in_steps(&self, seconds: f64) -> f64 {
        self.single
            .filter(|single| *single > 0.0)
            .map_or(0.0, |single| seconds / single)
    }
}

fn size(rows: usize) -> Option<usize> {
    SIZES.iter().position(|size| rows <= *size)
}

fn expected(rows: usize) -> f64 {
    1.0 + EXPECTED * (rows as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_was_computed_counts_and_is_forgotten_in_time() {
        let mut costs = StepCosts::default();
        let before = costs.of(8);
        for _ in 0..30 {
            costs.took(1, SECOND);
            costs.took(7, 6 * SECOND);
        }
        assert!((costs.of(8) - 6.0).abs() < 0.2, "{costs:?}");
        assert!((costs.of(7) - 6.0).abs() < 0.2, "{costs:?}");
        for _ in 0..2000 {
            costs.took(1, SECOND);
        }
        assert!((costs.of(8) - before).abs() < 0.1, "{costs:?}");
    }

    #[test]
    fn costs_are_ratios_whatever_the_machine_does_beside() {
        let mut costs = StepCosts::default();
        for slower in [1, 3] {
            for _ in 0..30 {
                costs.took(1, slower * SECOND);
                costs.took(16, slower * 5 * SECOND);
            }
        }
        assert!((costs.of(16) - 5.0).abs() < 0.1, "{costs:?}");
        costs.copied(12 * SECOND);
        assert!((costs.copying() - 1.0).abs() < 0.1, "{costs:?}");
        costs.drafted(2, 24 * SECOND);
        assert!((costs.heads() - 1.0).abs() < 0.1, "{costs:?}");
    }
}
