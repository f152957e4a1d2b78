//! One row of a set of mutated projects.

use super::issue::IssueStyle;
use super::kind::MutationKind;
use crate::instances::InstanceId;
use magis_core::{CommitId, LineSpan, RepoPath};
use magis_evidence::results::TestId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A bug made by a mutation, in the form of SWE-bench's rows with some fields more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MutatedBug {
    pub instance_id: InstanceId,
    /// `OWNER/NAME`; the repository lies in the folder of the set's repositories.
    pub repo: String,
    /// The commit with the bug, and as a rule without the tests that fail for it; it has no parents.
    pub base_commit: CommitId,
    pub problem_statement: String,
    /// The reference, against the base commit: the mutation taken back.
    pub patch: String,
    /// What puts the tests back; empty where the base commit has them.
    pub test_patch: String,
    /// The files that hold those tests.
    pub test_files: Vec<RepoPath>,
    #[serde(default)]
    pub hints_text: String,
    /// The name and version of the package, as its archive has them.
    pub version: String,
    /// The tests that fail for the bug: a list in JSON, as SWE-bench has it.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: String,
    /// The tests that pass with and without it: a list in JSON.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: String,
    pub language: String,
    pub kind: MutationKind,
    pub style: IssueStyle,
    /// The lines of the base commit that the reference touches.
    pub gold: BTreeMap<RepoPath, Vec<LineSpan>>,
    /// The command that runs the tests, as a line.
    pub test_command: String,
    /// The commit with the bug and with the tests that fail for it; it has no parents.
    pub red_commit: CommitId,
    /// The commit of the project as it was.
    pub project_commit: CommitId,
}

/// Returns how a set names a test.
pub fn id_of(test: &TestId) -> String {
    test.to_string()
}

/// Reads a list of tests.
pub fn ids_of(list: &str) -> anyhow::Result<BTreeSet<String>> {
    use anyhow::Context as _;
    serde_json::from_str(list).context("reading a list of tests")
}
