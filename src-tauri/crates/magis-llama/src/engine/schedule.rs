//! Which rows are computed in the next step, out of all that calls wait for.
//!
//! Rows of answers and of texts that are compared come first, all together: a step reads every weight once, whatever the
//! number of its rows. Prompts come between such steps, one at a time, in pieces that do not keep the others waiting long.
//! The two are not mixed: from 64 rows on llama.cpp rounds otherwise, and a likelihood is not to depend on what somebody
//! else asks for at the same time. Nothing is computed here.

use magis_llm::Urgency;
use std::time::Duration;

/// Rows of one step below which the rounding does not depend on their number. A multiple of 4, for the matrix kernels.
pub const FEW_ROWS: usize = 60;
/// The least tokens of a prompt that are computed in a step of their own.
const SMALLEST_PIECE: usize = 64;
/// How long others wait for a piece of a prompt.
const PIECE_TIME: Duration = Duration::from_millis(300);

/// What one call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    pub urgency: Urgency,
    pub rows: usize,
    pub form: Form,
}

/// Whether rows can be computed in several steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All in one step, [`FEW_ROWS`] at the most.
    Whole,
    /// The tokens of a prompt, piece by piece.
    Pieces,
}

/// The rows of one demand that are in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The position of the demand in the list.
    pub demand: usize,
    /// How many of its rows, from the first on.
    pub rows: usize,
}

/// Decides on one step after the other.
#[derive(Debug)]
pub struct Schedule {
    // Rows of the largest step.
    batch: usize,
    // Whether a step can be ended in its midst, so that nobody who cancels waits for the end of a long one.
    can_interrupt: bool,
    // Whether the last step was one of few rows, so that a prompt comes next.
    after_few: bool,
    // Seconds for one row of a prompt, as the last piece had it.
    row_time: Option<f64>,
}

impl Schedule {
    /// Creates a schedule of steps of so many rows at the most. llama.cpp ends a step in its midst on the processor alone.
    pub fn new(batch: usize, can_interrupt: bool) -> Self {
        Self {
            batch,
            can_interrupt,
            after_few: false,
            row_time: None,
        }
    }

    /// Returns what is computed next; nothing where nothing is waited for. Demands come in the order they were made.
    pub fn next(&mut self, demands: &[Demand]) -> Vec<Share> {
        let few = few(demands);
        let prompt = self.prompt(demands, !few.is_empty());
        let turn_of_prompt = few.is_empty() || self.after_few;
        match prompt.filter(|_| turn_of_prompt) {
            Some(share) => {
                self.after_few = false;
                vec![share]
            }
            None => {
                self.after_few = true;
                few
            }
        }
    }

    /// Takes note of how long a step of so many rows took.
    pub fn took(&mut self, rows: usize, time: Duration) {
        if rows >= SMALLEST_PIECE {
            self.row_time = Some(time.as_secs_f64() / rows as f64);
        }
    }

    /// Returns the piece of the prompt whose turn it is: of the most urgent ones that which waits longest.
    fn prompt(&self, demands: &[Demand], others_wait: bool) -> Option<Share> {
        let long = |demand: &&(usize, &Demand)| demand.1.form == Form::Pieces && demand.1.rows > FEW_ROWS;
        let (at, demand) = demands
            .iter()
            .enumerate()
            .filter(|demand| long(&demand))
            .min_by_key(|(_, demand)| demand.urgency)?;
        let most = if others_wait || !self.can_interrupt {
            self.piece()
        } else {
            self.batch
        };
        Some(Share {
            demand: at,
            rows: self.without_small_rest(demand.rows, most),
        })
    }

    /// Returns how many of the rows of a prompt are computed next, so that no few are left over: they would be rounded
    /// otherwise, and it would depend on others how a prompt is cut.
    fn without_small_rest(&self, rows: usize, most: usize) -> usize {
        let piece = rows.min(most);
        let rest = rows - piece;
        if rest == 0 || rest > FEW_ROWS {
            piece
        } else if rows <= self.batch {
            rows
        } else {
            piece.saturating_sub(SMALLEST_PIECE).max(SMALLEST_PIECE)
        }
    }

    /// Returns the rows of a prompt that others can wait for.
    fn piece(&self) -> usize {
        let rows = self.row_time.map_or(0.0, |time| PIECE_TIME.as_secs_f64() / time) as usize;
        (rows / SMALLEST_PIECE * SMALLEST_PIECE).clamp(SMALLEST_PIECE, self.batch.max(SMALLEST_PIECE))
    }
}

