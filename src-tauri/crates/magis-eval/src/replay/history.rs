//! Which files each commit of a history changed, as the `git` program tells it.

use anyhow::{Context as _, Result, bail};
use magis_core::RepoPath;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commits after one another along the first parents.
#[derive(Debug, Clone)]
pub struct History {
    repository: PathBuf,
    from: String,
    commits: Vec<String>,
}

/// A commit, and the files it wrote; those it deleted have nothing to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayStep {
    pub commit: String,
    /// The files it added, changed or moved, by their new names.
    pub changed: Vec<RepoPath>,
}

impl History {
    /// At most `most` commits after `from`, towards HEAD.
    pub fn after(repository: &Path, from: &str, most: usize) -> Result<Self> {
        let repository =
            std::path::absolute(repository).with_context(|| format!("finding {}", repository.display()))?;
        let ask = |arguments: &[&str]| git(&repository, arguments);
        let from = ask(&["rev-parse", "--verify", "--quiet", &format!("{from}^{{commit}}")])
            .with_context(|| format!("{from} is no commit of {}", repository.display()))?
            .trim()
            .to_owned();
        let line = ask(&["rev-list", "--first-parent", "--reverse", &format!("{from}..HEAD")])?;
        let commits: Vec<String> = line.lines().take(most).map(ToOwned::to_owned).collect();
        if commits.is_empty() {
            bail!(
                "no commit follows {from} on the way to HEAD of {}",
                repository.display()
            );
        }
        Ok(Self {
            repository,
            from,
            commits,
        })
    }

    /// Returns the commit before the first one.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Returns how many commits there are.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Never: a history has a commit.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the commits with what they changed.
    pub fn steps(&self) -> Result<Vec<ReplayStep>> {
        let step = |commit: &String| {
            // What a commit deletes has no version after it.
            let changed = self.changed_by(commit, &["--diff-filter=d"])?;
            let changed = changed.iter().filter_map(|path| RepoPath::new(path).ok());
            Ok(ReplayStep {
                commit: commit.clone(),
                changed: changed.collect(),
            })
        };
        self.commits.iter().map(step).collect()
    }

    fn changed_by(&self, commit: &str, filter: &[&str]) -> Result<Vec<String>> {
        let names = ["diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--no-renames"];
        let before = format!("{commit}^1");
        let told = git(&self.repository, &[&names[..], filter, &[&before, commit]].concat())?;
        Ok(told.split('\0').map(ToOwned::to_owned).collect())
    }

    /// Returns the files that the commits change or delete, as far as they are there before the first one.
    pub fn known_before(&self) -> Result<BTreeSet<RepoPath>> {
        let there = git(&self.repository, &["ls-tree", "-r", "-z", "--name-only", &self.from])?;
        let there: BTreeSet<&str> = there.split('\0').collect();
        let mut known = BTreeSet::new();
        for commit in &self.commits {
            let changed = self.changed_by(commit, &[])?;
            let paths = changed.iter().filter(|path| there.contains(path.as_str()));
            known.extend(paths.filter_map(|path| RepoPath::new(path).ok()));
        }
        Ok(known)
    }

    /// Returns a clone without files at `place`, whose objects are those of the original.
    pub(super) fn clone_to(&self, place: &Path) -> Result<()> {
        let output = Command::new("git")
            .args(["clone", "--quiet", "--shared", "--no-checkout", "--no-tags"])
            .arg(&self.repository)
            .arg(place)
            .output()
            .context("starting git")?;
        if !output.status.success() {
            bail!(
                "cloning {}: {}",
                self.repository.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(())
    }
}

fn git(repository: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output()
        .context("starting git")?;
    if !output.status.success() {
        bail!(
            "git {} in {}: {}",
            arguments.first().copied().unwrap_or_default(),
            repository.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
