//! The sum of the signals: which files an issue may touch, and why.
//!
//! Each signal gives 0..1 and is weighted; what a signal compares lies in `signals`. No model is asked here.

use crate::bm25::{self, IssueScores};
use crate::metadata::Depth;
use crate::signal::Pass;
use crate::signals::commits::ChangeHistory;
use crate::signals::{Found, Propagated, SignalInput};
use crate::{CommitHistory, Index, IssueQuery, OpenState, ScoredSymbol, SearchError, Signal, Signals};
use magis_core::text::count;
use magis_core::{Candidate, Evidence};

/// The files that may be meant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Strongest first; ties stand in the order of their paths.
    pub candidates: Vec<Candidate>,
    /// How many files were looked at.
    pub considered: usize,
    /// What was left out and why, in sentences for a person.
    pub notes: Vec<String>,
}

/// What a ranking listens to beside the text of the tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sources<'a> {
    /// The signals that are enabled.
    pub signals: Signals,
    /// The commits before the tree, where they are known.
    pub history: Option<&'a CommitHistory>,
}

/// Every file's score, and why.
pub(crate) struct Scored<'a> {
    pub scores: Vec<f64>,
    found: Vec<(Signal, Found<'a>)>,
    propagated: Vec<(Signal, Propagated)>,
}

impl Index {
    /// Returns the `k` files that `query` most likely means, strongest first.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn rank_by(&self, query: &IssueQuery, sources: Sources<'_>, k: usize) -> Result<Ranking, SearchError> {
        Ok(self.locate(query, sources, k, 0)?.0)
    }

    /// As [`Index::rank_by`], and the `n` functions and types of the whole tree that `query` most likely means, best first:
    /// both by one reading of the signals.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn locate(
        &self,
        query: &IssueQuery,
        sources: Sources<'_>,
        k: usize,
        n: usize,
    ) -> Result<(Ranking, Vec<ScoredSymbol>), SearchError> {
        let scores = self.text_scores(query)?;
        let scored = self.scored(query, &scores, sources)?;
        let symbols = if n > 0 {
            self.symbols(query, &scores, &scored.scores, n)
        } else {
            Vec::new()
        };
        Ok((self.ranking(query, &scored, k), symbols))
    }

    fn ranking(&self, query: &IssueQuery, scored: &Scored<'_>, k: usize) -> Ranking {
        let files = &self.view.files;
        let mut order: Vec<usize> = (0..files.len()).filter(|file| scored.scores[*file] > 0.0).collect();
        // Files stand in the order of their paths, and the sort is stable.
        order.sort_by(|a, b| scored.scores[*b].total_cmp(&scored.scores[*a]));
        order.truncate(k);
        let candidate = |file: usize| Candidate {
            path: files[file].path.clone(),
            blob: files[file].blob().clone(),
            score: scored.scores[file],
            evidence: self.evidence(scored, file),
        };
        let mut notes = query.notes.clone();
        if let OpenState::Rebuilt { why } = self.state() {
            notes.push(format!("The search index was built anew: {why}"));
        }
        let shallow = files.iter().filter(|file| file.metadata.depth == Depth::Text).count();
        if shallow > 0 {
            notes.push(format!(
                "Of {shallow} of {} only the words are indexed yet; symbols and imports follow",
                count(files.len(), "file")
            ));
        }
        Ranking {
            candidates: order.into_iter().map(candidate).collect(),
            considered: files.len(),
            notes,
        }
    }

    /// Computes BM25 of every file and chunk against the text and the title of the issue.
    pub(crate) fn text_scores(&self, query: &IssueQuery) -> Result<IssueScores, SearchError> {
        let view = &self.view;
        let score = |terms| bm25::score(&view.searcher, self.store.body(), &view.collection, terms);
        Ok(IssueScores {
            text: score(&query.terms)?,
            title: score(&query.title)?,
        })
    }

    /// Adds the signals up.
    pub(crate) fn scored<'a>(
        &'a self,
        query: &'a IssueQuery,
        scores: &'a IssueScores,
        sources: Sources<'a>,
    ) -> Result<Scored<'a>, SearchError> {
        let reading = SignalInput {
            index: self,
            view: &self.view,
            query,
            text: &scores.text,
            title: &scores.title,
        };
        let files = &self.view.files;
        let past = sources.history.filter(|history| !history.is_empty());
        let past = past.map(|history| ChangeHistory::of(&self.view, history));
        let enabled = || Signal::ALL.into_iter().filter(|signal| sources.signals.has(*signal));
        let mut found = Vec::new();
        for signal in enabled() {
            if let Pass::Strength(of) = signal.pass()
                && let Some(strengths) = of(&reading, past.as_ref())?
            {
                found.push((signal, strengths));
            }
        }
        let factor = |file: usize| {
            let factors = enabled().filter_map(|signal| match signal.pass() {
                Pass::Factor(of) => Some(of(&files[file])),
                Pass::Strength(_) | Pass::Propagation { .. } => None,
            });
            factors.product::<f64>()
        };
        let sum = |file: usize| {
            let each = found
                .iter()
                .map(|(signal, found)| signal.weight() * found.strengths[file]);
            each.sum::<f64>() * factor(file)
        };
        let own: Vec<f64> = (0..files.len()).map(sum).collect();
        let mut scores = own.clone();
        let mut propagated = Vec::new();
        for signal in enabled() {
            let Pass::Propagation { shares, .. } = signal.pass() else {
                continue;
            };
            let Some(shares) = shares(&reading, past.as_ref(), &own) else {
                continue;
            };
            for (file, (share, _)) in &shares {
                scores[*file] += share * signal.weight() * factor(*file);
            }
            propagated.push((signal, shares));
        }
        Ok(Scored {
            scores,
            found,
            propagated,
        })
    }

    /// Returns why a file has its score, the strongest reason first.
    fn evidence(&self, scored: &Scored<'_>, file: usize) -> Vec<Evidence> {
        let mut found: Vec<(f64, Evidence)> = Vec::new();
        for (signal, of_signal) in &scored.found {
            let strength = signal.weight() * of_signal.strengths[file];
            if strength > 0.0 {
                found.extend((of_signal.why)(file).into_iter().map(|why| (strength, why)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut evidence: Vec<Evidence> = Vec::new();
        for (_, why) in found {
            if !evidence.contains(&why) {
                evidence.push(why);
            }
        }
        for (signal, shares) in &scored.propagated {
            let Some((_, source)) = shares.get(&file) else { continue };
            let of = self.view.files[*source].path.clone();
            if let Pass::Propagation { evidence: why, .. } = signal.pass() {
                evidence.push(why(of));
            }
        }
        if let Some(why) = self.view.files[file].kind.reason() {
            evidence.push(Evidence::Demoted { why: why.to_owned() });
        }
        evidence
    }
}
