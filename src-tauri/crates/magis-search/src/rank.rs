//! The sum of the signals: which files an issue may touch, and why.
//!
//! Each signal is brought to 0..1 and weighted; what a signal compares lies in `bm25`, `matching`, `kind` and
//! `neighbours`. No model is asked here.

use crate::bm25::{self, TextScores};
use crate::facts::{Origin, Shape};
use crate::issue::{Mention, Term};
use crate::kind::Kind;
use crate::matching::{module_match, path_match};
use crate::neighbours::Neighbours;
use crate::{Index, IssueQuery, OpenState, SearchError, tokens};
use magis_core::{Candidate, Evidence, LineSpan, RepoPath};
use std::collections::{BTreeMap, HashMap, HashSet};

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

/// A function or type of a file, and how well it matches the issue.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredSymbol {
    /// Its name with its owners, as `magis-syntax` has it.
    pub qualified_name: String,
    /// Its lines.
    pub span: LineSpan,
    /// How well it matches; comparable within one issue.
    pub score: f64,
}

/// How much a signal counts, each being 0..1. Chosen by hand; fitted weights were not better on other repositories.
mod weight {
    /// BM25 over the text of the file.
    pub const TEXT: f64 = 1.0;
    /// BM25 of its best function-sized piece.
    pub const PIECE: f64 = 0.7;
    /// Words of the path.
    pub const PATH_WORDS: f64 = 0.4;
    /// Names it defines.
    pub const NAMES: f64 = 0.6;
    /// Its path, quoted.
    pub const QUOTED: f64 = 0.8;
    /// Its module, dotted.
    pub const MODULES: f64 = 0.4;
    /// Frames of a trace.
    pub const TRACE: f64 = 0.6;
    /// An import away from one of the best files, as a share of that file's score.
    pub const NEIGHBOUR: f64 = 0.12;
}

/// So many of the best files lend their neighbours weight.
const LENDERS: usize = 5;
/// A frame counts this much less than the one inside it.
const OUTER_FRAME: f64 = 0.6;

impl Index {
    /// The `k` files that `query` most likely means, strongest first.
    pub fn rank(&self, query: &IssueQuery, k: usize) -> Result<Ranking, SearchError> {
        let contents = &self.contents;
        let text = bm25::score(
            &contents.searcher,
            self.store.body(),
            &contents.collection,
            &query.terms,
        )?;
        let signals = self.signals(query, &text);
        let mut scores: Vec<f64> = signals.iter().map(Signals::sum).collect();
        let lent = self.lend(&mut scores);
        let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
        // Files stand in the order of their paths, and the sort is stable.
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order.truncate(k);
        let candidate = |file: usize| Candidate {
            path: contents.files[file].facts.path.clone(),
            blob: contents.files[file].facts.blob.clone(),
            score: scores[file],
            evidence: self.evidence(&signals[file], text.terms(file, &query.terms), lent.get(&file).copied()),
        };
        let mut notes = query.notes.clone();
        if let OpenState::Rebuilt { why } = self.state() {
            notes.push(format!("The search index was built anew: {why}"));
        }
        Ok(Ranking {
            candidates: order.into_iter().map(candidate).collect(),
            considered: contents.files.len(),
            notes,
        })
    }

