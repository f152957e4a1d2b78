//! Functions and types that an issue may touch, over the whole tree or in one file.

use crate::bm25::IssueScores;
use crate::known_symbol::SymbolShape;
use crate::matching::path_match;
use crate::signals::best;
use crate::view::View;
use crate::words::Scorer;
use crate::{Index, IssueQuery, SearchError};
use magis_core::{Evidence, LineSpan, RepoPath};
use std::collections::HashMap;

/// A function or type of a file, and how well it matches the issue.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredSymbol {
    pub path: RepoPath,
    /// Its name with its owners, as `magis-syntax` has it.
    pub qualified_name: String,
    /// Its lines.
    pub span: LineSpan,
    /// How well it matches; comparable within one issue.
    pub score: f64,
    pub evidence: Vec<Evidence>,
}

impl ScoredSymbol {
    /// Takes in that its file is worth more than the ranking says, or less: in shares of what the ranking's best file has.
    pub fn file_is_worth_more(&mut self, share: f64) {
        self.score += weight::FILE * share;
    }
}

/// How much counts what, each being about 0..1. Chosen on 140 issues in Python, of two halves of which none might lose, and
/// on 40 in other languages: of the first ten one had a line of the change in 53.6 and 65.0 % of them before lines, title,
/// owner and spread counted, in 60.0 and 67.5 % then.
mod weight {
    /// BM25 of its text, the best of the tree being 1.
    pub const TEXT: f64 = 0.7;
    /// The same by the words of the title alone.
    pub const TITLE: f64 = 0.4;
    /// The issue names it.
    pub const NAMED: f64 = 0.7;
    /// The issue names the type it belongs to.
    pub const OWNER: f64 = 0.3;
    /// The words of its name stand in the issue.
    pub const WORDS: f64 = 0.5;
    /// A frame of a trace lies in it.
    pub const TRACED: f64 = 0.7;
    /// Its file, the best of the tree being 1.
    pub const FILE: f64 = 2.0;
    /// Its length on a logarithmic scale on which 100 lines are 1: the longer a function, the more of all changes it gets,
    /// while BM25 favours the short.
    pub const LINES: f64 = 1.0;
    /// Taken off for each symbol of the same file before it: the fault lies in one file of several.
    pub const SPREAD: f64 = 0.05;
}

/// The most lines of a type that can be read as one.
const SHORT_TYPE: u32 = 60;
/// The number of the best files in which symbols are looked for.
const FILES: usize = 50;

impl Index {
    /// Returns the `n` best functions and types of the whole tree, whose files have these scores.
    pub(crate) fn symbols(
        &self,
        query: &IssueQuery,
        scores: &IssueScores,
        files: &[f64],
        n: usize,
    ) -> Vec<ScoredSymbol> {
        let asking = SymbolScorer::of(&self.view, query, scores);
        let mut order: Vec<usize> = (0..files.len()).filter(|file| files[*file] > 0.0).collect();
        order.sort_by(|a, b| files[*b].total_cmp(&files[*a]));
        order.truncate(FILES);
        let first = order.first().map_or(1.0, |file| files[*file]);
        let mut symbols = Vec::new();
        for file in order {
            let share = files[file] / first;
            let mut of_file = asking.symbols(file);
            for symbol in &mut of_file {
                let lines = f64::from(symbol.span.lines() + 1).ln() / 100_f64.ln();
                symbol.score += weight::FILE * share + weight::LINES * lines;
            }
            let of_file = best_of(of_file, usize::MAX);
            for (before, mut symbol) in of_file.into_iter().enumerate() {
                symbol.score -= weight::SPREAD * before as f64;
                symbols.push(symbol);
            }
        }
        best_of(symbols, n)
    }

    /// For each of `paths` the `n` functions that match `query` best, best first; empty where the file or its outline is
    /// unknown.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn symbols_for(
        &self,
        query: &IssueQuery,
        paths: &[RepoPath],
        n: usize,
    ) -> Result<Vec<Vec<ScoredSymbol>>, SearchError> {
        let scores = self.text_scores(query)?;
        let asking = SymbolScorer::of(&self.view, query, &scores);
        let of = |path| {
            let file = self.view.find(path);
            file.map_or_else(Vec::new, |file| best_of(asking.symbols(file), n))
        };
        Ok(paths.iter().map(of).collect())
    }
}

/// What is asked of every symbol.
struct SymbolScorer<'a> {
    view: &'a View,
    query: &'a IssueQuery,
    scores: &'a IssueScores,
    mentioned: HashMap<&'a str, f64>,
    words: Scorer<'a>,
    /// The best chunk of the tree, by the text and by the title.
    best: (f64, f64),
}

