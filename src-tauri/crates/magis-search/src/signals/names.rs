//! Names the issue mentions that a file defines: who defines a name ranks above who uses it.

use super::{Found, SignalInput};
use crate::idf::idf;
use crate::issue::Mention;
use crate::known_symbol::SymbolShape;
use crate::tokens;
use magis_core::Evidence;
use std::collections::{BTreeMap, HashMap};

/// Where some rare names together are certain: so many times the inverse document frequency of what twenty files have.
/// Without that a single name that every second file uses would be as much as the best evidence, if no file has more. In
/// a small tree nothing is rare, and the best is as good as certain.
const ENOUGH: f64 = 2.5;
const SOME_FILES: usize = 20;
/// A method is less meant by its bare name than a function or a type is.
const OWNED: f64 = 0.6;
/// The most that are named as evidence.
const SHOWN: usize = 3;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let (files, query) = (&reading.view.files, reading.query);
    let wanted: HashMap<&str, &'a Mention> = query
        .identifiers
        .iter()
        .map(|name| (name.text.as_str(), name))
        .collect();
    let mut defined: Vec<BTreeMap<&'a str, f64>> = vec![BTreeMap::new(); files.len()];
    let mut having: HashMap<&'a str, usize> = HashMap::new();
    for (file, known) in files.iter().enumerate() {
        for symbol in known.symbols() {
            let last_two = symbol.last_two();
            let worth = if symbol.shape == SymbolShape::Constant {
                0.5
            } else {
                1.0
            };
            for name in [last_two.as_str(), symbol.name()] {
                let Some(mention) = wanted.get(name) else { continue };
                let owned = name != last_two && symbol.owner().is_some();
                let worth = worth * if owned { OWNED } else { 1.0 };
                let entry = defined[file].entry(mention.text.as_str()).or_default();
                *entry = entry.max(worth * mention.weight.min(3.0).sqrt());
                if name == last_two {
                    break;
                }
            }
        }
        if known.kind.reason().is_none() {
            for name in defined[file].keys() {
                *having.entry(name).or_default() += 1;
            }
        }
    }
    let using = reading.using();
    let weight = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        let used = tokens::terms(last)
            .first()
            .and_then(|term| using.get(term.as_str()))
            .copied();
        // A name that every second file uses is in every second issue, too; a third of its weight stays.
        let used = idf(files.len(), used.unwrap_or(0));
        idf(files.len(), having.get(name).copied().unwrap_or(0)) * (1.0 + 2.0 * used) / 3.0
    };
    let score = |defined: &BTreeMap<&'a str, f64>| -> f64 {
        let each = defined.iter().map(|(name, share)| share * weight(name));
        each.sum()
    };
    let strengths: Vec<f64> = defined.iter().map(score).collect();
    let enough = ENOUGH * idf(files.len(), SOME_FILES);
    Found::relative_above(enough, strengths, move |file| {
        let mut named: Vec<(&str, f64)> = defined[file].iter().map(|(name, weight)| (*name, *weight)).collect();
        named.sort_by(|a, b| b.1.total_cmp(&a.1));
        let name = |(name, _): (&str, f64)| Evidence::DefinesName { name: name.to_owned() };
        named.into_iter().take(SHOWN).map(name)
    })
}
