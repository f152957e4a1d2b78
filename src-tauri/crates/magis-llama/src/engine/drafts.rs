//! Drafts of what an answer may go on with, copied from what was read or written before: an edit repeats most of the text
//! that it edits. A draft is computed together with the token that is certain, and what the model would have written
//! otherwise ends it, so that the answer is the same as without.
//!
//! A draft that is right costs less than its tokens one by one, a wrong one is lost time. How likely it is right is known
//! without computing one: for each token that the answer takes, the token that a draft would have begun with is compared. How
//! much its rows cost is known from the steps before ([`StepCosts`]). The draft that gives the most tokens in the time is taken,
//! and none where a single token does. Where nothing was read that helps, the model's own heads draft, if it has some; how many
//! tokens is reckoned in the same way. Nothing is computed here.

use super::native::Token;
use super::step_costs::{SIZES, StepCosts};
use std::collections::HashMap;

/// Tokens that have to be alike before a draft goes on as the text did there.
const ALIKE: usize = 2;
/// The places of one such run that are looked at, from the last one back.
const PLACES: usize = 256;
/// Tokens up to which it matters how much more is alike.
const LOOK_BACK: usize = 64;
/// From how many tokens alike on the next token is held for as likely as with more.
const GRADES: [usize; 5] = [3, 6, 12, 24, usize::MAX];
/// How likely a draft goes on as it did, by grade, before anything was compared: in new text a few tokens alike say little. And for
/// how many comparisons that counts.
const EXPECTED: [f64; 5] = [0.15, 0.3, 0.6, 0.8, 0.95];
const WEIGHT: f64 = 4.0;
/// What becomes of earlier comparisons with each one.
const FORGETTING: f64 = 0.95;
/// How likely a token of the model's own heads is right, before any was checked; the most tokens that they draft; and how
/// fast what was seen of them becomes what is expected: while they do not draft nothing is seen of them.
const HEADS_EXPECTED: f64 = 0.75;
const MOST_OF_HEADS: usize = 4;
const HEADS_FORGETTING: f64 = 0.005;

/// The drafts of one answer.
#[derive(Debug)]
pub struct Drafts {
    read: Vec<Token>,
    // Where each run of tokens ended last, and for each end that of the same run before it.
    last: HashMap<[Token; ALIKE], usize>,
    before: Vec<Option<usize>>,
    place: Option<Place>,
    // Where the text was copied from until now: behind a change it goes on from there.
    copied_to: usize,
    grades: [Grade; GRADES.len()],
    heads: Grade,
}

/// A place where the text was as it is now at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Where it goes on there.
    from: usize,
    /// Tokens before it that are alike, [`LOOK_BACK`] at the most.
    alike: usize,
}

/// How often texts that were so much alike went on alike.
#[derive(Debug, Clone, Copy)]
struct Grade {
    right: f64,
    all: f64,
}

/// What a draft is to be right for to pay, beside the costs of its rows.
#[derive(Debug, Clone, Copy)]
pub struct DraftTerms<'a> {
    pub costs: &'a StepCosts,
    /// Answers that are written at the same time, this one among them: their rows are in the same steps.
    pub writing: usize,
    /// Tokens of the longest draft.
    pub most: usize,
    /// Whether what follows a wrong token has to be computed again, as with recurrent layers.
    pub is_computed_again: bool,
}

impl Drafts {
    /// Creates the drafts of the answer to a prompt.
    pub fn new(prompt: &[Token]) -> Self {
        let mut drafts = Self {
            read: Vec::with_capacity(prompt.len()),
            last: HashMap::with_capacity(prompt.len()),
            before: Vec::with_capacity(prompt.len() + 1),
            place: None,
            copied_to: 0,
            grades: EXPECTED.map(Grade::expected),
            heads: Grade::expected(HEADS_EXPECTED),
        };
        drafts.before.push(None);
        for token in prompt {
            drafts.read(*token);
        }
        drafts.place = drafts.best_place();
        drafts
    }

    /// Takes a token of the answer.
    pub fn push(&mut self, token: Token) {
        if let Some(place) = self.place {
            let is_right = self.read[place.from] == token;
            self.grades[grade(place.alike)].saw(is_right);
            if is_right {
                self.copied_to = place.from + 1;
            }
        }
        self.read(token);
        self.place = self.best_place();
    }

    /// Returns what may come next; nothing where that does not pay.
    pub fn next(&self, terms: DraftTerms<'_>) -> &[Token] {
        let Some(place) = self.place else { return &[] };
        let most = terms.most.min(self.read.len() - place.from);
        let mut best = (0, 1.0 / terms.costs.of(terms.writing));
        for size in SIZES {
            let length = (size / terms.writing).saturating_sub(1).min(most);
            if length > best.0 {
                let worth = self.worth(place, length, terms);
                if worth > best.1 {
                    best = (length, worth);
                }
            }
        }
        &self.read[place.from..place.from + best.0]
    }

