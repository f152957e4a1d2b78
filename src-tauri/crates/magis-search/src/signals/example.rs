//! What the code in the issue calls, where its own imports lead: `from tides import gauge` and `gauge(3)` mean the file
//! that defines `gauge` and that the module `tides` has it from.

use super::{Found, SignalInput};
use crate::examples::Example;
use crate::idf::idf;
use crate::uses;
use crate::view::View;
use magis_core::{Evidence, RepoPath};
use magis_syntax::{Import, SourceLanguage};
use std::collections::{BTreeMap, HashMap};

/// A name that more files define than this means none of them.
const MOST_DEFINERS: usize = 3;
/// A module hands on what it imports, and so do those: so many steps are followed.
const STEPS: u32 = 3;
/// The best of all is certain from here on: one rare name.
const ENOUGH: f64 = 1.0;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let view = reading.view;
    let examples = &reading.query.examples;
    let main = main_language(view);
    // What one block imports the next one uses.
    let imports = examples
        .iter()
        .filter_map(|example| Some(imports(example, example.language.or(main)?)))
        .flatten();
    let near = handed_on(view, imports);
    let mut strengths = vec![0.0; view.files.len()];
    let mut called: Vec<Option<(f64, &'a str)>> = vec![None; view.files.len()];
    for (name, of_anything) in calls(examples) {
        let meant = meant(view, &near, name, of_anything);
        if meant.len() > MOST_DEFINERS {
            continue;
        }
        let idf = idf(view.files.len(), view.symbol_table().users(name).len()) / meant.len() as f64;
        for file in meant {
            strengths[file] += idf;
            if called[file].is_none_or(|(most, _)| idf > most) {
                called[file] = Some((idf, name));
            }
        }
    }
    Found::relative_above(ENOUGH, strengths, move |file| {
        called[file].map(|(_, name)| Evidence::CalledInIssue { name: name.to_owned() })
    })
}

/// Returns the names that are called, in their order, each with whether it is somewhere called on something: such a one
/// may be a method.
fn calls(examples: &[Example]) -> BTreeMap<&str, bool> {
    let mut called: BTreeMap<&str, bool> = BTreeMap::new();
    for example in examples {
        for (before, name) in uses::calls(&example.code) {
            *called.entry(name).or_default() |= before.ends_with(['.', '>']);
        }
    }
    called
}

/// Returns the files that a name means: of those that define it the nearest to what is imported, or all where none is
/// near.
fn meant(view: &View, near: &BTreeMap<u32, u32>, name: &str, of_anything: bool) -> Vec<usize> {
    let symbol_table = view.symbol_table();
    let defining = if of_anything {
        symbol_table.files(name)
    } else {
        symbol_table.free(name)
    };
    let nearest = defining.iter().filter_map(|file| near.get(file)).min();
    defining
        .iter()
        .filter(|file| nearest.is_none() || near.get(file) == nearest)
        .map(|file| *file as usize)
        .collect()
}

/// Returns what an example imports.
fn imports(example: &Example, language: SourceLanguage) -> Vec<Import> {
    let path = RepoPath::new(format!("example.{}", language.extension()));
    path.map_or_else(
        |_| Vec::new(),
        |path| magis_syntax::outline(&path, &example.code).imports,
    )
}

/// Returns the files that have what is imported, by how many imports they are away.
fn handed_on(view: &View, imports: impl Iterator<Item = Import>) -> BTreeMap<u32, u32> {
    let neighbours = view.neighbours();
    let mut found: BTreeMap<u32, u32> = BTreeMap::new();
    let mut level: Vec<u32> = imports
        .flat_map(|import| neighbours.meant(&import.target, &import.names))
        .collect();
    for step in 0..=STEPS {
        let mut next = Vec::new();
        for file in level {
            found.entry(file).or_insert_with(|| {
                next.extend(neighbours.imported(file as usize).map(|file| file as u32));
                step
            });
        }
        level = next;
    }
    found
}

/// Returns the language of most sources of the tree.
fn main_language(view: &View) -> Option<SourceLanguage> {
    let sources = view.files.iter().filter(|file| file.kind.reason().is_none());
    let mut count: HashMap<&str, usize> = HashMap::new();
    for language in sources.filter_map(|file| file.metadata.key.language.as_deref()) {
        *count.entry(language).or_default() += 1;
    }
    let main = count.into_iter().max_by_key(|(name, files)| (*files, *name));
    SourceLanguage::ALL
        .into_iter()
        .find(|language| Some(language.name()) == main.map(|(name, _)| name))
}
