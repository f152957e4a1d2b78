//! What all bugs of a set share while they are repaired: the program, the model, the sandbox, the repositories.

use super::super::environments::{JudgeEnvironments, copy_file};
use super::super::mutate::tree_of;
use super::super::one_shot::{GivenFile, OneShot};
use super::super::{drive_until, load, model_of, open, sandbox_helper};
use super::attempts::worth_judging;
use super::case::{CaseJudge, LeftOut, RepairCase, TIME};
use super::places::{place_of_reference, tried_places};
use super::row::{RepairRow, RepairWay, StageCost, check_way};
use crate::args::RepairArgs;
use anyhow::{Context as _, Error, Result};
use magis_core::{
    HintsMode, IssueChecks, Proof, QaMode, RelevanceMode, RepoId, RepoPath, RunEvent, RunId, Stage, TestLine, TestsMode,
};
use magis_engine::model::WorkerModel;
use magis_engine::tests::{IsolationTerm, TestCommand};
use magis_engine::{Effort, EngineError, Magis, SolveRequest};
use magis_eval::record::RunRecord;
use magis_eval::repair::patch_of;
use magis_eval::repositories::{Repositories, ignored};
use magis_llm::{LanguageModel as _, LlmError};
use magis_repo::{BaseChoice, Patch};
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
    way: RepairWay,
    work: PathBuf,
    magis: Magis,
    model: Arc<WorkerModel>,
    sandbox: Sandbox,
    environments: JudgeEnvironments,
}

impl<'a> RepairBench<'a> {
    /// Opens all of it; the model is loaded once.
    ///
    /// # Errors
    /// Also when the rows that are there were made in another way.
    pub async fn open(args: &'a RepairArgs, label: String, done: &[RepairRow]) -> Result<Self> {
        let work = std::path::absolute(&args.work).with_context(|| format!("finding {}", args.work.display()))?;
        let repos = args.repos.clone().unwrap_or_else(|| work.join("repos"));
        let environments = JudgeEnvironments::new(Repositories::new(&repos)?, &work, args.judge.as_ref(), &args.set)?;
        let magis = open(&work.join("repair/data"), args.engine.models_dir.as_ref())?;
        let word = model_of(&magis, &args.engine);
        let way = RepairWay {
            label,
            model: magis.model_name(&word)?,
            // Asked alone, the model answers greedily and once.
            seed: (!args.one_shot).then_some(args.seed),
            max_rounds: (!args.one_shot).then_some(max_rounds(args)),
        };
        check_way(done, &way).with_context(|| format!("going on with {}", args.out.display()))?;
        let model = Arc::new(load(&magis, &word, &args.engine.limits()).await?);
        Ok(Self {
            args,
            way,
            work,
            model,
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
        let run = self.prepare(case, &clone).map_err(of_run)?;
        let only_places = self.args.only_places;
        let is_enough = move |event: &RunEvent| only_places && matches!(event, RunEvent::LinesChosen { .. });
        let stop = CancellationToken::new();
        let driven = drive_until(&self.magis, run, self.model.clone(), &stop, is_enough).await;
        driven.map_err(of_run)?;
        let seconds = begun.elapsed().as_secs_f64();
        let archive = self.magis.archive(run).map_err(|error| of_run(error.into()))?;
        let tried = tried_places(archive.run.events.iter().map(|stored| &stored.event));
        let record = RunRecord::of(archive).map_err(of_run)?;
        let state = &record.state;
        let stages = stages(&record);
        let row = RepairRow {
            run: Some(run),
            place: place_of_reference(&tried, &case.gold),
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
        let attempts = worth_judging(state, &clone, case.reference.as_ref()).map_err(of_run)?;
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
        let files = self.reference_files(case).map_err(of_run)?;
        let shot = OneShot {
            issue: &case.issue,
            comments: "",
            files: &files,
        };
        let (request, _left_out) = shot.request(&*self.model).await.map_err(of_run)?;
        let reply = self.model.chat(&request, &mut |_| ()).await;
        let reply = reply.map_err(|error| of_run(error.into()))?;
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
            label: self.way.label.clone(),
            model: Some(self.way.model.clone()),
            seed: self.way.seed,
            max_rounds: self.way.max_rounds,
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
            model: Some(self.way.model.clone()),
            seed: args.seed,
            top_k: quick.unwrap_or_default().top_k(),
            max_rounds: max_rounds(args),
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

/// Marks what a run failed with, so that its bug is left out. Where the model cannot be started again the command ends: no other bug could be run either.
fn of_run(error: Error) -> Error {
    let of_model = match error.downcast_ref::<EngineError>() {
        Some(EngineError::Llm(of_model)) => Some(of_model),
        _ => error.downcast_ref::<LlmError>(),
    };
    if matches!(of_model, Some(LlmError::Load { .. })) {
        error
    } else {
        error.context(LeftOut::Run)
    }
}

/// Returns how many rounds a task gets.
fn max_rounds(args: &RepairArgs) -> u32 {
    if args.quick {
        Effort::Quick.max_rounds()
    } else {
        args.max_rounds
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_fails_leaves_its_bug_out_unless_the_model_cannot_be_started_again() {
        let died = || LlmError::WorkerDied {
            reason: "ended by signal 6".to_owned(),
        };
        let gone = || LlmError::Load {
            file: "m.gguf".to_owned(),
            reason: "it is no file".to_owned(),
        };
        let left_out = |error: Error| of_run(error).is::<LeftOut>();
        assert!(left_out(died().into()) && left_out(EngineError::Llm(died()).into()));
        assert!(!left_out(gone().into()) && !left_out(EngineError::Llm(gone()).into()));
        let why = format!("{:#}", of_run(Error::msg("the issue has no words")));
        assert_eq!(why, "its run fails: the issue has no words");
    }
}
