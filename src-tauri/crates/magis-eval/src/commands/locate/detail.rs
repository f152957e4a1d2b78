//! What lies behind the tables of location: the issues that were missed, and what each signal gave each candidate.
//!
//! For whoever works on a signal; nothing is measured here.

use anyhow::{Context as _, Result};
use magis_core::RepoPath;
use magis_engine::Location;
use magis_eval::instances::Reference;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// So many of the first candidates of a missed issue are shown.
const SHOWN: usize = 3;

/// Says of an issue whose reference is not wholly within the first `place` files what stands there instead.
pub fn tell_miss(reference: &Reference, location: &Location, place: usize) {
    let candidates = &location.ranking.candidates;
    let found = |gold: &RepoPath| candidates.iter().position(|candidate| candidate.path == *gold);
    let gold = reference.files();
    let places: Vec<Option<usize>> = gold.iter().map(found).collect();
    if places.iter().all(|at| at.is_some_and(|at| at < place)) {
        return;
    }
    for (path, at) in gold.iter().zip(places) {
        let at = at.map_or_else(|| "nowhere".to_owned(), |at| format!("at {}", at + 1));
        eprintln!("{}: {path} {at}", reference.id);
    }
    for candidate in candidates.iter().take(SHOWN) {
        let why: Vec<String> = candidate.evidence.iter().map(ToString::to_string).collect();
        eprintln!("    {:.2} {} ({})", candidate.score, candidate.path, why.join("; "));
    }
    for symbol in location.symbols.iter().take(SHOWN) {
        eprintln!("    {:.2} {}::{}", symbol.score, symbol.path, symbol.qualified_name);
    }
}

/// A file with a line an issue: its reference, and of each candidate what every signal gave.
pub struct Parts {
    file: File,
}

impl Parts {
    /// Written to `file`, which is replaced.
    pub fn create(file: &Path) -> Result<Self> {
        let file = File::create(file).with_context(|| format!("writing {}", file.display()))?;
        Ok(Self { file })
    }

    /// Adds an issue.
    pub fn write(&mut self, reference: &Reference, location: &Location) -> Result<()> {
        let ranking = &location.ranking;
        let one = |(candidate, parts): (&magis_core::Candidate, &Vec<_>)| -> Value {
            let parts: &Vec<(magis_engine::floors::search::Signal, f64)> = parts;
            let parts: BTreeMap<&str, f64> = parts.iter().map(|(signal, part)| (signal.name(), *part)).collect();
            json!({"path": candidate.path, "score": candidate.score, "parts": parts})
        };
        let candidates: Vec<Value> = ranking.candidates.iter().zip(&ranking.parts).map(one).collect();
        let line =
            json!({"id": reference.id, "repo": reference.repo, "gold": reference.files(), "candidates": candidates});
        writeln!(self.file, "{line}").context("writing what the signals gave")
    }
}