    /// Returns how many tokens the model's own heads are to draft; 0 where that does not pay.
    pub fn of_heads(&mut self, terms: DraftTerms<'_>) -> usize {
        self.heads.forget(HEADS_EXPECTED);
        let likely = self.heads.likely();
        let mut best = (0, 1.0 / terms.costs.of(terms.writing));
        for length in 1..=MOST_OF_HEADS.min(terms.most) {
            let drafting = terms.costs.heads() * length as f64;
            let worth = terms.worth(std::iter::repeat_n(likely, length), drafting);
            if worth > best.1 {
                best = (length, worth);
            }
        }
        best.0
    }

    /// Takes note of how many tokens of a draft of the model's own heads were right.
    pub fn heads_were(&mut self, right: usize, drafted: usize) {
        for at in 0..drafted.min(right + 1) {
            self.heads.saw(at < right);
        }
    }

    /// Returns the tokens that a draft from a place is likely to give in the time that a step of a single row takes.
    fn worth(&self, place: Place, length: usize, terms: DraftTerms<'_>) -> f64 {
        let likely = (place.alike..place.alike + length).map(|alike| self.grades[grade(alike)].likely());
        terms.worth(likely, 0.0)
    }

    fn read(&mut self, token: Token) {
        self.read.push(token);
        let before = self
            .read
            .last_chunk::<ALIKE>()
            .and_then(|run| self.last.insert(*run, self.read.len()));
        self.before.push(before);
    }

    /// Returns where the text goes on that is most like the end of what was read; of equals that which follows what was
    /// copied last.
    fn best_place(&self) -> Option<Place> {
        let mut best: Option<Place> = None;
        let mut end = self.read.len();
        for _ in 0..PLACES {
            let Some(earlier) = self.before[end] else { break };
            end = earlier;
            let place = Place {
                from: end,
                alike: self.alike(end),
            };
            let is_better = best
                .is_none_or(|best| (place.alike, self.distance(best.from)) > (best.alike, self.distance(place.from)));
            if is_better {
                best = Some(place);
            }
        }
        best
    }

    /// Returns how many tokens before a place are the same as those at the end.
    fn alike(&self, end: usize) -> usize {
        let pairs = self.read[..end].iter().rev().zip(self.read.iter().rev());
        pairs.take(LOOK_BACK).take_while(|(one, other)| one == other).count()
    }

    /// Returns how far behind what was copied last a place is; what lies before it is farther than all behind.
    fn distance(&self, from: usize) -> usize {
        from.checked_sub(self.copied_to).unwrap_or(usize::MAX - from)
    }
}

impl DraftTerms<'_> {
    /// Returns the tokens that a draft is likely to give in the time that a step of a single row takes: each of its tokens
    /// is so likely right as those before it are; making it costs so much.
    fn worth(&self, each: impl ExactSizeIterator<Item = f64>, making: f64) -> f64 {
        let length = each.len();
        let mut likely = 1.0;
        let mut tokens = 1.0;
        for next in each {
            likely *= next;
            tokens += likely;
        }
        let step = self.costs.of(self.writing * (length + 1));
        let again = if self.is_computed_again {
            self.costs.copying() + (1.0 - likely) * step
        } else {
            0.0
        };
        tokens / (step + again + making)
    }
}

impl Grade {
    fn expected(likely: f64) -> Self {
        Self {
            right: likely * WEIGHT,
            all: WEIGHT,
        }
    }

    /// Lets what was seen become what is expected, a little.
    fn forget(&mut self, likely: f64) {
        self.right += HEADS_FORGETTING * (likely * self.all - self.right);
    }

    fn saw(&mut self, is_right: bool) {
        self.right = self.right * FORGETTING + f64::from(is_right);
        self.all = self.all * FORGETTING + 1.0;
    }

    fn likely(self) -> f64 {
        self.right / self.all
    }
}

