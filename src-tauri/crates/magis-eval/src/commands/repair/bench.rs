//! What all bugs of a set share while they are repaired: the program, the model, the sandbox, the repositories.

use super::super::environments::{JudgeEnvironments, copy_file};
use super::super::mutate::tree_of;
use super::super::one_shot::{GivenFile, OneShot};
use super::super::{drive_until, load, model_of, open, sandbox_helper};
use super::case::{CaseJudge, LeftOut, RepairCase, TIME};
use super::row::{RepairRow, StageCost};
use crate::args::RepairArgs;
use anyhow::{Context as _, Result};
use magis_core::{
    ChangeTests, FileChange, HintsMode, IssueChecks, Proof, QaMode, RelevanceMode, RepoId, RepoPath, RunEvent, RunId,
    Stage, TestLine, TestsMode,
};
use magis_engine::model::WorkerModel;
use magis_engine::tests::{IsolationTerm, TestCommand};
use magis_engine::{Effort, Magis, SolveRequest};
use magis_eval::record::RunRecord;
use magis_eval::repair::patch_of;
use magis_eval::repositories::{Repositories, ignored};
use magis_flow::Run;
use magis_llm::LanguageModel as _;
use magis_repo::{BaseChoice, ObjectStore, Patch, Repository, Snapshot, apply_changes};
use magis_sandbox::Sandbox;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What all bugs of a set share.
pub struct RepairBench<'a> {
    args: &'a RepairArgs,
    label: String,
    work: PathBuf,
    magis: Magis,
    model: Arc<WorkerModel>,
    name: String,
    sandbox: Sandbox,
    environments: JudgeEnvironments,
}

impl<'a> RepairBench<'a> {
    /// Opens all of it; the model is loaded once.
    pub async fn open(args: &'a RepairArgs, label: String) -> Result<Self> {
        let work = std::path::absolute(&args.work).with_context(|| format!("finding {}", args.work.display()))?;
        let repos = args.repos.clone().unwrap_or_else(|| work.join("repos"));
        let environments = JudgeEnvironments::new(Repositories::new(&repos)?, &work, args.judge.as_ref(), &args.set)?;
        let magis = open(&work.join("repair/data"), args.engine.models_dir.as_ref())?;
        let word = model_of(&magis, &args.engine);
        let model = Arc::new(load(&magis, &word, &args.engine.limits()).await?);
        let name = magis.model_name(&word)?;
        Ok(Self {
            args,
            label,
            work,
            model,
            name,
            sandbox: Sandbox::confined(sandbox_helper()?).await?,
            environments,
            magis,
        })
    }

    /// Ends the model's process.
    pub async fn close(self) {
        if let Ok(model) = Arc::try_unwrap(self.model) {
            model.shutdown().await;
        }
    }

    /// Repairs one bug and judges what came of it. The row of a bug that cannot be measured says why it is left out.
    pub async fn one(&self, case: &RepairCase) -> Result<RepairRow> {
        match self.measured(case).await {
            Err(error) if error.is::<LeftOut>() => Ok(RepairRow {
                left_out: Some(format!("{error:#}")),
                ..self.row(case, "")
            }),
            row => row,
        }
    }

    async fn measured(&self, case: &RepairCase) -> Result<RepairRow> {
        if case.has_environment() && !self.args.only_places {
            // Without its judge no bug of the set can be measured, and none is run for nothing.
            self.environments.script()?;
        }
        let judge = CaseJudge::prepare(case, &self.work, &self.sandbox, &self.environments)?;
        let attempt_time = judge.attempt_time().await?;
        if self.args.one_shot {
            self.one_shot(case, &judge).await
        } else {
            self.run(case, &judge, attempt_time).await
        }
    }