/// Returns as many whole demands as fit into a step of few rows, the urgent ones first.
fn few(demands: &[Demand]) -> Vec<Share> {
    let mut order: Vec<usize> = (0..demands.len()).filter(|at| demands[*at].rows <= FEW_ROWS).collect();
    order.sort_by_key(|at| demands[*at].urgency);
    let mut shares = Vec::new();
    let mut left = FEW_ROWS;
    for at in order {
        let rows = demands[at].rows;
        if rows <= left {
            left -= rows;
            shares.push(Share { demand: at, rows });
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: usize) -> Demand {
        Demand {
            urgency: Urgency::Interactive,
            rows,
            form: Form::Whole,
        }
    }

    fn prompt(rows: usize) -> Demand {
        Demand {
            form: Form::Pieces,
            ..self::rows(rows)
        }
    }

    fn background(demand: Demand) -> Demand {
        Demand {
            urgency: Urgency::Background,
            ..demand
        }
    }

    fn check(schedule: &mut Schedule, demands: &[Demand], expected: &[(usize, usize)]) {
        let shares: Vec<(usize, usize)> = schedule
            .next(demands)
            .iter()
            .map(|share| (share.demand, share.rows))
            .collect();
        assert_eq!(shares, expected);
    }

    #[test]
    fn a_prompt_alone_is_computed_in_the_largest_steps() {
        let mut schedule = Schedule::new(512, true);
        check(&mut schedule, &[prompt(1300)], &[(0, 512)]);
        check(&mut schedule, &[prompt(788)], &[(0, 512)]);
        check(&mut schedule, &[prompt(276)], &[(0, 276)]);
        check(&mut schedule, &[], &[]);
    }

    #[test]
    fn no_few_rows_of_a_prompt_are_left_over() {
        let mut schedule = Schedule::new(512, true);
        check(&mut schedule, &[prompt(540)], &[(0, 448)]);
        check(&mut schedule, &[prompt(92)], &[(0, 92)]);
        let beside = [rows(1), prompt(100)];
        check(&mut schedule, &beside, &[(0, 1)]);
        check(&mut schedule, &beside, &[(1, 100)]);
    }

    #[test]
    fn answers_go_on_together_between_the_pieces_of_a_prompt() {
        let mut schedule = Schedule::new(512, true);
        schedule.took(512, Duration::from_millis(1024));
        let demands = [rows(1), prompt(1300), rows(4)];
        check(&mut schedule, &demands, &[(0, 1), (2, 4)]);
        check(&mut schedule, &demands, &[(1, 128)]);
        check(&mut schedule, &demands, &[(0, 1), (2, 4)]);
        check(&mut schedule, &demands[1..2], &[(0, 512)]);
    }

    #[test]
    fn steps_that_cannot_be_interrupted_are_short() {
        let mut schedule = Schedule::new(512, false);
        check(&mut schedule, &[prompt(1300)], &[(0, 64)]);
        schedule.took(64, Duration::from_millis(128));
        check(&mut schedule, &[prompt(1236)], &[(0, 128)]);
        schedule.took(128, Duration::from_millis(64));
        check(&mut schedule, &[prompt(1108)], &[(0, 512)]);
    }

    #[test]
    fn what_does_not_fit_waits_and_what_is_short_rides_along() {
        let mut schedule = Schedule::new(512, true);
        let demands = [rows(40), rows(30), prompt(12), rows(1)];
        check(&mut schedule, &demands, &[(0, 40), (2, 12), (3, 1)]);
        check(&mut schedule, &demands[1..2], &[(0, 30)]);
    }

    #[test]
    fn what_a_person_waits_for_comes_before_the_background() {
        let mut schedule = Schedule::new(512, true);
        check(&mut schedule, &[background(prompt(900)), prompt(70)], &[(1, 70)]);
        check(&mut schedule, &[background(rows(50)), rows(20)], &[(1, 20)]);
        check(&mut schedule, &[background(rows(40)), rows(20)], &[(1, 20), (0, 40)]);
        check(&mut schedule, &[background(prompt(900))], &[(0, 512)]);
    }

    #[test]
    fn a_prompt_gets_its_turn_however_many_answers_go_on() {
        let mut schedule = Schedule::new(512, true);
        let demands = [rows(60), rows(60), prompt(400)];
        let turns: Vec<usize> = (0..6).map(|_| schedule.next(&demands)[0].demand).collect();
        assert_eq!(turns, [0, 2, 0, 2, 0, 2]);
    }
}
