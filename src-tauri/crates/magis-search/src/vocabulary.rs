//! Text counted as search terms, fast: each word is taken apart once, however often it stands in the texts.
//!
//! What the terms of a word are is decided in `tokens`; this only remembers it.

use crate::tokens;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The words seen so far and their terms. One a thread; it grows with the words of a repository, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    words: Numbers,
    /// By word: where its terms end in `of_words`; they begin where those of the word before end.
    ends: Vec<u32>,
    of_words: Vec<u32>,
    terms: Numbers,
    spelled: Vec<Box<str>>,
    said: Tally,
    present: Tally,
}

type Numbers = HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>;

/// How often each of some numbered things stands in the text that is read.
#[derive(Debug, Default)]
struct Tally {
    counts: Vec<u32>,
    /// Those that do, in the order they came.
    present: Vec<u32>,
}

impl Tally {
    fn add(&mut self, number: u32, times: u32) {
        let count = &mut self.counts[number as usize];
        if *count == 0 {
            self.present.push(number);
        }
        *count += times;
    }
}

/// The terms of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Each as often as it stands there, equal ones together, with [`BETWEEN`] behind each.
    pub terms: String,
    /// How many there are.
    pub length: u64,
}

/// Separates the terms of [`Counted`]; in no term.
pub(crate) const BETWEEN: char = ' ';
/// The most words that are remembered; then it begins anew.
const MOST_WORDS: usize = 1 << 19;

impl Vocabulary {
    /// Returns the terms of `text`. One that stands there more often than `most` is given so many times and counts in
    /// full for the length.
    pub fn count(&mut self, text: &str, most: u32) -> Counted {
        if self.words.len() > MOST_WORDS {
            *self = Self::default();
        }
        for word in words(text) {
            let number = match self.words.get(word) {
                Some(known) => *known,
                None => self.learn(word),
            };
            self.said.add(number, 1);
        }
        let mut length = 0;
        for word in self.said.present.drain(..) {
            let times = std::mem::take(&mut self.said.counts[word as usize]);
            let first = word.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
            let terms = &self.of_words[first as usize..self.ends[word as usize] as usize];
            for term in terms {
                self.present.add(*term, times);
            }
            length += u64::from(times) * terms.len() as u64;
        }
        let mut terms = String::with_capacity(self.present.present.len() * 12);
        for term in self.present.present.drain(..) {
            let times = std::mem::take(&mut self.present.counts[term as usize]);
            for _ in 0..times.min(most) {
                terms.push_str(&self.spelled[term as usize]);
                terms.push(BETWEEN);
            }
        }
        Counted { terms, length }
    }

    fn learn(&mut self, word: &str) -> u32 {
        for term in tokens::terms(word) {
            let next = self.spelled.len() as u32;
            let number = *self.terms.entry(term.into_boxed_str()).or_insert_with_key(|term| {
                self.spelled.push(term.clone());
                self.present.counts.push(0);
                next
            });
            self.of_words.push(number);
        }
        self.ends.push(self.of_words.len() as u32);
        self.said.counts.push(0);
        let number = self.words.len() as u32;
        self.words.insert(word.into(), number);
        number
    }
}

/// Returns the runs of letters, digits and `_`, and of all that is not ASCII: what `tokens` splits in the same way or
/// further.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.as_bytes().split(|byte| !IN_WORD[*byte as usize]);
    let mut at = 0;
    runs.filter_map(move |run| {
        let first = at;
        at += run.len() + 1;
        // A single letter is no term; a run ends before an ASCII character, so it is whole.
        (run.len() > 1).then(|| text.get(first..first + run.len())).flatten()
    })
}

const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 128 || (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

/// Multiplies and rotates, eight bytes at a time, as rustc's own tables do. Words come from the repository that is read, and
/// the number of words is bounded, so colliding ones made on purpose cost time and nothing else.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(eight));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(eight) ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

impl WordHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let mut expected = tokens::terms(text);
        let length = expected.len() as u64;
        expected.sort();
        let mut vocabulary = Vocabulary::default();
        for time in ["first", "second"] {
            let counted = vocabulary.count(text, u32::MAX);
            let mut found: Vec<&str> = counted.terms.split_terminator(BETWEEN).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "the {time} time");
            assert_eq!(counted.length, length);
        }
    }

    #[test]
    fn a_text_is_counted_as_its_terms_are() {
        check("def get_user_name(self): return self.name  # the user's name");
        check("x = parseHTTPHeader(1, 404) — Größe, naïve café\u{a0}user, 索引損壊 and a\u{2019}b");
        check("");
    }

    #[test]
    fn a_term_repeated_without_end_is_given_a_few_times() {
        let counted = Vocabulary::default().count(&"walrus ".repeat(100), 3);
        assert_eq!((counted.terms.as_str(), counted.length), ("walrus walrus walrus ", 100));
    }
}
