//! `magis-eval engine`: the calls of a recorded run made again, on our engine and on a llama-server that runs beside it.

use super::{load, model_of, open, runtime};
use crate::args::{EnginePart, EngineTraceArgs};
use anyhow::{Context as _, Result};
use magis_core::RunId;
use magis_engine::DataFolder;
use magis_eval::trace::counterpart::{Completion, fewest, of_trace};
use magis_eval::trace::ours::{self, Replayed};
use magis_eval::trace::peer::Peer;
use magis_eval::trace::report::TraceReport;
use magis_eval::trace::{GroupCost, Trace};
use magis_llm::LanguageModel;
use magis_store::RunArchive;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Replays a trace and prints what it cost on each side; or writes the run that it is into a file.
pub fn engine(args: &EngineTraceArgs) -> Result<ExitCode> {
    if let Some(file) = &args.export {
        fs::write(file, archive(args)?.to_json()?).with_context(|| format!("writing {}", file.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut trace = trace(args)?;
    if args.without.contains(&EnginePart::Together) {
        trace = trace.one_by_one();
    }
    // Before the model is loaded, so that a wrong address costs nothing.
    let peer = args.peer.as_deref().map(Peer::find).transpose()?;
    let (replayed, works) = runtime()?.block_on(on_our_side(args, &trace))?;
    let costs = match &peer {
        Some(peer) => {
            eprintln!("the peer has {} slots and {}", peer.slots, peer.model);
            Some(peer.replay(&works, |at, cost| tell("peer", &trace, at, cost))?)
        }
        None => None,
    };
    let left_out = replayed.left_out(&trace);
    let report = TraceReport::new(&trace, &replayed.costs, costs.as_deref(), fewest(&works), left_out);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the calls of a run of the data folder, or of a file.
fn trace(args: &EngineTraceArgs) -> Result<Trace> {
    match args.trace.parse::<i64>() {
        Ok(_) => Trace::of(&archive(args)?.run.calls),
        Err(_) => Trace::read(Path::new(&args.trace)),
    }
}

fn archive(args: &EngineTraceArgs) -> Result<RunArchive> {
    let run = args.trace.parse::<i64>();
    let run = run.with_context(|| format!("{:?} is no number of a run", args.trace))?;
    let data = DataFolder::locate(args.data_dir.clone())?;
    let magis = open(data.root(), args.engine.models_dir.as_ref())?;
    magis.archive(RunId(run)).with_context(|| format!("reading run {run}"))
}

/// Makes the calls in a fresh worker, and words what the peer is asked in their place.
async fn on_our_side(args: &EngineTraceArgs, trace: &Trace) -> Result<(Replayed, Vec<Vec<Vec<Completion>>>)> {
    let scratch = tempfile::tempdir().context("making a scratch folder")?;
    let magis = open(scratch.path(), args.engine.models_dir.as_ref())?;
    let worker = Arc::new(load(&magis, &model_of(&magis, &args.engine), &args.limits()).await?);
    let model: Arc<dyn LanguageModel> = worker.clone();
    if model.card().name != trace.model {
        eprintln!(
            "the run was made with {}, and is replayed with {}",
            trace.model,
            model.card().name
        );
    }
    let replayed = ours::replay(&model, trace, |at, cost| tell("ours", trace, at, cost)).await?;
    let works = of_trace(model.as_ref(), trace, &replayed.replies).await?;
    // The peer has the machine for itself.
    worker.shutdown().await;
    Ok((replayed, works))
}

/// Says how far a long measurement is.
fn tell(side: &str, trace: &Trace, at: usize, cost: &GroupCost) {
    let group = &trace.groups[at];
    let step = group.first().map_or("", |call| call.step.as_str());
    eprintln!(
        "{side} [{}/{}] {step}: {} calls in {:.1} s",
        at + 1,
        trace.groups.len(),
        group.len(),
        cost.seconds
    );
}
