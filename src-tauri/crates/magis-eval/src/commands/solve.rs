//! `magis-eval solve`: each issue becomes a run of the engine, driven to its end.
//!
//! The reference of an issue is not known here.

use super::set::{Job, Set, SetPlan};
use super::{STOPPED, drive_until, runtime, stop_on_interrupt};
use crate::args::SolveSetArgs;
use anyhow::{Result, bail};
use magis_core::{Hint, HintsMode, QaMode, RelevanceMode, RunEvent, RunId, TestsMode};
use magis_engine::LoadedModel;
use magis_engine::{DriveEnd, EngineLimits, SolveRequest};
use magis_eval::results::{Files, Hints, Memory, Method, Qa, RunLine, RunState};
use magis_repo::BaseChoice;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The number of runs in a row that may get stuck before the set is given up.
const STUCK_IN_A_ROW: u32 = 3;

/// How far a run is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    End,
    /// To the judgement of its candidates.
    Judged,
}

/// Solves a set of issues, one run each, and records what came of it.
pub fn solve(args: &SolveSetArgs) -> Result<ExitCode> {
    let set = Set::begin(&SetPlan {
        which: &args.set.which,
        engine: &args.set.engine,
        out: &args.set.out,
        data_dir: args.set.data_dir.as_ref(),
        label: args.set.label.as_ref(),
        method: Method::Magis,
        files: if args.given_files { Files::Given } else { Files::Located },
        hints: if args.set.hints { Hints::Given } else { Hints::Withheld },
        qa: if args.no_qa { Qa::Absent } else { Qa::Reviewing },
        relevance: if args.by_description {
            RelevanceMode::Description
        } else {
            RelevanceMode::Code
        },
        memory: if args.shared_memory {
            Memory::Shared
        } else {
            Memory::Empty
        },
        top_k: args.top_k,
        max_rounds: args.max_rounds,
        seed: args.set.seed,
    })?;
    runtime()?.block_on(drive_all(&set, Until::End, &args.set.engine.limits()))
}

/// Drives the runs of a set, one after the other; the model stays loaded.
pub async fn drive_all(set: &Set, until: Until, limits: &EngineLimits) -> Result<ExitCode> {
    let stop = stop_on_interrupt();
    let mut model: Option<Arc<LoadedModel>> = None;
    let mut stuck = 0;
    let mut unable = 0;
    for (at, job) in set.jobs.iter().enumerate() {
        let id = &job.instance.id;
        let known = set.results.runs()?.remove(id);
        let run = match known {
            Some(RunLine {
                state: RunState::Ended { outcome, .. },
                ..
            }) => {
                set.say(at, id, &format!("{outcome}  (done before)"));
                continue;
            }
            Some(RunLine { run, .. }) => run,
            None => match prepare(set, job, limits) {
                Ok(run) => run,
                Err(error) => {
                    set.say(at, id, &format!("cannot begin: {error:#}"));
                    unable += 1;
                    continue;
                }
            },
        };
        let loaded = match &model {
            Some(model) => Arc::clone(model),
            None => {
                let loaded = Arc::new(set.magis.load_model(run, limits).await?);
                Arc::clone(model.insert(loaded))
            }
        };
        match drive(set, run, loaded, until, &stop).await {
            Ok(Driven::Over(outcome)) => {
                stuck = 0;
                set.close(at, job, run, outcome)?;
            }
            Ok(Driven::Stopped) => {
                set.say(at, id, "stopped; the same command goes on here");
                if let Some(model) = model {
                    model.shutdown().await;
                }
                return Ok(ExitCode::from(STOPPED));
            }
            Err(error) => {
                let reason = format!("{error:#}");
                set.say(at, id, &format!("stuck: {reason}"));
                let state = RunState::Stuck { reason };
                set.results.note_run(&RunLine {
                    instance_id: id.clone(),
                    run,
                    state,
                })?;
                stuck += 1;
                if stuck == STUCK_IN_A_ROW {
                    bail!("{stuck} runs in a row got stuck; mend the cause and go on with the same command");
                }
                // The worker may be what is broken.
                model = None;
            }
        }
    }
    if let Some(model) = model {
        model.shutdown().await;
    }
    Ok(if unable == set.jobs.len() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn prepare(set: &Set, job: &Job, limits: &EngineLimits) -> Result<RunId> {
    let instance = &job.instance;
    let place = match set.setting.memory {
        Memory::Empty => instance.id.0.clone(),
        Memory::Shared => instance.repo.replace('/', "+"),
    };
    let clone = set.results.work().join(place);
    set.repositories
        .scratch_clone(&instance.repo, &instance.base_commit, &clone)?;
    let hints = match set.setting.hints {
        Hints::Given if !instance.hints_text.trim().is_empty() => vec![Hint::Comments(instance.hints_text.clone())],
        Hints::Given | Hints::Withheld => Vec::new(),
    };
    let wish = SolveRequest {
        repository: clone,
        base: BaseChoice::Revision {
            name: instance.base_commit.0.clone(),
        },
        issue: instance.problem_statement.clone(),
        hints,
        hints_mode: HintsMode::Use,
        files: job.files.iter().map(ToString::to_string).collect(),
        model: Some(set.magis.model_name(&set.setting.model)?),
        seed: set.setting.seed,
        top_k: set.setting.top_k,
        max_rounds: set.setting.max_rounds,
        attempts: 1,
        places: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: match set.setting.qa {
            Qa::Reviewing => QaMode::Review,
            Qa::Absent => QaMode::Skip,
        },
        relevance: set.setting.relevance,
        without: BTreeSet::new(),
    };
    let prepared = set.magis.prepare(wish, limits)?;
    let run = prepared.run;
    set.results.note_run(&RunLine {
        instance_id: instance.id.clone(),
        run,
        state: RunState::Begun,
    })?;
    Ok(run)
}

/// How far a run came.
enum Driven {
    /// As far as it should, and what to call that where its own outcome does not say.
    Over(Option<&'static str>),
    Stopped,
}

async fn drive(
    set: &Set,
    run: RunId,
    model: Arc<LoadedModel>,
    until: Until,
    stop: &CancellationToken,
) -> Result<Driven> {
    let far_enough =
        || -> Result<bool> { Ok(until == Until::Judged && !set.magis.state(run)?.judgements().is_empty()) };
    if far_enough()? {
        return Ok(Driven::Over(Some("judged")));
    }
    let is_enough = move |event: &RunEvent| until == Until::Judged && matches!(event, RunEvent::RelevanceJudged { .. });
    let end = drive_until(&set.magis, run, Arc::clone(&model.model), stop, is_enough).await?;
    Ok(match end {
        DriveEnd::Ended(_) => Driven::Over(None),
        DriveEnd::Stopped if far_enough()? => Driven::Over(Some("judged")),
        DriveEnd::Stopped => Driven::Stopped,
    })
}
