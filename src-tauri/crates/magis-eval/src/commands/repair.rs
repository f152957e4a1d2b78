//! `magis-eval repair`: runs a set of mutated bugs end to end and judges what comes of it: the patch, and every attempt that was made.
//!
//! The failing tests are the judge's; a run sees the base commit alone. Rows are appended as they are done, and a bug that has its row is not run
//! again, so the command can be stopped and started.

use super::mutate::{repository_of, tree_of};
use super::{load, model_of, open, runtime, sandbox_helper};
use crate::args::RepairArgs;
use anyhow::{Context as _, Result};
use magis_core::{
    FileChange, HintsMode, IssueChecks, Proof, QaMode, RelevanceMode, RepoPath, RunId, TestLine, TestsMode,
};
use magis_engine::model::WorkerModel;
use magis_engine::tests::IsolationTerm;
use magis_engine::{Magis, SolveRequest};
use magis_eval::instances::{InstanceId, rows};
use magis_eval::mutation::{BugRepository, MutatedBug, Resolution, SandboxedTree, judge};
use magis_eval::repositories::Repositories;
use magis_eval::statistics::median;
use magis_flow::Run;
use magis_repo::{BaseChoice, ObjectStore, Repository, Snapshot, apply_changes};
use magis_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long the tests of a patch may take.
const TIME: Duration = Duration::from_mins(3);

/// What came of one bug.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RepairRow {
    id: InstanceId,
    run: RunId,
    applied: bool,
    resolved: bool,
    /// Some attempt of the run resolves the bug.
    present: bool,
    /// How many attempts of different code were judged.
    attempts: usize,
    /// At which of the places that were tried the reference changes something, from 1; none where at none.
    place: Option<usize>,
    /// What the run says of its patch.
    proof: Proof,
    /// How many checks showed the fault on the base.
    checks: usize,
    /// Files of the patch that the reference does not touch.
    needless_files: usize,
    seconds: f64,
    /// Tokens that the model computed and wrote.
    tokens: u64,
    why: String,
}

/// Runs `magis-eval repair`.
pub fn repair(args: &RepairArgs) -> Result<ExitCode> {
    let bugs: Vec<MutatedBug> = rows::<MutatedBug>(&args.set)?
        .into_iter()
        .filter(|bug| args.only.is_empty() || args.only.iter().any(|text| bug.instance_id.0.contains(text)))
        .take(args.limit.unwrap_or(usize::MAX))
        .collect();
    let mut done: Vec<RepairRow> = if args.out.is_file() {
        rows(&args.out)?
    } else {
        Vec::new()
    };
    let known: BTreeSet<InstanceId> = done.iter().map(|row| row.id.clone()).collect();
    let runtime = runtime()?;
    let bench = runtime.block_on(RepairBench::open(args))?;
    let total = bugs.len();
    for (number, bug) in (1..).zip(bugs) {
        if known.contains(&bug.instance_id) {
            continue;
        }
        let row = runtime
            .block_on(bench.one(&bug))
            .with_context(|| format!("repairing {}", bug.instance_id))?;
        eprintln!(
            "[{number}/{total}] {}: {}, {}, {:.0} s",
            row.id,
            if row.resolved { "resolved" } else { "not resolved" },
            row.proof,
            row.seconds
        );
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&args.out)?;
        writeln!(file, "{}", serde_json::to_string(&row)?)?;
        done.push(row);
    }
    runtime.block_on(bench.close());
    let summary = summary(&done);
    println!("{}", serde_json::to_string_pretty(&summary)?);
    Ok(ExitCode::SUCCESS)
}

