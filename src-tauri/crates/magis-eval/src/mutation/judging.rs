//! Which patches resolve a mutated bug: the tests that it makes fail pass, and those that passed still do.

use super::bug::{MutatedBug, id_of, ids_of};
use super::store::BugRepository;
use super::tree_run::SandboxedTree;
use crate::instances::InstanceId;
use anyhow::{Context as _, Result};
use magis_core::RepoPath;
use magis_evidence::commands::{TestCommand, TestSelection, given};
use magis_evidence::results::{TestId, TestResults, TestStatus};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// What the tests say of a patch, in the form of the other sets' judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolution {
    pub instance_id: InstanceId,
    pub applied: bool,
    pub resolved: bool,
    /// How many of the tests that failed pass, and how many there are.
    pub fail_to_pass: [usize; 2],
    /// How many of the tests that passed still do, and how many there are; none where those that failed were run alone, and still fail.
    pub pass_to_pass: [usize; 2],
    pub seconds: f64,
    /// Why it is not resolved; empty where it is.
    pub why: String,
}

/// Judges a patch of a bug's base commit. `repository` holds the bug's commits, `tree` the project as it was, with what its tests need; the tests
/// have `time` to run. A patch cannot change the tests that judge it.
pub async fn judge(
    bug: &MutatedBug,
    patch: &str,
    repository: &BugRepository,
    tree: &SandboxedTree,
    time: Duration,
) -> Result<Resolution> {
    let begun = Instant::now();
    let (fails, passes) = (ids_of(&bug.fail_to_pass)?, ids_of(&bug.pass_to_pass)?);
    let mut told = Resolution {
        instance_id: bug.instance_id.clone(),
        applied: false,
        resolved: false,
        fail_to_pass: [0, fails.len()],
        pass_to_pass: [0, passes.len()],
        seconds: 0.0,
        why: String::new(),
    };
    let patched = match repository.patched(&bug.base_commit.0, patch)? {
        Ok(patched) => patched,
        Err(why) => return Ok(Resolution { why, ..told }),
    };
    told.applied = true;
    // Tests that stand in the file of the bug, as Rust's may, cannot be put back whole.
    let apart: Vec<RepoPath> = bug
        .test_files
        .iter()
        .filter(|path| !bug.gold.contains_key(path))
        .cloned()
        .collect();
    let restored = repository.with_files_of(&patched, &bug.base_commit.0, &apart)?;
    let judged = if bug.test_patch.is_empty() {
        restored
    } else {
        match repository.patched(&restored, &bug.test_patch)? {
            Ok(judged) => judged,
            Err(why) => {
                let why = format!("the tests' own patch does not apply on top: {why}");
                return Ok(Resolution { why, ..told });
            }
        }
    };
    let changes = repository.changes(&bug.project_commit.0, &judged)?;
    let command = command(bug)?;
    // Where those that failed can be run alone and still fail, the others change nothing.
    let alone: Option<Vec<TestId>> = fails.iter().map(|test| test_of(test)).collect();
    let ran = match alone.as_deref().map(TestSelection::Tests) {
        Some(selection) => tree.test(&command, selection, &changes, time).await.ok(),
        None => None,
    };
    if let Some(results) = ran.and_then(|ran| ran.results.ok()) {
        let passed = passing(&results);
        let still: Vec<&String> = fails.difference(&passed).collect();
        told.fail_to_pass[0] = fails.len() - still.len();
        if !still.is_empty() {
            told.why = not_passing(&still);
            told.seconds = begun.elapsed().as_secs_f64();
            return Ok(told);
        }
    }
    let ran = tree.test(&command, TestSelection::Whole, &changes, time).await?;
    told.seconds = begun.elapsed().as_secs_f64();
    let results = match ran.results {
        Ok(results) => results,
        Err(why) => {
            return Ok(Resolution {
                why: format!("{why}; the command {}", ran.outcome.end),
                ..told
            });
        }
    };
    let passed = passing(&results);
    told.fail_to_pass[0] = fails.intersection(&passed).count();
    told.pass_to_pass[0] = passes.intersection(&passed).count();
    told.resolved = told.fail_to_pass[0] == fails.len() && told.pass_to_pass[0] == passes.len();
    if !told.resolved {
        let missing: Vec<&String> = fails.union(&passes).filter(|test| !passed.contains(*test)).collect();
        told.why = not_passing(&missing);
    }
    Ok(told)
}

fn passing(results: &TestResults) -> BTreeSet<String> {
    let passed = results
        .tests
        .iter()
        .filter(|(_, outcome)| outcome.status == TestStatus::Passed);
    passed.map(|(test, _)| id_of(test)).collect()
}

fn not_passing(tests: &[&String]) -> String {
    let named: Vec<&str> = tests.iter().take(5).map(|test| test.as_str()).collect();
    format!("not passing: {}", named.join(", "))
}

/// Returns the test of a name that has all its parts.
fn test_of(name: &str) -> Option<TestId> {
    let parts: Vec<&str> = name.splitn(3, " :: ").collect();
    match parts.as_slice() {
        [file, group, name] => Some(TestId {
            file: Some((*file).to_owned()),
            group: (*group).to_owned(),
            name: (*name).to_owned(),
        }),
        _ => None,
    }
}

fn command(bug: &MutatedBug) -> Result<TestCommand> {
    given(&bug.test_command, &NoFiles).with_context(|| format!("reading the test command of {}", bug.instance_id))
}

/// A command that was given names its runner itself.
struct NoFiles;

impl magis_evidence::commands::ProjectFiles for NoFiles {
    fn paths(&self) -> &[RepoPath] {
        &[]
    }

    fn text(&self, _: &RepoPath) -> Option<String> {
        None
    }
}
