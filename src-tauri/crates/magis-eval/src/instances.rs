//! The issues of a set, and apart from them their references.
//!
//! A row of the file (SWE-bench's JSON lines, or the same with `gold` instead of `patch`) is read into two types, so that
//! whatever solves an issue cannot see its reference: [`Instance`] has no field for it.

use crate::change::Change;
use anyhow::{Context as _, Result};
use magis_core::{CommitId, LineSpan, RepoPath};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The name of an issue within its set, such as `psf__requests-1963`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(pub String);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An issue to be solved: all that a run may know.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Instance {
    #[serde(rename = "instance_id")]
    pub id: InstanceId,
    /// The repository, `OWNER/NAME`.
    pub repo: String,
    /// The commit it is reported against.
    pub base_commit: CommitId,
    pub problem_statement: String,
    /// Comments from before the fix (the paper's hints); empty where there are none.
    #[serde(default)]
    pub hints_text: String,
}

/// What the reference change of an issue is: for measuring only.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    pub id: InstanceId,
    /// The repository, `OWNER/NAME`.
    pub repo: String,
    /// The commit it changes.
    pub base_commit: CommitId,
    /// The lines of the base version it touches, by file: one interval a hunk. A new file has none.
    pub gold: BTreeMap<RepoPath, Vec<LineSpan>>,
    /// The change itself, where the set has it.
    pub change: Option<Change>,
}

/// Reads the issues of a set.
pub fn read_instances(file: &Path) -> Result<Vec<Instance>> {
    rows(file)
}

/// Reads the references of a set.
pub fn read_references(file: &Path) -> Result<BTreeMap<InstanceId, Reference>> {
    #[derive(Deserialize)]
    struct Row {
        instance_id: InstanceId,
        repo: String,
        base_commit: CommitId,
        gold: Option<BTreeMap<RepoPath, Vec<LineSpan>>>,
        patch: Option<String>,
    }
    let mut references = BTreeMap::new();
    for row in rows::<Row>(file)? {
        let parse =
            |patch: &str| Change::parse(patch).with_context(|| format!("reading the reference of {}", row.instance_id));
        let change = row.patch.as_deref().map(parse).transpose()?;
        let gold = row.gold.or_else(|| change.as_ref().map(Change::touched));
        let gold = gold.with_context(|| format!("{} has neither 'gold' nor 'patch'", row.instance_id))?;
        let (repo, base_commit) = (row.repo, row.base_commit);
        references.insert(
            row.instance_id.clone(),
            Reference {
                id: row.instance_id,
                repo,
                base_commit,
                gold,
                change,
            },
        );
    }
    Ok(references)
}

impl Reference {
    /// Returns the files it touches that exist before it: the paper's given files.
    pub fn files(&self) -> Vec<RepoPath> {
        let created = |path: &RepoPath| self.change.as_ref().is_some_and(|change| change.creates(path));
        self.gold.keys().filter(|path| !created(path)).cloned().collect()
    }
}

/// Reads a file of JSON lines, one value a line.
pub fn rows<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(at, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("reading line {} of {}", at + 1, file.display()))
    };
    lines.map(row).collect()
}

/// `count` of `all`, spread evenly: every n-th is taken; none wanted means all.
pub fn spread<T>(all: Vec<T>, every: Option<usize>, limit: Option<usize>) -> Vec<T> {
    let every = every.unwrap_or(1).max(1);
    all.into_iter()
        .step_by(every)
        .take(limit.unwrap_or(usize::MAX))
        .collect()
}
