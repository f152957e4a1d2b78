//! What came of one bug: a line of the results of `magis-eval repair`.

use anyhow::Result;
use magis_core::{CommitId, Grade, Proof, RunId, Stage};
use magis_eval::instances::{InstanceId, rows};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

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
    /// What the best of them proves at the most; none where there is none, and in rows that were written before it was recorded.
    #[serde(default)]
    pub grade: Option<Grade>,
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
    /// Why the bug could not be measured. Nothing else in the row counts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// What a stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    pub seconds: f64,
    /// Tokens that the model computed and wrote.
    pub tokens: u64,
}

/// Reads the rows of a file. A bug that was left out may have been tried again, and its last row counts.
pub fn read(file: &Path) -> Result<Vec<RepairRow>> {
    let mut read = Vec::new();
    for row in rows(file)? {
        add(&mut read, row);
    }
    Ok(read)
}

/// Adds a row to others, in place of one that says that its bug was left out.
pub fn add(rows: &mut Vec<RepairRow>, row: RepairRow) {
    rows.retain(|earlier| earlier.left_out.is_none() || earlier.id != row.id);
    rows.push(row);
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
            grade: Some(Grade::ExpectedResult),
            files: 1,
            needless_files: 0,
            seconds: 60.0,
            tokens: 900,
            stages: BTreeMap::new(),
            why: String::new(),
            left_out: None,
        }
    }
}
