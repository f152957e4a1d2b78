//! Files that were changed together with one of the best files: what changed together will change together.

use super::past::{HUGE, Places};
use super::Reading;
use crate::History;
use std::collections::{BTreeMap, HashSet};

/// So many of the best files lend.
const LENDERS: usize = 5;
/// Fewer common changes are chance.
const LEAST: usize = 3;

/// By file that is lent to: how often it went along when the lender changed, as a share of the lender's score, and the lender.
pub(crate) fn lend(reading: &Reading<'_>, history: &History, scores: &[f64]) -> BTreeMap<usize, (f64, usize)> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order.truncate(LENDERS);
    let mut places = Places::of(reading.view);
    let mut common: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut changes: BTreeMap<usize, usize> = BTreeMap::new();
    for commit in history.commits.iter().filter(|commit| commit.changed.len() <= HUGE / 2) {
        let files: HashSet<usize> = commit.changed.iter().filter_map(|path| places.find(path)).collect();
        for lender in order.iter().filter(|lender| files.contains(lender)) {
            *changes.entry(*lender).or_default() += 1;
            for file in files.iter().filter(|file| *file != lender) {
                *common.entry((*lender, *file)).or_default() += 1;
            }
        }
    }
    let mut lent: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for ((lender, file), times) in common {
        if times < LEAST || scores[file] <= 0.0 {
            continue;
        }
        let share = times as f64 / (changes.get(&lender).copied().unwrap_or(times) + LEAST) as f64;
        let entry = lent.entry(file).or_insert((0.0, lender));
        if share * scores[lender] > entry.0 {
            *entry = (share * scores[lender], lender);
        }
    }
    lent
}
