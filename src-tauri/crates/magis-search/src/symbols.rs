//! Functions and types that an issue may touch, over the whole tree or in one file.

use crate::bm25::TextScores;
use crate::facts::Shape;
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
    /// Its file.
    pub path: RepoPath,
    /// Its name with its owners, as `magis-syntax` has it.
    pub qualified_name: String,
    /// Its lines.
    pub span: LineSpan,
    /// How well it matches; comparable within one issue.
    pub score: f64,
    /// Why, strongest first.
    pub evidence: Vec<Evidence>,
}

/// How much counts what, each being 0..1. Set by hand.
mod weight {
    /// BM25 of its text, the best of the tree being 1.
    pub const TEXT: f64 = 1.0;
    /// The issue names it.
    pub const NAMED: f64 = 0.7;
    /// The words of its name stand in the issue.
    pub const WORDS: f64 = 0.5;
    /// A frame of a trace lies in it.
    pub const TRACED: f64 = 0.7;
    /// Its file, the best of the tree being 1.
    pub const FILE: f64 = 2.0;
}

/// A type of so many lines can be read as one.
const SHORT_TYPE: u32 = 60;
/// Symbols are looked for in so many of the best files.
const FILES: usize = 50;

impl Index {
    /// The `n` best functions and types of the whole tree, whose files have these scores.
    pub(crate) fn symbols(&self, query: &IssueQuery, text: &TextScores, files: &[f64], n: usize) -> Vec<ScoredSymbol> {
        let asking = Asking::of(&self.view, query, text);
        let mut order: Vec<usize> = (0..files.len()).filter(|file| files[*file] > 0.0).collect();
        order.sort_by(|a, b| files[*b].total_cmp(&files[*a]));
        order.truncate(FILES);
        let first = order.first().map_or(1.0, |file| files[*file]);
        let mut symbols = Vec::new();
        for file in order {
            let share = files[file] / first;
            for mut symbol in asking.symbols(file) {
                symbol.score += weight::FILE * share;
                symbols.push(symbol);
            }
        }
        best_of(symbols, n)
    }

    /// For each of `paths` the `n` functions that match `query` best, best first; empty where the file or its outline is
    /// unknown.
    pub fn symbols_for(
        &self,
        query: &IssueQuery,
        paths: &[RepoPath],
        n: usize,
    ) -> Result<Vec<Vec<ScoredSymbol>>, SearchError> {
        let text = self.text_scores(query)?;
        let asking = Asking::of(&self.view, query, &text);
        let of = |path| {
            let file = self.view.find(path);
            file.map_or_else(Vec::new, |file| best_of(asking.symbols(file), n))
        };
        Ok(paths.iter().map(of).collect())
    }
}

/// What is asked of every symbol.
struct Asking<'a> {
    view: &'a View,
    query: &'a IssueQuery,
    text: &'a TextScores,
    mentioned: HashMap<&'a str, f64>,
    words: Scorer<'a>,
    best_piece: f64,
}

impl<'a> Asking<'a> {
    fn of(view: &'a View, query: &'a IssueQuery, text: &'a TextScores) -> Self {
        let mentioned = query.identifiers.iter();
        let words = view.name_words().scorer(&query.terms);
        Self {
            view,
            query,
            text,
            mentioned: mentioned.map(|name| (name.text.as_str(), name.weight)).collect(),
            words,
            best_piece: best(text.pieces.iter().copied()),
        }
    }

    /// The functions of a file and its short types, those that nothing speaks for as well.
    fn symbols(&self, file: usize) -> Vec<ScoredSymbol> {
        let known = &self.view.files[file];
        let frames = self.query.frames.iter();
        let lines: Vec<u32> = frames
            .filter(|frame| path_match(&frame.path, known.path.as_str()) >= 0.7)
            .filter_map(|frame| frame.line)
            .collect();
        let has_functions = |holder: &crate::facts::KnownSymbol| {
            let mut functions = known.symbols().iter().filter(|symbol| symbol.shape == Shape::Function);
            functions.any(|function| function.span.intersection(holder.span).is_some())
        };
        let symbols = known.symbols().iter().enumerate();
        let functions = symbols.filter(|(_, symbol)| match symbol.shape {
            Shape::Function => true,
            // A long type, or one with functions, is a place to look for those, and no place to change.
            Shape::Container => symbol.span.lines() <= SHORT_TYPE && !has_functions(symbol),
            Shape::Constant => false,
        });
        let score = |(number, symbol): (usize, &crate::facts::KnownSymbol)| {
            let pieces = self.view.pieces_of(file);
            let pieces = pieces.filter(|piece| symbol.span.intersection(self.view.spans[*piece]).is_some());
            let matched = pieces
                .map(|piece| self.text.pieces[piece] * share(symbol.span, self.view.spans[piece]))
                .fold(0.0, f64::max)
                / self.best_piece;
            let last_two = symbol.last_two();
            let named = [symbol.qualified.as_str(), &last_two, symbol.name()];
            let named = named.iter().filter_map(|name| self.mentioned.get(name));
            let named = named.copied().fold(0.0, f64::max).min(2.0) / 2.0;
            let words = self.words.score(self.view.name_words().of(known.content, number));
            let traced = if lines.iter().any(|line| symbol.span.contains(*line)) {
                1.0
            } else {
                0.0
            };
            let mut why: Vec<(f64, Evidence)> = Vec::new();
            let terms = self.text.terms(known.content, &self.query.terms);
            let parts = [
                (
                    weight::TEXT * matched,
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
                (weight::TRACED * traced, Evidence::TraceFrame { depth: 0 }),
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

/// How much of the smaller of two intervals they share, so that a piece of a long function counts whole.
fn share(symbol: LineSpan, piece: LineSpan) -> f64 {
    let common = symbol.intersection(piece).map_or(0, LineSpan::lines);
    f64::from(common) / f64::from(symbol.lines().min(piece.lines()))
}