impl<'a> SymbolScorer<'a> {
    fn of(view: &'a View, query: &'a IssueQuery, scores: &'a IssueScores) -> Self {
        let mentioned = query.identifiers.iter();
        let words = view.name_words().scorer(&query.terms);
        Self {
            view,
            query,
            scores,
            mentioned: mentioned.map(|name| (name.text.as_str(), name.weight)).collect(),
            words,
            best: (
                best(scores.text.chunks.iter().copied()),
                best(scores.title.chunks.iter().copied()),
            ),
        }
    }

    /// Returns the functions of a file and its short types, those that nothing speaks for as well.
    fn symbols(&self, file: usize) -> Vec<ScoredSymbol> {
        let known = &self.view.files[file];
        let frames = self.query.frames.iter();
        let lines: Vec<u32> = frames
            .filter(|frame| path_match(&frame.path, known.path.as_str()) >= 0.7)
            .filter_map(|frame| frame.line)
            .collect();
        let has_functions = |holder: &crate::known_symbol::KnownSymbol| {
            let mut functions = known
                .symbols()
                .iter()
                .filter(|symbol| symbol.shape == SymbolShape::Function);
            functions.any(|function| function.span.intersection(holder.span).is_some())
        };
        let symbols = known.symbols().iter().enumerate();
        let functions = symbols.filter(|(_, symbol)| match symbol.shape {
            SymbolShape::Function => true,
            // A long type, or one with functions, is a place to look for those, and no place to change.
            SymbolShape::Container => symbol.span.lines() <= SHORT_TYPE && !has_functions(symbol),
            SymbolShape::Constant => false,
        });
        let score = |(number, symbol): (usize, &crate::known_symbol::KnownSymbol)| {
            let (mut matched, mut titled) = (0.0_f64, 0.0_f64);
            for chunk in self.view.chunks_of(file) {
                let share = share(symbol.span, self.view.spans[chunk]);
                matched = matched.max(self.scores.text.chunks[chunk] / self.best.0 * share);
                titled = titled.max(self.scores.title.chunks[chunk] / self.best.1 * share);
            }
            let owned = symbol.owner().is_some_and(|owner| self.mentioned.contains_key(owner));
            let last_two = symbol.last_two();
            let named = [symbol.qualified.as_str(), &last_two, symbol.name()];
            let named = named.iter().filter_map(|name| self.mentioned.get(name));
            let named = named.copied().fold(0.0, f64::max).min(2.0) / 2.0;
            let words = self.words.score(self.view.name_words().of(known.content, number));
            let traced = lines.iter().any(|line| symbol.span.contains(*line));
            let mut why: Vec<(f64, Evidence)> = Vec::new();
            let terms = self.scores.text.terms(known.content, &self.query.terms);
            let parts = [
                (
                    weight::TEXT * matched + weight::TITLE * titled,
                    Evidence::Text {
                        terms: terms.into_iter().map(ToOwned::to_owned).collect(),
                    },
                ),
                (
                    weight::NAMED * named,
                    Evidence::DefinesName {
                        name: symbol.qualified.clone(),
                    },
                ),
                (
                    weight::WORDS * words,
                    Evidence::NameWords {
                        name: symbol.qualified.clone(),
                    },
                ),
                (
                    weight::OWNER * f64::from(u8::from(owned)),
                    Evidence::DefinesName {
                        name: symbol.owner().unwrap_or_default().to_owned(),
                    },
                ),
                (
                    weight::TRACED * f64::from(u8::from(traced)),
                    Evidence::TraceFrame { depth: 0 },
                ),
            ];
            why.extend(parts.into_iter().filter(|(strength, _)| *strength > 0.0));
            why.sort_by(|a, b| b.0.total_cmp(&a.0));
            ScoredSymbol {
                path: known.path.clone(),
                qualified_name: symbol.qualified.clone(),
                span: symbol.span,
                score: why.iter().map(|(strength, _)| strength).sum(),
                evidence: why.into_iter().map(|(_, why)| why).collect(),
            }
        };
        functions.map(score).collect()
    }
}

fn best_of(mut symbols: Vec<ScoredSymbol>, n: usize) -> Vec<ScoredSymbol> {
    symbols.sort_by(|a, b| {
        let place = |symbol: &ScoredSymbol| (symbol.path.clone(), symbol.span);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
    symbols.truncate(n);
    symbols
}

/// Returns how much of the smaller of two intervals they share, so that a chunk of a long function counts whole.
fn share(symbol: LineSpan, chunk: LineSpan) -> f64 {
    let common = symbol.intersection(chunk).map_or(0, LineSpan::lines);
    f64::from(common) / f64::from(symbol.lines().min(chunk.lines()))
}