/// Counts what the rows say.
fn summary(rows: &[RepairRow]) -> serde_json::Value {
    let count = |is: &dyn Fn(&RepairRow) -> bool| rows.iter().filter(|row| is(row)).count();
    let at_place = |k: usize| count(&|row| row.place.is_some_and(|place| place <= k));
    serde_json::json!({
        "bugs": rows.len(),
        "applied": count(&|row| row.applied),
        "resolved": count(&|row| row.resolved),
        "right_attempt_present": count(&|row| row.present),
        "present_not_chosen": count(&|row| row.present && !row.resolved),
        "shown_to_work": count(&|row| row.proof.is_shown()),
        "wrong_shown_to_work": count(&|row| row.proof.is_shown() && !row.resolved),
        "with_a_check": count(&|row| row.checks > 0),
        "place_at": { "1": at_place(1), "3": at_place(3), "5": at_place(5) },
        "resolved_with_needless_files": count(&|row| row.resolved && row.needless_files > 0),
        "median_seconds": median(rows.iter().map(|row| row.seconds)),
    })
}

/// What all bugs of a set share.
struct RepairBench<'a> {
    args: &'a RepairArgs,
    magis: Magis,
    model: Arc<WorkerModel>,
    name: String,
    sandbox: Sandbox,
    repositories: Repositories,
}

impl<'a> RepairBench<'a> {
    async fn open(args: &'a RepairArgs) -> Result<Self> {
        let magis = open(&args.work.join("repair/data"), args.engine.models_dir.as_ref())?;
        let name = magis.model_name(&model_of(&magis, &args.engine))?;
        let model = Arc::new(load(&magis, &name, &args.engine.limits()).await?);
        Ok(Self {
            args,
            model,
            name,
            sandbox: Sandbox::confined(sandbox_helper()?).await?,
            repositories: Repositories::new(&args.work.join("repos"))?,
            magis,
        })
    }

    async fn close(self) {
        if let Ok(model) = Arc::try_unwrap(self.model) {
            model.shutdown().await;
        }
    }

    async fn one(&self, bug: &MutatedBug) -> Result<RepairRow> {
        let clone = self.args.work.join("repair/clones").join(&bug.instance_id.0);
        let commit = if self.args.red {
            &bug.red_commit
        } else {
            &bug.base_commit
        };
        self.repositories.scratch_clone(&bug.repo, commit, &clone)?;
        // What is installed beside the project, outside of git, belongs to it.
        let (installed, link) = (
            tree_of(&self.args.work, &bug.repo).join("node_modules"),
            clone.join("node_modules"),
        );
        if installed.is_dir() && !link.exists() {
            copy_folder(&installed, &link)?;
        }
        let begun = Instant::now();
        let run = self.prepare(bug, &clone, commit)?;
        let (progress, _watch) = tokio::sync::mpsc::unbounded_channel();
        let model: Arc<WorkerModel> = Arc::clone(&self.model);
        self.magis.drive(run, model, CancellationToken::new(), progress).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let state = self.magis.state(run)?;
        let repository = repository_of(&self.args.work, &bug.repo)?;
        let tree = SandboxedTree::new(self.sandbox.clone(), &tree_of(&self.args.work, &bug.repo))?;
        let patch = state.merged().map(|merged| merged.patch.clone()).unwrap_or_default();
        let told = self.judged(bug, &patch, &repository, &tree).await?;
        let (mut present, mut judged) = (told.resolved, BTreeSet::from([patch.clone()]));
        for attempt in attempts(&state, &clone)? {
            if present {
                break;
            }
            if judged.insert(attempt.clone()) {
                present |= self.judged(bug, &attempt, &repository, &tree).await?.resolved;
            }
        }
        let tokens = self
            .magis
            .calls(run)?
            .iter()
            .map(|call| u64::from(call.record.prompt_tokens + call.record.generated_tokens))
            .sum();
        let files = magis_repo::Patch::parse(&patch)
            .map(|patch| patch.files)
            .unwrap_or_default();
        Ok(RepairRow {
            id: bug.instance_id.clone(),
            run,
            applied: told.applied,
            resolved: told.resolved,
            present,
            attempts: judged.len(),
            place: place(bug, &state),
            proof: state.proof(),
            checks: state.checks().len(),
            needless_files: files.iter().filter(|file| !bug.gold.contains_key(&file.path)).count(),
            seconds,
            tokens,
            why: told.why,
        })
    }

