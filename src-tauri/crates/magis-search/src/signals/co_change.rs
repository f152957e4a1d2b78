//! Co-change: files that were changed in the same commits as one of the best files.

use super::commits::ChangeHistory;
use super::{Propagated, SOURCES, propagate_to, strongest};
use std::collections::{BTreeMap, BTreeSet};

/// What a commit of more files changed says less.
const MOST_FILES: usize = 20;
/// Fewer common changes are chance.
const LEAST: usize = 3;

/// By file that a score is propagated to: the score of the source, by the share of all changes of either that were
/// changes of both. A file that everything changes has no co-change with any file in particular.
pub(crate) fn propagate(history: &ChangeHistory<'_>, scores: &[f64]) -> Propagated {
    let sources = strongest(scores, SOURCES);
    let mut common: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut changes = vec![0; scores.len()];
    for (commit, files) in history.log.commits.iter().zip(&history.changed) {
        if commit.changed.len() > MOST_FILES {
            continue;
        }
        let files: BTreeSet<usize> = files.iter().copied().collect();
        for file in &files {
            changes[*file] += 1;
        }
        for source in sources.iter().filter(|source| files.contains(source)) {
            for file in files.iter().filter(|file| *file != source) {
                *common.entry((*source, *file)).or_default() += 1;
            }
        }
    }
    let mut propagated = Propagated::new();
    for ((source, file), times) in common {
        if times >= LEAST && scores[file] > 0.0 {
            let either = changes[source] + changes[file] - times;
            let share = times as f64 / (either + LEAST) as f64;
            propagate_to(&mut propagated, file, share * scores[source], source);
        }
    }
    propagated
}
