//! `magis-eval baseline`: the model alone. Issue and given files in one prompt, a unified diff back.
//!
//! A run with one call is recorded: the files as given candidates, the call, the patch. Its merged tree is the base's,
//! because nothing keeps the objects of a change that no run made; the patch is what counts.

use super::one_shot::{GivenFile, OneShot, PROMPT};
use super::set::{Job, Set, SetPlan};
use super::{STOPPED, load, runtime, stop_on_interrupt};
use crate::args::SetArgs;
use anyhow::{Context as _, Result};
use magis_core::{
    Agent, Base, BlobId, Candidate, Evidence, Hint, HintsMode, Issue, Judgement, MergeResult, QaMode, RelevanceMode,
    RepoPath, RunEvent, RunId, RunOutcome, RunRequest, TestsMode, TreeId,
};
use magis_engine::EngineLimits;
use magis_eval::repair::{Repaired, patch_of};
use magis_eval::results::{Files, Hints, Memory, Method, Qa, RunLine, RunState};
use magis_llm::{ChatReply, ChatRequest, FinishReason, LanguageModel};
use magis_platform::{hex, now_ms};
use magis_store::{CallKind, CallRecord, NewRepository, NewRun, Store};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// Solves a set with the model alone.
pub fn baseline(args: &SetArgs) -> Result<ExitCode> {
    let set = Set::begin(&SetPlan {
        which: &args.which,
        engine: &args.engine,
        out: &args.out,
        data_dir: args.data_dir.as_ref(),
        label: args.label.as_ref(),
        method: Method::Baseline,
        files: Files::Given,
        hints: if args.hints { Hints::Given } else { Hints::Withheld },
        qa: Qa::Absent,
        relevance: RelevanceMode::Code,
        memory: Memory::Empty,
        top_k: 0,
        max_rounds: 1,
        seed: args.seed,
    })?;
    runtime()?.block_on(ask_all(&set, &args.engine.limits()))
}

async fn ask_all(set: &Set, limits: &EngineLimits) -> Result<ExitCode> {
    let stop = stop_on_interrupt();
    let mut model = None;
    let done = set.results.runs()?;
    for (at, job) in set.jobs.iter().enumerate() {
        let id = &job.instance.id;
        if let Some(RunLine {
            state: RunState::Ended { outcome, .. },
            ..
        }) = done.get(id)
        {
            set.say(at, id, &format!("{outcome}  (done before)"));
            continue;
        }
        let loaded = match &model {
            Some(model) => model,
            None => model.insert(load(&set.magis, &set.setting.model, limits).await?),
        };
        let asked = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            asked = ask(set, job, loaded) => Some(asked),
        };
        match asked {
            None => {
                set.say(at, id, "stopped; the same command goes on here");
                break;
            }
            Some(Ok(run)) => set.close(at, job, run, None)?,
            Some(Err(error)) => set.say(at, id, &format!("stuck: {error:#}")),
        }
    }
    if let Some(model) = model {
        model.shutdown().await;
    }
    Ok(if stop.is_cancelled() {
        ExitCode::from(STOPPED)
    } else {
        ExitCode::SUCCESS
    })
}

async fn ask(set: &Set, job: &Job, model: &dyn LanguageModel) -> Result<RunId> {
    let started = now_ms();
    let files = given_files(set, job)?;
    let shot = OneShot {
        issue: &job.instance.problem_statement,
        comments: match set.setting.hints {
            Hints::Given => &job.instance.hints_text,
            Hints::Withheld => "",
        },
        files: &files,
    };
    let (request, left_out) = shot.request(model).await?;
    let reply = model.chat(&request, &mut |_| ()).await?;
    let ended = now_ms();
    let text = |path: &RepoPath| {
        files
            .iter()
            .find(|file| file.path == *path)
            .map(|file| file.text.clone())
    };
    let repaired = patch_of(&reply.text, &job.files, &text);
    record(
        set,
        job,
        &files,
        &Asked {
            request,
            reply,
            repaired,
            left_out,
            started,
            ended,
        },
        model,
    )
}

fn given_files(set: &Set, job: &Job) -> Result<Vec<GivenFile>> {
    let instance = &job.instance;
    let blobs: BTreeMap<RepoPath, BlobId> = set
        .repositories
        .files(&instance.repo, &instance.base_commit)?
        .into_iter()
        .collect();
    let file = |path: &RepoPath| {
        let text = set.repositories.text(&instance.repo, &instance.base_commit, path)?;
        let text = text.with_context(|| format!("{path} is not a text file of {}", instance.base_commit))?;
        let blob = blobs
            .get(path)
            .with_context(|| format!("{path} is not in {}", instance.base_commit))?
            .clone();
        Ok(GivenFile {
            path: path.clone(),
            blob,
            text,
        })
    };
    job.files.iter().map(file).collect()
}

