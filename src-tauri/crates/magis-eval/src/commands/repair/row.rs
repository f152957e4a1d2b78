//! What came of one bug: a line of the results of `magis-eval repair`.

use magis_core::{Proof, RunId, Stage};
use magis_eval::instances::InstanceId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What came of one bug.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RepairRow {
    pub id: InstanceId,
    /// What the tables call this way of repairing.
    pub label: String,
    /// The run on record; none where the model answered alone.
    pub run: Option<RunId>,
    pub applied: bool,
    pub resolved: bool,
    /// Some attempt resolves the bug.
    pub present: bool,
    /// How many attempts of different code were judged.
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
