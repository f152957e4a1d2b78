//! What came of one bug: a line of the results of `magis-eval repair`.

use anyhow::{Result, bail};
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
    /// The model, as runs name it; none in rows that were written before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What fixes the model's dice; none where nothing is drawn, and in such rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How many rounds a task gets; none where the model answered alone, and in such rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
    /// The run on record; none where the model answered alone.
    pub run: Option<RunId>,
    pub applied: bool,
    pub resolved: bool,
    /// Some attempt resolves the bug.
    pub present: bool,
    /// How many attempts of different code were judged. One that fails what shows the fault, or is unusable, is taken for wrong, unless it gives its file the
    /// text that the reference gives it, but for blanks at the ends of lines.
    pub attempts: usize,
    /// At which place the reference changes something, from 1 in the order in which they were first tried, over all tasks; none where at none. Rows without
    /// a model count them task by task, and one that was tried again twice.
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

/// A way of repairing: what the rows of a file have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairWay {
    /// What the tables call it.
    pub label: String,
    /// The model, as runs name it.
    pub model: String,
    pub seed: Option<u64>,
    pub max_rounds: Option<u32>,
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

/// Checks that rows were made in this way, as far as they say how. Those that name no model were written before it was recorded, and are taken.
///
/// # Errors
/// When one was made in another way.
pub fn check_way(rows: &[RepairRow], way: &RepairWay) -> Result<()> {
    for row in rows {
        let Some(model) = &row.model else { continue };
        let differs = |there: Option<u64>, here: Option<u64>| there.zip(here).filter(|(there, here)| there != here);
        let rounds = differs(row.max_rounds.map(u64::from), way.max_rounds.map(u64::from));
        let other = if *model != way.model {
            Some(("the model", model.clone(), way.model.clone()))
        } else if row.label != way.label {
            Some(("the label", format!("'{}'", row.label), format!("'{}'", way.label)))
        } else if let Some((there, here)) = differs(row.seed, way.seed) {
            Some(("--seed", there.to_string(), here.to_string()))
        } else {
            rounds.map(|(there, here)| ("--max-rounds", there.to_string(), here.to_string()))
        };
        if let Some((what, there, here)) = other {
            bail!(
                "{} is there with {what} {there}, and would be made with {here} now; write to another file, or give the options that these rows were made with",
                row.id
            );
        }
    }
    Ok(())
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
            model: None,
            seed: None,
            max_rounds: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn way(label: &str, model: &str, seed: u64, max_rounds: u32) -> RepairWay {
        RepairWay {
            label: label.to_owned(),
            model: model.to_owned(),
            seed: Some(seed),
            max_rounds: Some(max_rounds),
        }
    }

    fn row(way: &RepairWay) -> RepairRow {
        RepairRow {
            model: Some(way.model.clone()),
            seed: way.seed,
            max_rounds: way.max_rounds,
            ..RepairRow::example("a-1", &way.label, true, Proof::NotRun)
        }
    }

    fn check(there: &RepairWay, expected: &str) {
        let here = way("evidence, n=8 m=2", "small", 1, 3);
        let said = check_way(&[row(there)], &here).map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(said.split("; ").next(), Some(expected));
    }

    #[test]
    fn rows_of_another_way_are_not_gone_on_with() {
        check(&way("evidence, n=8 m=2", "small", 1, 3), "");
        check(
            &way("evidence, n=8 m=2", "large", 1, 3),
            "a-1 is there with the model large, and would be made with small now",
        );
        check(
            &way("plain loop", "small", 1, 3),
            "a-1 is there with the label 'plain loop', and would be made with 'evidence, n=8 m=2' now",
        );
        check(
            &way("evidence, n=8 m=2", "small", 2, 3),
            "a-1 is there with --seed 2, and would be made with 1 now",
        );
        check(
            &way("evidence, n=8 m=2", "small", 1, 1),
            "a-1 is there with --max-rounds 1, and would be made with 3 now",
        );
    }

    #[test]
    fn rows_that_do_not_say_how_they_were_made_are_taken() {
        let here = way("evidence, n=8 m=2", "small", 1, 3);
        let old = RepairRow::example("a-1", "evidence, n=96 m=4", true, Proof::NotRun);
        assert!(check_way(std::slice::from_ref(&old), &here).is_ok());
        let text = serde_json::to_string(&old).expect("JSON");
        assert!(
            !text.contains("seed") && !text.contains("model") && !text.contains("max_rounds"),
            "{text}"
        );
        let back: RepairRow = serde_json::from_str(&text).expect("a row");
        assert_eq!((back.model, back.seed, back.max_rounds), (None, None, None));
        let text = serde_json::to_string(&row(&here)).expect("JSON");
        let back: RepairRow = serde_json::from_str(&text).expect("a row");
        assert_eq!(
            (back.model.as_deref(), back.seed, back.max_rounds),
            (Some("small"), Some(1), Some(3))
        );
    }
}