/// A call that came to an end.
struct Asked {
    request: ChatRequest,
    reply: ChatReply,
    repaired: Repaired,
    left_out: Vec<String>,
    started: i64,
    ended: i64,
}

/// Returns what the run of a job is asked, as it is recorded.
fn request(set: &Set, job: &Job) -> Result<RunRequest> {
    let instance = &job.instance;
    let hints = match set.setting.hints {
        Hints::Given if !instance.hints_text.trim().is_empty() => vec![Hint::Comments(instance.hints_text.clone())],
        Hints::Given | Hints::Withheld => Vec::new(),
    };
    Ok(RunRequest {
        issue: Issue::new(&instance.problem_statement)?,
        hints,
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: job.files.clone(),
        model: set.setting.model.clone(),
        seed: set.setting.seed,
        top_k: 1,
        max_rounds: 1,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Skip,
    })
}

fn record(set: &Set, job: &Job, files: &[GivenFile], asked: &Asked, model: &dyn LanguageModel) -> Result<RunId> {
    let instance = &job.instance;
    let store = Store::open(set.magis.data().root())?;
    let root = set.repositories.find(&instance.repo)?.to_string_lossy().into_owned();
    let repo = store.upsert_repository(
        &NewRepository {
            root,
            name: instance.repo.clone(),
            identity: None,
        },
        asked.started,
    )?;
    let request = request(set, job)?;
    let run = store.create_run(&NewRun {
        repo,
        request: request.clone(),
        parent: None,
        created_at: asked.started,
    })?;
    let tree = TreeId(set.repositories.tree(&instance.repo, &instance.base_commit)?);
    let commit = instance.base_commit.clone();
    let base = Base {
        name: commit.0.clone(),
        commit,
        tree: tree.clone(),
        uncommitted: false,
    };
    let candidate = |file: &GivenFile| Candidate {
        path: file.path.clone(),
        blob: file.blob.clone(),
        score: 0.0,
        evidence: vec![Evidence::Given],
    };
    let judgement = |file: &GivenFile| Judgement {
        path: file.path.clone(),
        naming: None,
        yes_no: None,
        relevance: 0.0,
        kept: true,
    };
    let begin = [
        RunEvent::RunStarted {
            request: Box::new(request),
            base,
        },
        RunEvent::CandidatesRanked {
            candidates: files.iter().map(candidate).collect(),
            skipped: Vec::new(),
        },
        RunEvent::RelevanceJudged {
            judgements: files.iter().map(judgement).collect(),
        },
    ];
    for (at, event) in begin.iter().enumerate() {
        store.append_event(run, at as u32 + 1, asked.started, event)?;
    }
    store.record_call(run, &call(set, asked, model)?)?;
    let patch = asked.repaired.patch.clone();
    let end = if patch.is_empty() {
        vec![RunEvent::RunEnded {
            outcome: RunOutcome::NoChange {
                reason: "the answer holds no diff".to_owned(),
            },
        }]
    } else {
        let message = asked.repaired.notes.join("\n");
        let result = MergeResult {
            tree,
            patch,
            commit_message: message,
            pull_request: String::new(),
        };
        vec![
            RunEvent::Merged { result },
            RunEvent::RunEnded {
                outcome: RunOutcome::NotApproved,
            },
        ]
    };
    for (at, event) in end.iter().enumerate() {
        store.append_event(run, (begin.len() + at) as u32 + 1, asked.ended, event)?;
    }
    Ok(run)
}

fn call(set: &Set, asked: &Asked, model: &dyn LanguageModel) -> Result<CallRecord> {
    let request = serde_json::to_value(&asked.request).context("writing the request")?;
    let reply = serde_json::to_value(&asked.reply).context("writing the reply")?;
    let usage = asked.reply.usage;
    let card = model.card();
    let ms = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let finish = match asked.reply.finish {
        FinishReason::Complete => "complete",
        FinishReason::Length => "length",
        FinishReason::Looping => "looping",
    };
    Ok(CallRecord {
        key: hash(&request.to_string()),
        after_seq: 3,
        agent: Agent::Developer,
        step: "baseline".to_owned(),
        template_hash: hash(PROMPT),
        task: None,
        round: None,
        attempt: None,
        path: None,
        model: card.name.clone(),
        model_sha: card.sha256.clone(),
        seed: set.setting.seed,
        kind: CallKind::Chat,
        request,
        reply,
        finish: finish.to_owned(),
        prompt_tokens: usage.prompt_tokens,
        reused_tokens: usage.reused_tokens,
        generated_tokens: usage.generated_tokens,
        prompt_ms: ms(usage.prompt_ms),
        generate_ms: ms(usage.generate_ms),
        left_out: serde_json::to_value(&asked.left_out).context("writing what was left out")?,
        retries: 0,
        at_ms: asked.ended,
    })
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
