//! What git remembers: files changed by past commits whose messages resemble the issue (the idea of `BugLocator`, Zhou et
//! al. 2012, with commits for bug reports), and files changed lately.

use super::{Found, SignalInput};
use crate::CommitHistory;
use crate::view::View;
use magis_core::{Evidence, RepoPath};
use std::collections::HashMap;

/// The most commits that are asked.
const COMMITS: usize = 100;
/// A commit that changed more files than this is a renaming or a formatting.
const HUGE: usize = 40;
/// Below this number of changes of a file, their number says little.
const MANY_CHANGES: f64 = 20.0;
/// A change this number of commits ago counts half.
const HALF: f64 = 100.0;
/// A change is given as evidence when it was made within this number of commits.
const LATELY: u32 = 50;

/// The history as the files of the tree see it, worked out once for all signals that go by it.
pub(crate) struct ChangeHistory<'a> {
    pub log: &'a CommitHistory,
    /// By commit: the files it changed, where they are now.
    pub changed: Vec<Vec<usize>>,
    /// By file: how many commits changed it.
    changes: Vec<usize>,
}

impl<'a> ChangeHistory<'a> {
    pub fn of(view: &View, history: &'a CommitHistory) -> Self {
        let mut places = Places::of(view);
        let mut changes = vec![0; view.files.len()];
        let mut changed = Vec::with_capacity(history.commits.len());
        for commit in &history.commits {
            let files: Vec<usize> = commit.changed.iter().filter_map(|path| places.find(path)).collect();
            for file in &files {
                changes[*file] += 1;
            }
            changed.push(files);
        }
        Self {
            log: history,
            changed,
            changes,
        }
    }

    /// What every second commit changes is changed lately, and by those that read alike, too.
    fn damp(&self, strengths: &mut [f64]) {
        for (strength, changes) in strengths.iter_mut().zip(&self.changes) {
            *strength = (*strength / (1.0 + *changes as f64 / MANY_CHANGES).sqrt()).min(1.0);
        }
    }
}

/// Commits that resemble the issue.
pub(crate) fn resembling<'a>(reading: &SignalInput<'a>, history: &ChangeHistory<'a>) -> Found<'a> {
    let commits = &history.log.commits;
    let mut strengths = vec![0.0; reading.view.files.len()];
    let mut which: HashMap<usize, (f64, usize)> = HashMap::new();
    for (commit, score) in history.log.resembling(&reading.query.terms, COMMITS) {
        let size = commits[commit].changed.len();
        if size > HUGE {
            continue;
        }
        let likeness = score.powi(2) / (size.max(1) as f64).sqrt();
        for file in &history.changed[commit] {
            strengths[*file] += likeness;
            let entry = which.entry(*file).or_insert((likeness, commit));
            if likeness > entry.0 {
                *entry = (likeness, commit);
            }
        }
    }
    history.damp(&mut strengths);
    Found::of(strengths, move |file| {
        let commit = which.get(&file).map(|(_, commit)| &commits[*commit]);
        commit.map(|commit| Evidence::PastCommit {
            commit: commit.id.clone(),
            subject: commit.message.lines().next().unwrap_or_default().to_owned(),
        })
    })
}

/// Changed lately, of the files whose text matches: what was touched last is often what broke. Of little weight beside the
/// rest, since it says nothing of the issue.
pub(crate) fn recency<'a>(reading: &SignalInput<'a>, history: &ChangeHistory<'a>) -> Found<'a> {
    let mut ages: Vec<Option<u32>> = vec![None; reading.view.files.len()];
    for (age, (commit, files)) in (0..).zip(history.log.commits.iter().zip(&history.changed)) {
        if commit.changed.len() <= HUGE {
            for file in files {
                ages[*file].get_or_insert(age);
            }
        }
    }
    for (age, file) in ages.iter_mut().zip(&reading.view.files) {
        age.take_if(|_| reading.text.contents[file.content] <= 0.0);
    }
    let strength = |age: &Option<u32>| age.map_or(0.0, |age| 1.0 / (1.0 + f64::from(age) / HALF));
    let mut strengths: Vec<f64> = ages.iter().map(strength).collect();
    history.damp(&mut strengths);
    Found::of(strengths, move |file| {
        let lately = ages[file].filter(|age| *age < LATELY);
        lately.map(|ago| Evidence::ChangedLately { ago })
    })
}

/// Where the files of old commits are now: at their path or, moved, wherever the one file of that name is.
struct Places<'a> {
    view: &'a View,
    by_name: HashMap<&'a str, Option<usize>>,
    found: HashMap<RepoPath, Option<usize>>,
}

impl<'a> Places<'a> {
    fn of(view: &'a View) -> Self {
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

    fn find(&mut self, path: &RepoPath) -> Option<usize> {
        if let Some(known) = self.found.get(path) {
            return *known;
        }
        let place = self.view.find(path);
        let place = place.or_else(|| self.by_name.get(path.file_name()).copied().flatten());
        self.found.insert(path.clone(), place);
        place
    }
}
