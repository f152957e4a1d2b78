//! What git remembers: files changed by past commits whose messages resemble the issue (the idea of `BugLocator`, Zhou et
//! al. 2012, with commits for bug reports), and files changed lately.

use super::{Found, Reading};
use crate::History;
use crate::view::View;
use magis_core::{Evidence, RepoPath};
use std::collections::HashMap;

/// So many commits are asked.
const COMMITS: usize = 100;
/// A commit that changed more files than this is a renaming or a formatting.
const HUGE: usize = 40;
/// Below so many changes of a file, their number says little.
const MANY_CHANGES: f64 = 20.0;
/// A change so many commits ago counts half.
const HALF: f64 = 100.0;
/// One that is told as evidence was made within so many.
const LATELY: u32 = 50;

/// Commits that resemble the issue.
pub(crate) fn resembling<'a>(reading: &Reading<'a>, history: &'a History) -> Found<'a> {
    let mut places = Places::of(reading.view);
    let mut strengths = vec![0.0; reading.view.files.len()];
    let mut which: HashMap<usize, (f64, usize)> = HashMap::new();
    let alike = history.resembling(&reading.query.terms, COMMITS);
    for (commit, score) in alike {
        let changed = &history.commits[commit].changed;
        if changed.len() > HUGE {
            continue;
        }
        let likeness = score.powi(2) / (changed.len().max(1) as f64).sqrt();
        for path in changed {
            let Some(file) = places.find(path) else { continue };
            strengths[file] += likeness;
            let entry = which.entry(file).or_insert((likeness, commit));
            if likeness > entry.0 {
                *entry = (likeness, commit);
            }
        }
    }
    let changes = changes(history, &mut places, strengths.len());
    damp(&mut strengths, &changes);
    Found::of(strengths, move |file| {
        let commit = which.get(&file).map(|(_, commit)| &history.commits[*commit]);
        commit.map(|commit| Evidence::PastCommit {
            commit: commit.id.clone(),
            subject: commit.message.lines().next().unwrap_or_default().to_owned(),
        })
    })
}

/// By file: how many commits changed it.
fn changes(history: &History, places: &mut Places<'_>, files: usize) -> Vec<usize> {
    let mut changes = vec![0; files];
    for path in history.commits.iter().flat_map(|commit| &commit.changed) {
        if let Some(file) = places.find(path) {
            changes[file] += 1;
        }
    }
    changes
}

/// Changed lately, of the files whose text matches: what was touched last is often what broke. Of little weight beside the
/// rest, since it says nothing of the issue.
pub(crate) fn recency<'a>(reading: &Reading<'a>, history: &'a History) -> Found<'a> {
    let mut places = Places::of(reading.view);
    let mut ages: Vec<Option<u32>> = vec![None; reading.view.files.len()];
    let small = |commit: &magis_core::PastCommit| commit.changed.len() <= HUGE;
    for (age, commit) in (0..).zip(&history.commits).filter(|(_, commit)| small(commit)) {
        for path in &commit.changed {
            if let Some(file) = places.find(path) {
                ages[file].get_or_insert(age);
            }
        }
    }
    for (age, file) in ages.iter_mut().zip(&reading.view.files) {
        age.take_if(|_| reading.text.contents[file.content] <= 0.0);
    }
    let strength = |age: &Option<u32>| age.map_or(0.0, |age| 1.0 / (1.0 + f64::from(age) / HALF));
    let mut strengths: Vec<f64> = ages.iter().map(strength).collect();
    damp(&mut strengths, &changes(history, &mut places, ages.len()));
    Found::of(strengths, move |file| {
        let lately = ages[file].filter(|age| *age < LATELY);
        lately.map(|ago| Evidence::ChangedLately { ago })
    })
}

/// What every second commit changes is changed lately, and by those that read alike, too.
fn damp(strengths: &mut [f64], changes: &[usize]) {
    for (strength, changes) in strengths.iter_mut().zip(changes) {
        *strength = (*strength / (1.0 + *changes as f64 / MANY_CHANGES).sqrt()).min(1.0);
    }
}

/// Where the files of old commits are now: at their path or, moved, wherever the one file of that name is.
pub(crate) struct Places<'a> {
    view: &'a View,
    by_name: HashMap<&'a str, Option<usize>>,
    found: HashMap<RepoPath, Option<usize>>,
}

impl<'a> Places<'a> {
    pub fn of(view: &'a View) -> Self {
        let mut by_name: HashMap<&str, Option<usize>> = HashMap::new();
        for (number, file) in view.files.iter().enumerate() {
            by_name
                .entry(file.path.file_name())
                .and_modify(|known| *known = None)
                .or_insert(Some(number));
        }
        Self {
            view,
            by_name,
            found: HashMap::new(),
        }
    }

    pub fn find(&mut self, path: &RepoPath) -> Option<usize> {
        if let Some(known) = self.found.get(path) {
            return *known;
        }
        let place = self.view.find(path);
        let place = place.or_else(|| self.by_name.get(path.file_name()).copied().flatten());
        self.found.insert(path.clone(), place);
        place
    }
}
