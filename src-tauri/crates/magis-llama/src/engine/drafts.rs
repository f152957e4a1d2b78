//! Drafts of what an answer may go on with, copied from what was read or written before: an edit repeats most of the text
//! that it edits. A draft is computed together with the token that is certain, and what the model would have written
//! otherwise ends it, so that the answer is the same as without.
//!
//! A draft that is right costs less than its tokens one by one, a wrong one is lost time. So drafts grow while they are
//! right, and after a wrong one there is a pause, longer each time. Nothing is computed here.

use super::native::Token;
use std::collections::HashMap;

/// Tokens that have to be alike before a draft goes on as the text did there.
const ALIKE: usize = 4;
/// The places of one such run that are looked at, the last ones.
const PLACES: usize = 8;
/// Tokens up to which it matters how much more is alike.
const LOOK_BACK: usize = 32;
/// Tokens of drafts: with the certain token before them a multiple of 4, for the matrix kernels.
const LENGTHS: [usize; 4] = [3, 7, 15, 31];
/// Tokens without a draft after a wrong one: at first, and at the most.
const SHORTEST_PAUSE: usize = 4;
const LONGEST_PAUSE: usize = 256;

/// The drafts of one answer.
#[derive(Debug)]
pub struct Drafts {
    read: Vec<Token>,
    // Where each run of tokens ends.
    ends: HashMap<[Token; ALIKE], Vec<usize>>,
    // Which of the lengths the next draft has.
    length: usize,
    // Tokens until the next draft.
    pause: usize,
    next_pause: usize,
}

impl Drafts {
    /// Creates the drafts of the answer to a prompt.
    pub fn new(prompt: &[Token]) -> Self {
        let mut drafts = Self {
            read: Vec::with_capacity(prompt.len()),
            ends: HashMap::new(),
            length: 0,
            pause: 0,
            next_pause: SHORTEST_PAUSE,
        };
        for token in prompt {
            drafts.read(*token);
        }
        drafts
    }

    /// Takes a token of the answer.
    pub fn push(&mut self, token: Token) {
        self.read(token);
        self.pause = self.pause.saturating_sub(1);
    }

    /// Returns what may come next, `most` tokens at the most; nothing where it does not pay.
    pub fn next(&self, most: usize) -> &[Token] {
        if self.pause > 0 {
            return &[];
        }
        let Some(from) = self.best_place() else { return &[] };
        let length = LENGTHS[self.length].min(most).min(self.read.len() - from);
        if length < LENGTHS[0] {
            return &[];
        }
        &self.read[from..from + length]
    }

    /// Takes note of how many tokens of a draft were right.
    pub fn verified(&mut self, drafted: usize, right: usize) {
        if right == drafted {
            self.length = (self.length + 1).min(LENGTHS.len() - 1);
            self.next_pause = SHORTEST_PAUSE;
        } else if right * 2 >= drafted {
            self.length = self.length.saturating_sub(1);
        } else {
            self.length = 0;
            self.pause = self.next_pause;
            self.next_pause = (self.next_pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn read(&mut self, token: Token) {
        self.read.push(token);
        if let Some(run) = self.read.last_chunk::<ALIKE>() {
            let ends = self.ends.entry(*run).or_default();
            if ends.len() == PLACES {
                ends.remove(0);
            }
            ends.push(self.read.len());
        }
    }

    /// Returns where the text goes on that is most like the end of what was read; of equals the last one.
    fn best_place(&self) -> Option<usize> {
        let run = self.read.last_chunk::<ALIKE>()?;
        let alike = |end: usize| {
            let before = self.read[..end].iter().rev();
            let pairs = before.zip(self.read.iter().rev()).take(LOOK_BACK);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let ends = self.ends.get(run)?.iter().copied();
        ends.filter(|end| *end < self.read.len()).max_by_key(|end| alike(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(prompt: impl IntoIterator<Item = Token>, answer: impl IntoIterator<Item = Token>) -> Drafts {
        let mut drafts = Drafts::new(&prompt.into_iter().collect::<Vec<_>>());
        for token in answer {
            drafts.push(token);
        }
        drafts
    }

    #[test]
    fn a_draft_goes_on_as_the_text_did_before() {
        let drafts = after(0..100, 40..46);
        assert_eq!(drafts.next(60), [46, 47, 48]);
        assert_eq!(drafts.next(2), [0; 0], "too short to pay");
        assert_eq!(
            after(0..100, [1, 2, 3]).next(60),
            [0; 0],
            "three tokens alike may be chance"
        );
        assert_eq!(after([], []).next(60), [0; 0]);
    }

    #[test]
    fn the_place_that_is_most_alike_is_taken() {
        let places = [7, 1, 2, 3, 4, 50, 51, 52, 8, 1, 2, 3, 4, 60, 61, 62];
        assert_eq!(after(places, [7, 1, 2, 3, 4]).next(60), [50, 51, 52]);
        assert_eq!(after(places, [8, 1, 2, 3, 4]).next(60), [60, 61, 62]);
        assert_eq!(
            after(places, [9, 1, 2, 3, 4]).next(60),
            [60, 61, 62],
            "of equals the last"
        );
    }

    #[test]
    fn drafts_grow_while_they_are_right() {
        let mut drafts = after(0..200, 40..46);
        let mut at = 46;
        let mut lengths = Vec::new();
        for _ in 0..5 {
            let draft = drafts.next(60).to_vec();
            assert_eq!(draft[0], at);
            lengths.push(draft.len());
            drafts.verified(draft.len(), draft.len());
            for token in &draft {
                drafts.push(*token);
            }
            at += draft.len() as Token;
        }
        assert_eq!(lengths, [3, 7, 15, 31, 31]);
    }

    #[test]
    fn after_wrong_drafts_there_are_pauses_that_grow() {
        let mut drafts = after((0..1000).map(|at| at % 10), []);
        let mut tried = Vec::new();
        for at in 0..200 {
            if !drafts.next(60).is_empty() {
                tried.push(at);
                drafts.verified(3, 0);
            }
            drafts.push(at % 10);
        }
        assert_eq!(tried, [0, 4, 12, 28, 60, 124]);
    }
}
