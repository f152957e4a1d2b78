//! The past of the repository as plain data: what each commit said and what it changed. Reading git is the caller's.

use crate::{IssueQuery, idf, tokens};
use magis_core::PastCommit;
use std::collections::HashMap;

/// The commits before a tree, newest first, with their messages as search terms.
#[derive(Debug, Clone, Default)]
pub struct CommitHistory {
    pub(crate) commits: Vec<PastCommit>,
    /// By term: the commits that say it and how often, in their order.
    terms: HashMap<String, Vec<(u32, u32)>>,
    /// By commit: the inverse document frequencies of its words, added up.
    whole: Vec<f64>,
}

/// Of a message so much is read: a merge can carry a whole discussion.
const MESSAGE_CHARACTERS: usize = 2_000;

/// A message whose words together are no rarer than this says nothing certain: some three words.
const LEAST_SAID: f64 = 2.0;
/// Of a long message so much is enough: some eight rare words.
const MOST_SAID: f64 = 6.0;

impl CommitHistory {
    /// Returns the history of `commits`, newest first.
    pub fn of(commits: impl IntoIterator<Item = PastCommit>) -> Self {
        let mut history = Self {
            commits: commits.into_iter().collect(),
            ..Self::default()
        };
        for (number, commit) in (0..).zip(&history.commits) {
            let end = commit.message.floor_char_boundary(MESSAGE_CHARACTERS);
            let said = tokens::terms(&commit.message[..end]);
            for term in said {
                let entries = history.terms.entry(term).or_default();
                match entries.last_mut() {
                    Some((last, count)) if *last == number => *count += 1,
                    _ => entries.push((number, 1)),
                }
            }
        }
        history.whole = vec![0.0; history.commits.len()];
        let mut terms: Vec<&String> = history.terms.keys().collect();
        terms.sort_unstable();
        for entries in terms.into_iter().map(|term| &history.terms[term]) {
            let idf = history.idf(entries.len());
            for (commit, _) in entries {
                history.whole[*commit as usize] += idf;
            }
        }
        history
    }

    /// Returns how many commits it has.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the commits whose messages resemble an issue, with how far, 0..1, the most alike first.
    pub fn alike(&self, query: &IssueQuery, most: usize) -> Vec<(&PastCommit, f64)> {
        let found = self.resembling(&query.terms, most).into_iter();
        found
            .map(|(commit, likeness)| (&self.commits[commit], likeness))
            .collect()
    }

    /// Returns the commits whose messages resemble the terms, with how far, 0..1, the most alike first: the share of
    /// what a message says, by the inverse document frequency of its words, that the terms say too. It is an absolute
    /// measure: where no commit resembles the issue, none is given much.
    pub(crate) fn resembling(&self, terms: &[crate::Term], most: usize) -> Vec<(usize, f64)> {
        let mut said = vec![0.0; self.commits.len()];
        for term in terms {
            let Some(entries) = self.terms.get(&term.text) else {
                continue;
            };
            let idf = self.idf(entries.len());
            for (commit, _) in entries {
                said[*commit as usize] += idf * term.weight.min(1.0);
            }
        }
        let likeness = |(commit, said): (usize, f64)| {
            // A message of one word is said by chance; a long one says enough by a part.
            let whole = self.whole[commit].clamp(LEAST_SAID, MOST_SAID);
            (commit, (said / whole).min(1.0))
        };
        let said = said.into_iter().enumerate().filter(|(_, said)| *said > 0.0);
        let mut order: Vec<(usize, f64)> = said.map(likeness).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(most);
        order
    }

    /// Returns the inverse document frequency of a word that so many messages have.
    fn idf(&self, having: usize) -> f64 {
        idf::idf(self.commits.len(), having)
    }
}
