//! `magis-eval score-tasks`: a named model scores task descriptions against the reference changes (appendix G of the
//! paper), as a scored choice among 1 to 5.

use super::{load, open, runtime, stop_on_interrupt};
use crate::args::ScoreTasksArgs;
use anyhow::{Result, bail};
use magis_engine::EngineLimits;
use magis_engine::model::WorkerModel;
use magis_eval::instances::{InstanceId, rows};
use magis_eval::record::RunRecord;
use magis_eval::results::{Results, RunState, TaskScore};
use magis_llm::{LanguageModel, Message, MessageRole, ScoreRequest};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

const PROMPT: &str = include_str!("../prompts/score_tasks.txt");
/// Tokens kept free for the score.
const ROOM: u32 = 64;

/// Scores the runs of a folder that this judge has not scored yet.
pub fn score_tasks(args: &ScoreTasksArgs) -> Result<ExitCode> {
    #[derive(Deserialize)]
    struct Row {
        instance_id: InstanceId,
        patch: Option<String>,
    }
    let patches: BTreeMap<InstanceId, String> = rows::<Row>(&args.instances)?
        .into_iter()
        .filter_map(|row| Some((row.instance_id, row.patch?)))
        .collect();
    let results = Results::open(&args.out)?;
    let setting = results.setting()?;
    let magis = open(&args.out.join(&setting.data_dir), args.models_dir.as_ref())?;
    runtime()?.block_on(async {
        let stop = stop_on_interrupt();
        let limits = EngineLimits {
            context: args.context,
            ..EngineLimits::default()
        };
        let judge = load(&magis, &args.judge, &limits).await?;
        let name = judge.card().name.clone();
        let done = results.task_scores()?;
        let mut scored = 0;
        for (id, line) in results.runs()? {
            if !matches!(line.state, RunState::Ended { .. })
                || done
                    .get(&id)
                    .is_some_and(|score| score.run == line.run && score.judge == name)
            {
                continue;
            }
            let Some(patch) = patches.get(&id) else {
                println!("{id}  the set has no 'patch' for it");
                continue;
            };
            let record = RunRecord::of(magis.archive(line.run)?)?;
            let tasks: Vec<String> = record
                .state
                .tasks()
                .map(|task| format!("{} ({}): {}", task.task.path, task.task.action, task.task.description))
                .collect();
            if tasks.is_empty() {
                println!("{id}  no task came of it");
                continue;
            }
            let tasks = tasks.join("\n");
            let asked = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                asked = ask(&judge, &tasks, patch) => asked?,
            };
            let score = TaskScore {
                instance_id: id,
                run: line.run,
                judge: name.clone(),
                score: asked.0,
                expected: asked.1,
            };
            println!(
                "{}  {} (expected {:.2})",
                score.instance_id, score.score, score.expected
            );
            results.score(&score)?;
            scored += 1;
        }
        judge.shutdown().await;
        println!("{scored} runs scored by {name}");
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns the likeliest score and the expected one.
async fn ask(judge: &WorkerModel, tasks: &str, change: &str) -> Result<(u8, f64)> {
    let budget = judge.card().context.saturating_sub(ROOM);
    let lines: Vec<&str> = change.lines().collect();
    let mut kept = lines.len();
    let messages = loop {
        let mut shown = lines[..kept].join("\n");
        if kept < lines.len() {
            shown.push_str(&format!("\n[the last {} lines are left out]", lines.len() - kept));
        }
        let (before, rest) = PROMPT.split_once("{tasks}").unwrap_or((PROMPT, ""));
        let (between, behind) = rest.split_once("{change}").unwrap_or((rest, ""));
        let content = format!("{before}{tasks}{between}{shown}{behind}");
        let messages = vec![Message::new(MessageRole::User, content)];
        if judge.count_prompt(&messages, "").await? <= budget {
            break messages;
        }
        if kept < 10 {
            bail!(
                "the task descriptions alone exceed the judge's context of {} tokens",
                judge.card().context
            );
        }
        kept = kept * 4 / 5;
    };
    let continuations: Vec<String> = (1..=5).map(|score| score.to_string()).collect();
    let reply = judge
        .score(&ScoreRequest {
            messages,
            answer_prefix: String::new(),
            continuations,
            by_line: false,
        })
        .await?;
    let logs: Vec<f64> = reply.scores.iter().map(|score| score.logprob).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let all: f64 = weights.iter().sum();
    let expected = weights
        .iter()
        .zip(1_u8..)
        .map(|(weight, score)| weight * f64::from(score))
        .sum::<f64>()
        / all;
    let best = (0..weights.len())
        .max_by(|a, b| weights[*a].total_cmp(&weights[*b]))
        .unwrap_or(0);
    Ok((best as u8 + 1, expected))
}
