//! The past of the repository as plain data: what each commit said and what it changed. Reading git is the caller's.

use crate::tokens;
use magis_core::PastCommit;
use std::collections::HashMap;

/// The commits before a tree, newest first, with their messages as search terms.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub(crate) commits: Vec<PastCommit>,
    /// By term: the commits that say it and how often, in their order.
    terms: HashMap<String, Vec<(u32, u32)>>,
    lengths: Vec<u32>,
    average: f64,
}

/// Of a message so much is read: a merge can carry a whole discussion.
const MESSAGE_CHARACTERS: usize = 2_000;

impl History {
    /// The history of `commits`, newest first.
    pub fn of(commits: impl IntoIterator<Item = PastCommit>) -> Self {
        let mut history = Self {
            commits: commits.into_iter().collect(),
            ..Self::default()
        };
        for (number, commit) in (0..).zip(&history.commits) {
            let end = commit.message.floor_char_boundary(MESSAGE_CHARACTERS);
            let said = tokens::terms(&commit.message[..end]);
            history.lengths.push(said.len() as u32);
            for term in said {
                let entries = history.terms.entry(term).or_default();
                match entries.last_mut() {
                    Some((last, count)) if *last == number => *count += 1,
                    _ => entries.push((number, 1)),
                }
            }
        }
        let words: f64 = history.lengths.iter().map(|length| f64::from(*length)).sum();
        history.average = (words / history.lengths.len().max(1) as f64).max(1.0);
        history
    }

    /// How many commits it has.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// The commits whose messages resemble the terms by BM25, with their scores, best first.
    pub(crate) fn resembling(&self, terms: &[crate::Term], most: usize) -> Vec<(usize, f64)> {
        let mut scores = vec![0.0; self.commits.len()];
        for term in terms {
            let Some(entries) = self.terms.get(&term.text) else { continue };
            let having = entries.len() as f64;
            let rarity = (1.0 + (self.commits.len() as f64 - having + 0.5) / (having + 0.5)).ln();
            for (commit, count) in entries {
                let (count, length) = (f64::from(*count), f64::from(self.lengths[*commit as usize]));
                scores[*commit as usize] +=
                    term.weight * rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / self.average));
            }
        }
        let mut order: Vec<(usize, f64)> = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(most);
        order
    }
}
