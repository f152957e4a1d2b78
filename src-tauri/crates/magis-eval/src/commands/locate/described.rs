//! P3 on descriptions alone, the paper's own way: the agents' steps are run up to the judgement and recorded.

use super::report::{Order, Report};
use crate::args::LocateSetArgs;
use crate::commands::report::recorded;
use crate::commands::runtime;
use crate::commands::set::{Set, SetPlan};
use crate::commands::solve::{Until, drive_all};
use anyhow::{Context as _, Result};
use magis_core::{RelevanceMode, RepoPath};
use magis_eval::instances::{InstanceId, read_references};
use magis_eval::results::{Files, Hints, Memory, Method, Qa};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// Runs what is missing, and counts both orders.
pub fn judge(args: &LocateSetArgs, report: &mut Report) -> Result<ExitCode> {
    let references = read_references(&args.which.instances)?;
    let out = args.out.as_ref().context("--by-description was given without --out")?;
    let label = "locate".to_owned();
    let set = Set::begin(&SetPlan {
        which: &args.which,
        engine: &args.engine,
        out,
        data_dir: None,
        label: Some(&label),
        method: Method::Magis,
        files: Files::Located,
        hints: Hints::Withheld,
        qa: Qa::Absent,
        relevance: RelevanceMode::Description,
        memory: Memory::Shared,
        top_k: args.top_k,
        max_rounds: 1,
        seed: args.seed,
    })?;
    let code = runtime()?.block_on(drive_all(&set, Until::Judged, &args.engine.limits()))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    let wanted: BTreeSet<&InstanceId> = set.jobs.iter().map(|job| &job.instance.id).collect();
    let runs = recorded(
        out,
        &set.results,
        set.setting.clone(),
        &references,
        BTreeMap::new(),
        None,
    )?
    .runs;
    for run in runs.iter().filter(|run| wanted.contains(&run.reference.id)) {
        let kept: BTreeSet<RepoPath> = run.record.kept().into_iter().collect();
        report.count(&Order::Ranking, &run.reference, &run.record.ranked(), None);
        report.count(&Order::Described, &run.reference, &run.record.fused(), None);
        report.chosen(&Order::Described, &run.reference, &run.record.ranked(), |path| {
            kept.contains(path)
        });
    }
    Ok(code)
}