fn grade(alike: usize) -> usize {
    GRADES.iter().position(|end| alike < *end).unwrap_or(GRADES.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Steps of up to 60 rows that take as long as one of a single row, or as long as all their rows one by one.
    fn costs(of_a_row: f64) -> StepCosts {
        let mut costs = StepCosts::default();
        for rows in std::iter::repeat_n([1].into_iter().chain(SIZES), 30).flatten() {
            costs.took(rows, Duration::from_secs_f64(1.0 + of_a_row * (rows - 1) as f64));
        }
        costs
    }

    fn after(prompt: impl IntoIterator<Item = Token>, answer: impl IntoIterator<Item = Token>) -> Drafts {
        let mut drafts = Drafts::new(&prompt.into_iter().collect::<Vec<_>>());
        for token in answer {
            drafts.push(token);
        }
        drafts
    }

    fn next(drafts: &Drafts, of_a_row: f64, most: usize) -> Vec<Token> {
        let terms = DraftTerms {
            costs: &costs(of_a_row),
            writing: 1,
            most,
            is_computed_again: false,
        };
        drafts.next(terms).to_vec()
    }

    #[test]
    fn a_draft_goes_on_as_the_text_did_before() {
        let drafts = after(0..100, 40..46);
        assert_eq!(next(&drafts, 0.1, 3), [46, 47, 48]);
        assert_eq!(next(&drafts, 0.1, 0), [0; 0]);
        assert_eq!(
            next(&after(0..100, [1, 2]), 0.2, 60),
            [0; 0],
            "two tokens alike may be chance"
        );
        assert_eq!(next(&after(0..100, [1, 2]), 0.1, 60), [3], "that costs next to nothing");
        assert_eq!(next(&after([], []), 0.1, 60), [0; 0]);
    }

    #[test]
    fn the_place_that_is_most_alike_is_taken() {
        let places = [7, 1, 2, 3, 4, 50, 51, 52, 8, 1, 2, 3, 4, 60, 61, 62];
        assert_eq!(next(&after(places, [7, 1, 2, 3, 4]), 0.0, 3), [50, 51, 52]);
        assert_eq!(next(&after(places, [8, 1, 2, 3, 4]), 0.0, 3), [60, 61, 62]);
    }

    #[test]
    fn behind_a_change_a_draft_goes_on_with_the_next_line() {
        // Lines that begin alike; the answer changes the end of the second one, and goes on with the third.
        let lines = (0..5).flat_map(|line| [1, 2, 3, 4, 100 + line, 200 + line]);
        let answer = [1, 2, 3, 4, 100, 200, 1, 2, 3, 4, 101, 999, 1, 2, 3, 4];
        assert_eq!(next(&after(lines, answer), 0.0, 2), [102, 202]);
    }

    #[test]
    fn a_draft_is_the_longer_the_less_its_rows_cost() {
        let drafts = after(0..200, 40..60);
        assert_eq!(next(&drafts, 0.0, 60).len(), 59);
        assert!((3..59).contains(&next(&drafts, 0.2, 60).len()));
        assert_eq!(next(&drafts, 1.0, 60).len(), 0);
    }

    #[test]
    fn nothing_is_drafted_while_drafts_would_be_wrong_and_then_again() {
        let mut drafts = after((0..1000).map(|at| at % 10), []);
        for _ in 0..60 {
            drafts.push(5);
            for token in [1, 2, 3] {
                drafts.push(token);
            }
        }
        let wrong: Vec<Token> = (0..80).flat_map(|at| [1, 2, 3, 1000 + at]).collect();
        for token in wrong {
            drafts.push(token);
        }
        for token in [1, 2, 3] {
            drafts.push(token);
        }
        assert_eq!(next(&drafts, 0.3, 60), [0; 0]);
        for at in 0..40 {
            drafts.push(at % 10);
        }
        assert!(!next(&drafts, 0.3, 60).is_empty());
    }

    #[test]
    fn heads_draft_as_long_as_they_are_right() {
        let mut costs = costs(0.15);
        costs.drafted(1, Duration::from_millis(400));
        let terms = DraftTerms {
            costs: &costs,
            writing: 1,
            most: 59,
            is_computed_again: false,
        };
        let mut drafts = Drafts::new(&[]);
        assert!(drafts.of_heads(terms) > 0);
        for _ in 0..30 {
            drafts.heads_were(0, 2);
        }
        assert_eq!(drafts.of_heads(terms), 0);
        let tried_again = (0..2000).position(|_| drafts.of_heads(terms) > 0);
        assert!(tried_again.is_some_and(|steps| steps > 20), "{tried_again:?}");
        assert_eq!(drafts.of_heads(DraftTerms { most: 0, ..terms }), 0);
    }

    #[test]
    fn beside_other_answers_and_with_recurrent_layers_drafts_are_shorter() {
        let drafts = after(0..200, 40..60);
        let costs = costs(0.15);
        let alone = DraftTerms {
            costs: &costs,
            writing: 1,
            most: 59,
            is_computed_again: false,
        };
        let length = |terms| drafts.next(terms).len();
        assert!(length(DraftTerms { writing: 8, ..alone }) < length(alone));
        let again = DraftTerms {
            is_computed_again: true,
            ..alone
        };
        assert!(length(again) < length(alone), "{} {}", length(again), length(alone));
    }
}