    async fn run(&self, case: &RepairCase, judge: &CaseJudge<'_>, attempt_time: Duration) -> Result<RepairRow> {
        let clone = self.clone_of(case).context(LeftOut::Environment)?;
        let begun = Instant::now();
        let run = self.prepare(case, &clone)?;
        let only_places = self.args.only_places;
        let is_enough = move |event: &RunEvent| only_places && matches!(event, RunEvent::LinesChosen { .. });
        let stop = CancellationToken::new();
        drive_until(&self.magis, run, Arc::clone(&self.model), &stop, is_enough).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let record = RunRecord::of(self.magis.archive(run)?)?;
        let state = &record.state;
        let stages = stages(&record);
        let row = RepairRow {
            run: Some(run),
            place: place(case, state),
            checks: state.checks().len(),
            grade: state.checks().iter().map(|check| check.grade).max(),
            seconds,
            tokens: stages.values().map(|cost| cost.tokens).sum(),
            stages,
            ..self.row(case, record.patch())
        };
        if only_places {
            return Ok(row);
        }
        // Read before anything is judged: a judge may clear the clone away.
        let attempts = attempts(state, &clone)?;
        let patch = record.patch().to_owned();
        let told = judge.judge(&patch, TIME).await?;
        let (mut present, mut judged) = (told.resolved, BTreeSet::from([patch.clone()]));
        for attempt in attempts {
            if present {
                break;
            }
            if judged.insert(attempt.clone()) {
                present |= judge.judge(&attempt, attempt_time).await?.resolved;
            }
        }
        Ok(RepairRow {
            applied: told.applied,
            resolved: told.resolved,
            present,
            attempts: judged.len(),
            proof: state.proof(),
            why: told.why,
            ..row
        })
    }

    async fn one_shot(&self, case: &RepairCase, judge: &CaseJudge<'_>) -> Result<RepairRow> {
        let begun = Instant::now();
        let files = self.reference_files(case)?;
        let shot = OneShot {
            issue: &case.issue,
            comments: "",
            files: &files,
        };
        let (request, _left_out) = shot.request(&*self.model).await?;
        let reply = self.model.chat(&request, &mut |_| ()).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let paths: Vec<RepoPath> = files.iter().map(|file| file.path.clone()).collect();
        let text = |path: &RepoPath| {
            files
                .iter()
                .find(|file| file.path == *path)
                .map(|file| file.text.clone())
        };
        let patch = patch_of(&reply.text, &paths, &text).patch;
        let told = judge.judge(&patch, TIME).await?;
        let tokens = u64::from(reply.usage.prompt_tokens) + u64::from(reply.usage.generated_tokens);
        Ok(RepairRow {
            applied: told.applied,
            resolved: told.resolved,
            present: told.resolved,
            attempts: 1,
            seconds,
            tokens,
            stages: BTreeMap::from([(Stage::Code, StageCost { seconds, tokens })]),
            why: told.why,
            ..self.row(case, &patch)
        })
    }

    /// Returns a row of a bug with nothing in it but the files of a patch.
    fn row(&self, case: &RepairCase, patch: &str) -> RepairRow {
        let files = Patch::parse(patch).map(|patch| patch.files).unwrap_or_default();
        RepairRow {
            id: case.id.clone(),
            commit: case.bug.clone(),
            label: self.label.clone(),
            run: None,
            applied: false,
            resolved: false,
            present: false,
            attempts: 0,
            place: None,
            proof: Proof::NotRun,
            checks: 0,
            grade: None,
            files: files.len(),
            needless_files: files.iter().filter(|file| !case.gold.contains_key(&file.path)).count(),
            seconds: 0.0,
            tokens: 0,
            stages: BTreeMap::new(),
            why: String::new(),
            left_out: None,
        }
    }

    /// Returns a clone of the bug's repository at its commit, with what is installed beside it.
    fn clone_of(&self, case: &RepairCase) -> Result<PathBuf> {
        if case.has_environment() {
            return self.environments.tree_in_use(&case.id, &case.repo, &case.commit);
        }
        let clone = self.work.join("repair/clones").join(&case.id.0);
        self.environments
            .repositories()
            .check_out(&case.repo, &case.commit, &clone)?;
        // What is installed beside the project and built in it, outside of git, belongs to it.
        let tree = tree_of(&self.work, &case.repo);
        let (installed, link) = (tree.join("node_modules"), clone.join("node_modules"));
        if installed.is_dir() && !link.exists() {
            copy_folder(&installed, &link)?;
        }
        for path in ignored(&tree, &clone)? {
            let target = clone.join(path.as_str());
            if !target.exists() {
                fs::create_dir_all(target.parent().unwrap_or(&clone))?;
                fs::copy(tree.join(path.as_str()), &target).with_context(|| format!("copying {path}"))?;
            }
        }
        Ok(clone)
    }

