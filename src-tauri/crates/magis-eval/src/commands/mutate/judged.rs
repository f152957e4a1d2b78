//! Judging predictions of a set of mutated bugs.

use super::project::{repository_of, tree_of};
use anyhow::{Context as _, Result};
use magis_eval::instances::{InstanceId, rows};
use magis_eval::mutation::{MutatedBug, SandboxedTree, judge};
use magis_sandbox::Sandbox;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long the tests of a prediction may take.
const TIME: Duration = Duration::from_mins(5);

/// A prediction, of which the patch alone counts.
#[derive(Debug, Deserialize)]
struct Judgeable {
    instance_id: InstanceId,
    #[serde(default)]
    model_patch: String,
}

/// Judges each prediction and prints a line of JSON for it, then how many are resolved.
pub async fn judge_all(predictions: &Path, set: &Path, work: &Path, sandbox: &Sandbox, json: bool) -> Result<ExitCode> {
    let bugs: BTreeMap<InstanceId, MutatedBug> = rows::<MutatedBug>(set)?
        .into_iter()
        .map(|bug| (bug.instance_id.clone(), bug))
        .collect();
    let predictions: Vec<Judgeable> = rows(predictions)?;
    let (mut resolved, mut judged) = (0, 0);
    for prediction in &predictions {
        let bug = bugs
            .get(&prediction.instance_id)
            .with_context(|| format!("{} is not in {}", prediction.instance_id, set.display()))?;
        let repository = repository_of(work, &bug.repo)?;
        let tree = SandboxedTree::new(sandbox.clone(), &tree_of(work, &bug.repo))?;
        let told = judge(bug, &prediction.model_patch, &repository, &tree, TIME).await?;
        judged += 1;
        resolved += usize::from(told.resolved);
        println!("{}", serde_json::to_string(&told)?);
    }
    let summary = serde_json::json!({ "predictions": judged, "resolved": resolved });
    if json {
        println!("{summary}");
    } else {
        eprintln!("{resolved} of {judged} resolved");
    }
    Ok(ExitCode::SUCCESS)
}
