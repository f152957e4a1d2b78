//! What came of one bug: a line of the results of `magis-eval repair`.

use magis_core::{CommitId, Proof, RunId, Stage};
use magis_eval::instances::InstanceId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What came of one bug.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RepairRow {
    pub id: InstanceId,
    /// The commit with the bug. A set that is made anew may give the same name to another bug.
    pub commit: CommitId,
    /// What the tables call this way of repairing.
    pub label: String,
    /// The run on record; none where the model answered alone.
    pub run: Option<RunId>,
    pub applied: bool,
    pub resolved: bool,
    /// Some attempt resolves the bug.
    pub present: bool,
    /// How many attempts of different code were judged; one that fails what shows the fault is taken for wrong.
    pub attempts: usize,
    /// At which of the places that were tried the reference changes something, from 1; none where at none.
    pub place: Option<usize>,
    /// What the run says of its patch.
    pub proof: Proof,
    /// How many checks showed the fault on the base.
    pub checks: usize,
    /// How many files the patch touches.
    pub files: usize,
    /// Those of them that the reference does not touch.
    pub needless_files: usize,
    pub seconds: f64,
    /// Tokens that the model computed and wrote.
    pub tokens: u64,
    pub stages: BTreeMap<Stage, StageCost>,
    /// Why it is not resolved; empty where it is.
    pub why: String,
}

/// What a stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    pub seconds: f64,
    /// Tokens that the model computed and wrote.
    pub tokens: u64,
}

#[cfg(test)]
impl RepairRow {
    /// A row to test with.
    pub fn example(id: &str, label: &str, resolved: bool, proof: Proof) -> Self {
        Self {
            id: InstanceId(id.to_owned()),
            commit: CommitId("c0ffee".to_owned()),
            label: label.to_owned(),
            run: None,
            applied: true,
            resolved,
            present: resolved,
            attempts: 3,
            place: resolved.then_some(2),
            proof,
            checks: 1,
            files: 1,
            needless_files: 0,
            seconds: 60.0,
            tokens: 900,
            stages: BTreeMap::new(),
            why: String::new(),
        }
    }
}