    fn reference_files(&self, case: &RepairCase) -> Result<Vec<GivenFile>> {
        let repositories = self.environments.repositories();
        let blobs: BTreeMap<RepoPath, _> = repositories.files(&case.repo, &case.commit)?.into_iter().collect();
        let mut files = Vec::new();
        // A file that the reference makes is not there yet.
        for (path, blob) in case.gold.keys().filter_map(|path| blobs.get_key_value(path)) {
            let text = repositories.text(&case.repo, &case.commit, path)?;
            files.push(GivenFile {
                path: path.clone(),
                blob: blob.clone(),
                text: text.with_context(|| format!("{path} is not a text file of {}", case.commit))?,
            });
        }
        Ok(files)
    }

    fn prepare(&self, case: &RepairCase, clone: &Path) -> Result<RunId> {
        let args = self.args;
        let base = BaseChoice::Revision {
            name: case.commit.0.clone(),
        };
        let quick = args.quick.then_some(Effort::Quick);
        let wish = SolveRequest {
            repository: clone.to_owned(),
            issue: case.issue.clone(),
            hints: Vec::new(),
            hints_mode: HintsMode::Use,
            files: Vec::new(),
            model: Some(self.name.clone()),
            seed: args.seed,
            top_k: quick.unwrap_or_default().top_k(),
            max_rounds: quick.map_or(args.max_rounds, Effort::max_rounds),
            attempts: quick.map_or(args.attempts, Effort::attempts),
            places: quick.map_or(args.places, Effort::places),
            writing: args.writing(),
            tests: self.tests(case, clone, &base)?,
            qa: if args.no_qa {
                QaMode::Skip
            } else {
                quick.unwrap_or_default().qa()
            },
            relevance: RelevanceMode::Code,
            without: args.without(),
            base,
        };
        Ok(self.magis.prepare(wish, &args.engine.limits())?.run)
    }

    fn tests(&self, case: &RepairCase, clone: &Path, base: &BaseChoice) -> Result<TestsMode> {
        if self.args.no_tests || self.args.quick {
            return Ok(TestsMode::Skip);
        }
        let repo = self.magis.add_repository(clone)?;
        let command = self.allowed_command(case, repo, base)?;
        Ok(TestsMode::Run {
            command: command.map(|command| TestLine {
                line: command.line(),
                folder: command.folder,
            }),
            failing: Vec::new(),
            checks: if self.args.no_checks {
                IssueChecks::Skip
            } else {
                IssueChecks::Make
            },
        })
    }

    /// Allows what a run may run. Returns the command of the project's tests, where there is one and it is to be run.
    fn allowed_command(&self, case: &RepairCase, repo: RepoId, base: &BaseChoice) -> Result<Option<TestCommand>> {
        if self.args.no_project_tests {
            self.magis.allow_issue_code(repo, IsolationTerm::Required)?;
            return Ok(None);
        }
        let commands = self.magis.test_commands(repo, base, case.command.as_deref())?;
        let command = commands.into_iter().next();
        if let Some(command) = &command {
            self.magis.allow_tests(repo, command, IsolationTerm::Required)?;
        }
        Ok(command)
    }
}

/// Returns what each stage took: the time between its events, and the tokens of its calls.
fn stages(record: &RunRecord) -> BTreeMap<Stage, StageCost> {
    let mut stages: BTreeMap<Stage, StageCost> = BTreeMap::new();
    for (stage, ms) in &record.stages {
        stages.entry(*stage).or_default().seconds += *ms as f64 / 1000.0;
    }
    for call in &record.calls {
        let stage = magis_engine::stage_of_step(&call.step).unwrap_or(Stage::Code);
        stages.entry(stage).or_default().tokens += u64::from(call.prompt_tokens) + u64::from(call.generated_tokens);
    }
    stages
}

/// Returns the attempts of a run that may resolve the bug as patches: those that can be used, and whose code what shows the fault does not fail with.
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
            let fails = |tested: &ChangeTests| !tested.checks.is_empty() && tested.passed_checks() == 0;
            let is_out = attempt.same_as().is_some() || attempt.tested.as_ref().is_some_and(fails);
            let Some(change) = attempt.usable_change().filter(|_| !is_out) else {
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
fn place(case: &RepairCase, state: &Run) -> Option<usize> {
    let mut places = Vec::new();
    for task in state.tasks() {
        for place in task.rounds.iter().flat_map(|round| &round.places) {
            places.push((&task.task.path, &place.spans));
        }
    }
    let hits = |(path, spans): &(&RepoPath, &Vec<magis_core::LineSpan>)| {
        let gold = case.gold.get(*path).into_iter().flatten();
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
        } else if kind.is_symlink() || kind.is_file() {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}