    fn prepare(&self, bug: &MutatedBug, clone: &Path, commit: &magis_core::CommitId) -> Result<RunId> {
        let args = self.args;
        let repo = self.magis.add_repository(clone)?;
        let base = BaseChoice::Revision { name: commit.0.clone() };
        let command = self
            .magis
            .test_commands(repo, &base, Some(&bug.test_command))?
            .remove(0);
        let tests = if args.no_tests {
            TestsMode::Skip
        } else {
            self.magis.allow_tests(repo, &command, IsolationTerm::Required)?;
            TestsMode::Run {
                command: Some(TestLine {
                    line: command.line(),
                    folder: command.folder,
                }),
                failing: Vec::new(),
                checks: if args.no_checks {
                    IssueChecks::Skip
                } else {
                    IssueChecks::Make
                },
            }
        };
        let wish = SolveRequest {
            repository: clone.to_owned(),
            base,
            issue: bug.problem_statement.clone(),
            hints: Vec::new(),
            hints_mode: HintsMode::Use,
            files: Vec::new(),
            model: Some(self.name.clone()),
            seed: args.seed,
            top_k: 20,
            max_rounds: args.max_rounds,
            attempts: args.attempts,
            places: args.places,
            writing: Vec::new(),
            tests,
            qa: if args.no_qa { QaMode::Skip } else { QaMode::Review },
            relevance: RelevanceMode::Code,
        };
        Ok(self.magis.prepare(wish, &args.engine.limits())?.run)
    }

    async fn judged(
        &self,
        bug: &MutatedBug,
        patch: &str,
        repository: &BugRepository,
        tree: &SandboxedTree,
    ) -> Result<Resolution> {
        let mut judged = bug.clone();
        if self.args.red {
            // The tests are there already.
            judged.base_commit.clone_from(&bug.red_commit);
            judged.test_patch.clear();
        }
        judge(&judged, patch, repository, tree, TIME).await
    }
}

/// Returns each usable attempt of a run as a patch, each once.
fn attempts(state: &Run, clone: &Path) -> Result<Vec<String>> {
    let repository = Repository::open(clone)?;
    let scratch = tempfile::tempdir().context("making a scratch folder")?;
    let objects = ObjectStore::open(scratch.path().join("objects"), &repository)?;
    let base = BaseChoice::Revision {
        name: state.base().commit.0.clone(),
    };
    let snapshot = Snapshot::take(&repository, &objects, &base)?;
    let mut patches = Vec::new();
    for task in state.tasks() {
        for attempt in task.rounds.iter().flat_map(|round| round.attempts.values()) {
            let Some(change) = attempt.usable_change().filter(|_| attempt.same_as().is_none()) else {
                continue;
            };
            let changes: [(RepoPath, FileChange); 1] = [(task.task.path.clone(), change.clone())];
            if let Ok((_, patch)) = apply_changes(&snapshot, &changes) {
                patches.push(patch);
            }
        }
    }
    Ok(patches)
}

/// Returns at which of the places, in the order in which they were tried, the reference changes something.
fn place(bug: &MutatedBug, state: &Run) -> Option<usize> {
    let mut places = Vec::new();
    for task in state.tasks() {
        for place in task.rounds.iter().flat_map(|round| &round.places) {
            places.push((&task.task.path, &place.spans));
        }
    }
    let hits = |(path, spans): &(&RepoPath, &Vec<magis_core::LineSpan>)| {
        let gold = bug.gold.get(*path).into_iter().flatten();
        gold.into_iter()
            .any(|gold| spans.iter().any(|span| span.intersection(*gold).is_some()))
    };
    places.iter().position(hits).map(|at| at + 1)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
