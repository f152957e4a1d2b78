//! Notices when a model says the same again and again: small models do it first of all.
//!
//! A repetition is a stretch of tokens that follows itself exactly. Counting up, or the same line with another name in
//! it, is none; `max_tokens` ends those.

use super::native::Token;

/// The longest stretch that is looked for, in tokens.
const LONGEST: usize = 256;
/// The number of tokens from which a repetition counts, so that a rule of dashes or a table of zeros passes.
const TOKENS: usize = 120;
/// The least number of times that a stretch has to come.
const TIMES: usize = 5;

/// Follows the tokens of one answer.
#[derive(Debug)]
pub struct LoopDetector {
    tokens: Vec<Token>,
    // For each period, how many tokens at the end equal the one a period before.
    runs: Vec<usize>,
}

impl LoopDetector {
    /// For a new answer.
    pub fn new() -> Self {
        Self {
            tokens: Vec::new(),
            runs: vec![0; LONGEST + 1],
        }
    }

    /// Takes the next token; true when the end has become a repetition.
    pub fn push(&mut self, token: Token) -> bool {
        let length = self.tokens.len();
        self.tokens.push(token);
        for period in 1..=LONGEST.min(length) {
            if self.tokens[length - period] == token {
                self.runs[period] += 1;
                if self.runs[period] + period >= TOKENS.max(TIMES * period) {
                    return true;
                }
            } else {
                self.runs[period] = 0;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tokens: impl IntoIterator<Item = Token>, noticed_at: Option<usize>) {
        let mut detector = LoopDetector::new();
        let position = tokens.into_iter().position(|token| detector.push(token));
        assert_eq!(position.map(|position| position + 1), noticed_at);
    }

    #[test]
    fn a_stretch_that_follows_itself_is_noticed() {
        check(std::iter::repeat_n(7, 1000), Some(TOKENS));
        check([1, 2, 3].into_iter().chain((0..30).cycle().take(1000)), Some(3 + 150));
        check((0..200).cycle().take(5000), Some(200 * TIMES));
    }

    #[test]
    fn short_repetitions_and_counting_up_pass() {
        check(std::iter::repeat_n(7, TOKENS - 1), None);
        check((0..100).flat_map(|number| [1, 2, 3, 1000 + number, 4]), None);
        check((0..200).cycle().take(200 * TIMES - 1), None);
    }
}