    /// The `n` functions of `path` that match `query` best, best first; empty where the file or its outline is unknown.
    pub fn symbols_for(&self, query: &IssueQuery, path: &RepoPath, n: usize) -> Result<Vec<ScoredSymbol>, SearchError> {
        let contents = &self.contents;
        let Some(file) = contents.find(path) else {
            return Ok(Vec::new());
        };
        let text = bm25::score(
            &contents.searcher,
            self.store.body(),
            &contents.collection,
            &query.terms,
        )?;
        let best = contents.pieces[file]
            .clone()
            .map(|piece| text.pieces[piece])
            .fold(0.0, f64::max)
            .max(1e-9);
        let mentioned: HashMap<&str, f64> = query
            .identifiers
            .iter()
            .map(|name| (name.text.as_str(), name.weight))
            .collect();
        let lines = query
            .frames
            .iter()
            .filter(|frame| path_match(&frame.path, path.as_str()) >= 0.7);
        let lines: Vec<u32> = lines.filter_map(|frame| frame.line).collect();
        let mut scored: Vec<ScoredSymbol> = Vec::new();
        for symbol in contents.files[file]
            .facts
            .symbols
            .iter()
            .filter(|symbol| symbol.shape == Shape::Function)
        {
            let pieces = contents.pieces[file]
                .clone()
                .filter(|piece| symbol.span.intersection(contents.spans[*piece]).is_some());
            let matched = pieces
                .map(|piece| text.pieces[piece] * share(symbol.span, contents.spans[piece]))
                .fold(0.0, f64::max);
            let named = mentioned
                .get(symbol.qualified.as_str())
                .into_iter()
                .chain(mentioned.get(symbol.name()));
            let named = named.copied().fold(0.0, f64::max).min(2.0) / 2.0;
            let traced = if lines.iter().any(|line| symbol.span.contains(*line)) {
                1.0
            } else {
                0.0
            };
            scored.push(ScoredSymbol {
                qualified_name: symbol.qualified.clone(),
                span: symbol.span,
                score: matched / best + 0.7 * named + 0.7 * traced,
            });
        }
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.span.cmp(&b.span)));
        scored.truncate(n);
        Ok(scored)
    }

    fn signals<'q>(&self, query: &'q IssueQuery, text: &TextScores) -> Vec<Signals<'q>> {
        let contents = &self.contents;
        let mut signals: Vec<Signals<'q>> = contents
            .files
            .iter()
            .map(|file| Signals {
                kind: kind(&file.facts.path, file.facts.origin),
                ..Signals::default()
            })
            .collect();
        let best_file = best(text.files.iter().copied());
        let best_piece = best(text.pieces.iter().copied());
        for (file, signal) in signals.iter_mut().enumerate() {
            signal.text = text.files[file] / best_file;
            signal.piece = contents.pieces[file]
                .clone()
                .map(|piece| text.pieces[piece])
                .fold(0.0, f64::max)
                / best_piece;
        }
        self.path_words(query, &mut signals);
        self.names(query, &mut signals);
        self.quoted(query, &mut signals);
        self.modules(query, &mut signals);
        self.traces(query, &mut signals);
        signals
    }

    fn path_words(&self, query: &IssueQuery, signals: &mut [Signals<'_>]) {
        let files = &self.contents.files;
        let words: Vec<Vec<String>> = files.iter().map(|file| path_words(file.facts.path.as_str())).collect();
        let mut having: HashMap<&str, usize> = HashMap::new();
        for word in words.iter().flatten() {
            *having.entry(word).or_default() += 1;
        }
        let wanted: HashMap<&str, &Term> = query.terms.iter().map(|term| (term.text.as_str(), term)).collect();
        let mut scores = vec![0.0; files.len()];
        for (file, words) in words.iter().enumerate() {
            let mut whole = 0.0;
            for word in words {
                let rarity = rarity(files.len(), having.get(word.as_str()).copied().unwrap_or(0));
                whole += rarity;
                if let Some(term) = wanted.get(word.as_str()) {
                    scores[file] += rarity * term.weight.min(2.0);
                    signals[file].words.push(term.spelled.clone());
                }
            }
            scores[file] /= (1.0 + whole).sqrt();
        }
        let best = best(scores.iter().copied());
        for (signal, score) in signals.iter_mut().zip(scores) {
            signal.path_words = score / best;
        }
    }

    fn names<'q>(&self, query: &'q IssueQuery, signals: &mut [Signals<'q>]) {
        let files = &self.contents.files;
        let wanted: HashMap<&str, &'q Mention> = query
            .identifiers
            .iter()
            .map(|name| (name.text.as_str(), name))
            .collect();
        let mut defined: Vec<BTreeMap<&'q str, f64>> = vec![BTreeMap::new(); files.len()];
        let mut having: HashMap<&'q str, usize> = HashMap::new();
        for (file, stored) in files.iter().enumerate() {
            for symbol in &stored.facts.symbols {
                let qualified = symbol.qualified.replace("::", ".");
                let last_two = qualified
                    .rmatch_indices('.')
                    .nth(1)
                    .map_or(qualified.as_str(), |(dot, _)| &qualified[dot + 1..]);
                let worth = if symbol.shape == Shape::Constant { 0.5 } else { 1.0 };
                for name in [last_two, symbol.name()] {
                    let Some(mention) = wanted.get(name) else { continue };
                    let entry = defined[file].entry(mention.text.as_str()).or_default();
                    *entry = entry.max(worth * mention.weight.min(3.0).sqrt());
                    if name == last_two {
                        break;
                    }
                }
            }
            if signals[file].kind.reason().is_none() {
                for name in defined[file].keys() {
                    *having.entry(name).or_default() += 1;
                }
            }
        }
        let score = |defined: &BTreeMap<&'q str, f64>| -> f64 {
            let each = defined
                .iter()
                .map(|(name, weight)| weight * rarity(files.len(), having.get(name).copied().unwrap_or(0)));
            each.sum()
        };
        let scores: Vec<f64> = defined.iter().map(score).collect();
        let best = best(scores.iter().copied());
        for ((signal, score), defined) in signals.iter_mut().zip(scores).zip(defined) {
            signal.names = score / best;
            let mut named: Vec<(&'q str, f64)> = defined.into_iter().collect();
            named.sort_by(|a, b| b.1.total_cmp(&a.1));
            signal.defined = named.into_iter().take(3).map(|(name, _)| name).collect();
        }
    }

    fn quoted<'q>(&self, query: &'q IssueQuery, signals: &mut [Signals<'q>]) {
        for mention in &query.paths {
            let matches = self.matches(|path| path_match(&mention.text, path));
            let strongest = best(matches.iter().map(|(_, strength)| *strength));
            let meant = matches
                .into_iter()
                .filter(|(_, strength)| *strength >= strongest)
                .collect::<Vec<_>>();
            let shared = (meant.len() as f64).sqrt();
            for (file, strength) in meant {
                let strength = strength * mention.weight.clamp(0.3, 1.0) / shared;
                if strength > signals[file].quoted {
                    signals[file].quoted = strength;
                    signals[file].quote = Some(&mention.text);
                }
            }
        }
    }

    fn modules(&self, query: &IssueQuery, signals: &mut [Signals<'_>]) {
        for mention in &query.modules {
            let dotted: Vec<&str> = mention.text.split('.').collect();
            let matches = self.matches(|path| module_match(&dotted, path));
            let strongest = best(matches.iter().map(|(_, strength)| *strength));
            let meant = matches
                .into_iter()
                .filter(|(_, strength)| *strength >= strongest)
                .collect::<Vec<_>>();
            let shared = (meant.len() as f64).sqrt();
            for (file, strength) in meant {
                signals[file].modules = signals[file]
                    .modules
                    .max(strength * mention.weight.clamp(0.3, 1.0) / shared);
            }
        }
    }

    fn traces(&self, query: &IssueQuery, signals: &mut [Signals<'_>]) {
        // Frames outside the repository do not count; the innermost one inside it does.
        let mut strength = 1.0;
        let mut before = None;
        let mut seen: HashSet<usize> = HashSet::new();
        for frame in &query.frames {
            if before.is_none_or(|before| frame.depth <= before) {
                strength = 1.0;
                seen.clear();
            }
            before = Some(frame.depth);
            let mut meant = self.matches(|path| path_match(&frame.path, path));
            let strongest = best(meant.iter().map(|(_, strength)| *strength));
            meant.retain(|(_, strength)| *strength >= strongest);
            let [(file, certain)] = meant[..] else { continue };
            let signal = &mut signals[file];
            signal.trace = signal.trace.max(strength * certain);
            signal.depth = Some(signal.depth.map_or(frame.depth, |depth| depth.min(frame.depth)));
            if signal.kind.reason().is_none() && seen.insert(file) {
                strength *= OUTER_FRAME;
            }
        }
    }

    fn matches(&self, strength: impl Fn(&str) -> f64) -> Vec<(usize, f64)> {
        let files = self.contents.files.iter().enumerate();
        files
            .map(|(file, stored)| (file, strength(stored.facts.path.as_str())))
            .filter(|(_, found)| *found > 0.0)
            .collect()
    }

    /// Gives the neighbours of the best files a share of their scores; who lent to whom.
    fn lend(&self, scores: &mut [f64]) -> HashMap<usize, usize> {
        let neighbours = self
            .contents
            .neighbours
            .get_or_init(|| Neighbours::of(&self.contents.files));
        let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let mut lent: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for lender in order.into_iter().take(LENDERS) {
            for file in neighbours.near(lender).filter(|file| scores[*file] > 0.0) {
                let share = scores[lender] * weight::NEIGHBOUR * self.kind_of(file).factor();
                let entry = lent.entry(file).or_insert((0.0, lender));
                if share > entry.0 {
                    *entry = (share, lender);
                }
            }
        }
        for (file, (share, _)) in &lent {
            scores[*file] += share;
        }
        lent.into_iter().map(|(file, (_, lender))| (file, lender)).collect()
    }

    fn kind_of(&self, file: usize) -> Kind {
        let facts = &self.contents.files[file].facts;
        kind(&facts.path, facts.origin)
    }

    fn evidence(&self, signal: &Signals<'_>, terms: Vec<&str>, lender: Option<usize>) -> Vec<Evidence> {
        let mut found: Vec<(f64, Evidence)> = Vec::new();
        if let Some(quoted) = signal.quote {
            found.push((
                signal.quoted * weight::QUOTED,
                Evidence::QuotedPath {
                    quoted: quoted.to_owned(),
                },
            ));
        }
        for name in &signal.defined {
            found.push((
                signal.names * weight::NAMES,
                Evidence::DefinesName {
                    name: (*name).to_owned(),
                },
            ));
        }
        if let Some(depth) = signal.depth {
            found.push((signal.trace * weight::TRACE, Evidence::TraceFrame { depth }));
        }
        if !signal.words.is_empty() {
            let strength = signal.path_words * weight::PATH_WORDS + signal.modules * weight::MODULES;
            found.push((
                strength,
                Evidence::PathWords {
                    words: signal.words.clone(),
                },
            ));
        }
        if !terms.is_empty() {
            let strength = signal.text * weight::TEXT + signal.piece * weight::PIECE;
            found.push((
                strength,
                Evidence::Text {
                    terms: terms.into_iter().map(ToOwned::to_owned).collect(),
                },
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut evidence: Vec<Evidence> = found.into_iter().map(|(_, evidence)| evidence).collect();
        if let Some(lender) = lender {
            evidence.push(Evidence::Neighbour {
                of: self.contents.files[lender].facts.path.clone(),
            });
        }
        if let Some(why) = signal.kind.reason() {
            evidence.push(Evidence::Demoted { why: why.to_owned() });
        }
        evidence
    }
}

/// What speaks for one file, each signal 0..1, with what is shown as evidence.
#[derive(Debug, Clone)]
struct Signals<'q> {
    kind: Kind,
    text: f64,
    piece: f64,
    path_words: f64,
    words: Vec<String>,
    names: f64,
    defined: Vec<&'q str>,
    quoted: f64,
    quote: Option<&'q str>,
    modules: f64,
    trace: f64,
    depth: Option<u32>,
}

impl Default for Signals<'_> {
    fn default() -> Self {
        Self {
            kind: Kind::Source,
            text: 0.0,
            piece: 0.0,
            path_words: 0.0,
            words: Vec::new(),
            names: 0.0,
            defined: Vec::new(),
            quoted: 0.0,
            quote: None,
            modules: 0.0,
            trace: 0.0,
            depth: None,
        }
    }
}

impl Signals<'_> {
    fn sum(&self) -> f64 {
        let sum = weight::TEXT * self.text
            + weight::PIECE * self.piece
            + weight::PATH_WORDS * self.path_words
            + weight::NAMES * self.names
            + weight::QUOTED * self.quoted
            + weight::MODULES * self.modules
            + weight::TRACE * self.trace;
        sum * self.kind.factor()
    }
}

fn kind(path: &RepoPath, origin: Origin) -> Kind {
    match (Kind::of(path), origin) {
        (Kind::Source | Kind::Entrance | Kind::Data, Origin::Generated) => Kind::Generated,
        (kind, Origin::Written | Origin::Generated) => kind,
    }
}

/// The words of a path, each once, in the form of search terms.
fn path_words(path: &str) -> Vec<String> {
    let stem = path.rsplit_once('.').map_or(
        path,
        |(stem, extension)| if extension.contains('/') { path } else { stem },
    );
    let mut words: Vec<String> = Vec::new();
    for word in tokens::terms(stem) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// How telling it is that `having` of `all` have something, 0..1.
fn rarity(all: usize, having: usize) -> f64 {
    let all = all as f64 + 1.0;
    ((all / (having as f64 + 1.0)).ln() / all.ln()).max(0.0)
}

/// How much of the smaller of two intervals they share, so that a piece of a long function counts whole.
fn share(symbol: LineSpan, piece: LineSpan) -> f64 {
    let common = symbol.intersection(piece).map_or(0, LineSpan::lines);
    f64::from(common) / f64::from(symbol.lines().min(piece.lines()))
}

/// The largest value, or 1 where none is above 0: what is divided by.
fn best(values: impl Iterator<Item = f64>) -> f64 {
    let best = values.fold(0.0, f64::max);
    if best > 0.0 { best } else { 1.0 }
}
