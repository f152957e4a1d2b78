//! In which order mutations are tried: of all kinds alike, of a file only so many, of a function one.

use super::project::Project;
use magis_core::RepoPath;
use magis_eval::mutation::{Mutation, MutationKind, Shuffle, propose};
use magis_evidence::commands::ProjectFiles as _;
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, BTreeSet};

/// The mutations that are still to be tried.
pub struct Queue {
    kinds: BTreeMap<MutationKind, Vec<(RepoPath, Mutation)>>,
    kept: BTreeMap<MutationKind, usize>,
    tried: BTreeMap<MutationKind, usize>,
    files: BTreeMap<RepoPath, usize>,
    functions: BTreeSet<(RepoPath, Option<String>)>,
    most_of_a_file: usize,
}

impl Queue {
    /// Fills it with all mutations of a project's sources, in an order drawn.
    pub fn fill(project: &Project, language: SourceLanguage, count: usize, draw: &mut Shuffle) -> Self {
        let mut kinds: BTreeMap<MutationKind, Vec<(RepoPath, Mutation)>> = BTreeMap::new();
        let sources = project.sources(language);
        for path in &sources {
            for mutation in project
                .text(path)
                .map(|text| propose(language, &text))
                .unwrap_or_default()
            {
                if mutation.function.is_some() {
                    kinds.entry(mutation.kind).or_default().push((path.clone(), mutation));
                }
            }
        }
        for all in kinds.values_mut() {
            draw.order(all);
        }
        Self {
            kinds,
            kept: BTreeMap::new(),
            tried: BTreeMap::new(),
            files: BTreeMap::new(),
            functions: BTreeSet::new(),
            most_of_a_file: count.div_ceil(sources.len().clamp(1, 4)).max(2),
        }
    }

    /// Takes the next mutation, of the kind that is rarest so far.
    pub fn next(&mut self) -> Option<(RepoPath, Mutation)> {
        let count = |map: &BTreeMap<MutationKind, usize>, kind: MutationKind| map.get(&kind).copied().unwrap_or(0);
        let mut order: Vec<MutationKind> = self.kinds.keys().copied().collect();
        order.sort_by_key(|kind| 4 * count(&self.kept, *kind) + count(&self.tried, *kind));
        for kind in order {
            while let Some((path, mutation)) = self.kinds.get_mut(&kind).and_then(Vec::pop) {
                let full = self.files.get(&path).is_some_and(|kept| *kept >= self.most_of_a_file);
                if full || self.functions.contains(&(path.clone(), mutation.function.clone())) {
                    continue;
                }
                *self.tried.entry(kind).or_default() += 1;
                return Some((path, mutation));
            }
        }
        None
    }

    /// Notes that a mutation was kept.
    pub fn note(&mut self, path: &RepoPath, mutation: &Mutation) {
        *self.kept.entry(mutation.kind).or_default() += 1;
        *self.files.entry(path.clone()).or_default() += 1;
        self.functions.insert((path.clone(), mutation.function.clone()));
    }
}
