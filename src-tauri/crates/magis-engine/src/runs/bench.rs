//! What a run has at hand to run code on: the base tree written out, the test command that the person allowed, and what the base showed so far.
//!
//! It lives as long as a run is driven. After a resumption what the base shows is found out again when it is first needed.

mod base;
mod words;

pub(crate) use base::{BaseResults, BaseTrouble};
pub(crate) use words::{is_meant, program_run, tells_file, test_name};

use crate::evidence::{ChangedFiles, Checkout};
use crate::tests::{IsolationTerm, TestsRun};
use crate::{EngineError, Magis, NotRunReason, Progress};
use magis_core::{
    CheckSource, FunctionAt, MOST_ENTERED, ProgramRun, RepoId, RepoPath, RunningCode, TaskId, TestLine, TestsMode,
};
use magis_evidence::commands::{TestCommand, TestSelection, not_started};
use magis_evidence::reproduction::{
    self, Check, CheckCommand, Marker, Nothing, Observation, ProjectInUse, ReachedFunction, Reproduction, RunEnd,
    RunOutput,
};
use magis_evidence::results::{self, Completeness};
use magis_flow::Run;
use magis_repo::Snapshot;
use magis_sandbox::{End, Limits, Outcome, Sandbox};
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// How long a check may take on the base.
const CHECK_TIME: Duration = Duration::from_secs(40);
/// How long all tests of the project may take on the base; those that take longer are narrowed down to the nearest.
pub(super) const SUITE_TIME: Duration = Duration::from_mins(1);
/// The least that a check or a test may take on a changed tree, however fast the base was.
const LEAST_TIME: Duration = Duration::from_secs(10);

/// What code is run on in a run.
pub(crate) struct TestBench {
    checkout: Checkout,
    /// None: only what the issue shows is run.
    pub command: Option<TestCommand>,
    project: ProjectInUse,
    /// Why nothing of the issue is run, nor what is written out of it, where the command alone may be.
    pub only_command: Option<String>,
    /// Who is told what runs; nobody outside of a run's drive.
    progress: Option<UnboundedSender<Progress>>,
    /// The task whose changes are run.
    pub task: Option<TaskId>,
    /// The checks of the issue that show the fault on the base, by their numbers.
    pub issue_checks: BTreeMap<u32, IssueCheck>,
    /// All tests on the base, where they were run.
    pub whole: Option<BaseResults>,
    /// The tests that judge changes, on the base.
    pub judging: Option<BaseResults>,
    /// Why the tests that judged changes before the run was taken up again do not give results on the base now.
    pub lost: Option<String>,
}

/// What a bench stands on.
pub(super) struct BenchGround<'a> {
    pub magis: &'a Magis,
    pub repo: RepoId,
    pub snapshot: &'a Snapshot,
    /// Where the repository lies, and so where commands see the tree.
    pub root: &'a Path,
    pub project: &'a ProjectInUse,
    pub progress: Option<&'a UnboundedSender<Progress>>,
    pub stop: &'a CancellationToken,
}

/// Code that runs, until this is dropped.
struct Running(Option<UnboundedSender<Progress>>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(progress) = &self.0 {
            // Nobody has to watch.
            drop(progress.send(Progress::CodeEnded));
        }
    }
}

/// A check of the issue with what it showed on the base.
#[derive(Debug, Clone)]
pub(crate) struct IssueCheck {
    pub check: Check,
    pub base: Observation,
    pub found: Reproduction,
    pub run: ProgramRun,
    pub took: Duration,
}

impl IssueCheck {
    /// Returns how long it may take on a changed tree. What it took on the base tells nothing where it did not end there; what is not compiled first has the
    /// least then.
    fn time(&self) -> Duration {
        let is_compiled = match self.check.command {
            CheckCommand::Python(_) | CheckCommand::JavaScript(_) => false,
            CheckCommand::Rust | CheckCommand::Shell(_) => true,
        };
        if self.base == Observation::TimedOut && !is_compiled {
            return LEAST_TIME;
        }
        (self.took * 4).clamp(LEAST_TIME, CHECK_TIME)
    }
}

/// Why a check of the issue does not show on the base what the issue says.
#[derive(Debug)]
pub(crate) struct NotShown {
    pub why: String,
    /// Whether it took all the time it had.
    pub hangs: bool,
    /// Whether it lacks a program or a package.
    pub lacks: bool,
}

impl TestBench {
    /// Makes it for a run, whose base tree is written out; or says why the run runs nothing.
    pub async fn open(ground: BenchGround<'_>, run: &Run) -> Result<Result<Self, String>, EngineError> {
        let project = ground.project;
        let mut bench = match Self::on_tree(&ground, run).await? {
            Ok(bench) => bench,
            Err(why) => return Ok(Err(why.to_string())),
        };
        bench.take_up(run, project).await?;
        Ok(Ok(bench))
    }

    /// Makes it on a tree, with nothing known of what a base shows.
    pub async fn on_tree(ground: &BenchGround<'_>, run: &Run) -> Result<Result<Self, NotRunReason>, EngineError> {
        let TestsMode::Run { command, .. } = &run.request().tests else {
            return Ok(Err(NotRunReason::NotAsked));
        };
        let command = match command {
            Some(line) => Some(ground.magis.command_of(ground.repo, ground.snapshot, line)?),
            None => None,
        };
        let term = ground.magis.run_permission(ground.repo, command.as_ref())?;
        let Some(term) = term else {
            let what = command.as_ref().map_or_else(
                || "what the issue shows".to_owned(),
                |command| format!("`{}`", command.line()),
            );
            return Ok(Err(NotRunReason::NotAllowed(what)));
        };
        let sandbox = match (ground.magis.sandbox_helper(), term) {
            (None, _) => return Ok(Err(NotRunReason::NoSandbox)),
            (Some(helper), term) => match (Sandbox::confined(helper.clone()).await, term) {
                (Ok(sandbox), _) => sandbox,
                (Err(_), IsolationTerm::Waived) => Sandbox::limits_only(helper),
                (Err(missing), IsolationTerm::Required) => return Ok(Err(NotRunReason::NotIsolated(missing))),
            },
        };
        let is_covered = sandbox.is_confined()
            || command.is_none()
            || ground.magis.issue_code_permission(ground.repo)? == Some(IsolationTerm::Waived);
        let only_command = (!is_covered).then(|| {
            "what the issue shows is not run: this machine cannot isolate it, and without isolation only the test command is allowed; \
             take that back and allow it anew to let both run"
                .to_owned()
        });
        let stop = ground.stop.clone();
        let mut going = |_| {
            if stop.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let data = ground.magis.data().clone();
        let checkout = Checkout::create(&data, sandbox, ground.snapshot, ground.root, &mut going)?;
        let checkout = checkout.ok_or_else(EngineError::cancelled)?;
        Ok(Ok(Self {
            checkout,
            command,
            project: ground.project.clone(),
            only_command,
            progress: ground.progress.cloned(),
            task: None,
            issue_checks: BTreeMap::new(),
            whole: None,
            judging: None,
            lost: None,
        }))
    }

    /// Tells that code begins to run.
    fn begin(&self, code: RunningCode, changes: &ChangedFiles) -> Running {
        if let Some(progress) = &self.progress {
            let changed = !changes.is_empty();
            let task = self.task.filter(|_| changed);
            drop(progress.send(Progress::CodeStarted { code, changed, task }));
        }
        Running(self.progress.clone())
    }

    /// Runs a check as it is, whatever it shows.
    pub async fn show(&self, check: &Check) -> Result<ProgramRun, EngineError> {
        let limits = Limits {
            time: CHECK_TIME,
            ..Limits::default()
        };
        let (words, outcome) = self.checkout.run_check(check, &[], limits).await?;
        Ok(check_run(
            check,
            &words,
            &outcome,
            &reproduction::observe(check, &output(&outcome)),
        ))
    }

    /// Runs the checks of the issue again that an earlier drive of the run has kept.
    async fn take_up(&mut self, run: &Run, project: &ProjectInUse) -> Result<(), EngineError> {
        let numbers: BTreeSet<u32> = run
            .checks()
            .iter()
            .filter_map(|check| match check.source {
                CheckSource::Issue { number } => Some(number),
                CheckSource::Given { .. } | CheckSource::FailingTests { .. } | CheckSource::Written { .. } => None,
            })
            .collect();
        if numbers.is_empty() || self.only_command.is_some() {
            return Ok(());
        }
        for (number, check) in candidates(run, project) {
            if numbers.contains(&number)
                && let Ok(found) = self.try_check(check).await?
            {
                self.issue_checks.insert(number, found);
            }
        }
        Ok(())
    }

    /// Runs a check on the base and looks whether it shows there what the issue says; else why not.
    pub async fn try_check(&self, check: Check) -> Result<Result<IssueCheck, NotShown>, EngineError> {
        let limits = Limits {
            time: CHECK_TIME,
            ..Limits::default()
        };
        let running = self.begin(RunningCode::Check, &ChangedFiles::new());
        let (words, outcome) = self.checkout.run_check(&check, &[], limits).await?;
        drop(running);
        if let End::NotStarted(why) = &outcome.end {
            let why = format!("{}; install it", not_started(&words, why));
            return Ok(Err(NotShown {
                why,
                hangs: false,
                lacks: true,
            }));
        }
        let base = reproduction::observe(&check, &output(&outcome));
        Ok(match reproduction::reproduces(&check, &base) {
            Ok(found) => Ok(IssueCheck {
                run: check_run(&check, &words, &outcome, &base),
                check,
                found,
                took: outcome.took,
                base,
            }),
            Err(nothing) => Err(NotShown {
                why: nothing.to_string(),
                hangs: base == Observation::TimedOut,
                lacks: matches!(nothing, Nothing::PackageNotFound(_)),
            }),
        })
    }

    /// Runs a check on a changed tree.
    pub async fn run_check(
        &self,
        known: &IssueCheck,
        changes: &ChangedFiles,
    ) -> Result<(Observation, ProgramRun), EngineError> {
        let limits = Limits {
            time: known.time(),
            ..Limits::default()
        };
        let running = self.begin(RunningCode::Check, changes);
        let (words, outcome) = self.checkout.run_check(&known.check, changes, limits).await?;
        drop(running);
        let seen = reproduction::observe(&known.check, &output(&outcome));
        let run = check_run(&known.check, &words, &outcome, &seen);
        Ok((seen, run))
    }

    /// Returns the functions of the project that a check enters on the base: those that its own records tell, else as Python or Node is seen to run. Steps in
    /// JavaScript record what they enter by themselves.
    pub(super) async fn reached_by(
        &self,
        check: &Check,
        recorded: &[ReachedFunction],
    ) -> Result<Vec<FunctionAt>, EngineError> {
        let is_told = matches!(check.command, CheckCommand::JavaScript(_)) && !check.steps.is_empty();
        if !recorded.is_empty() || is_told || !self.records_reach() {
            return Ok(functions_at(recorded));
        }
        let limits = Limits {
            time: CHECK_TIME,
            ..Limits::default()
        };
        let _running = self.begin(RunningCode::Check, &ChangedFiles::new());
        Ok(functions_at(&self.checkout.reached_by_check(check, limits).await?))
    }

    /// Returns the project as the examples of its issues use it.
    pub(super) fn project(&self) -> &ProjectInUse {
        &self.project
    }

    /// Returns whether programs in the language of the project can record what they enter.
    fn records_reach(&self) -> bool {
        matches!(
            self.project.language,
            SourceLanguage::Python | SourceLanguage::JavaScript
        )
    }

    /// Returns the functions of the project, without its tests, that the tests of files enter on the base, as far as Python or Node runs them.
    pub(super) async fn reached_by_tests(&self, files: &[RepoPath]) -> Result<Vec<FunctionAt>, EngineError> {
        let there: Vec<RepoPath> = files
            .iter()
            .filter(|file| self.checkout.has_file(file))
            .cloned()
            .collect();
        let Some(command) = &self.command else {
            return Ok(Vec::new());
        };
        if there.is_empty() || !self.records_reach() {
            return Ok(Vec::new());
        }
        let limits = Limits {
            time: CHECK_TIME,
            ..Limits::default()
        };
        let selection = TestSelection::Files(&there);
        let _running = self.begin(RunningCode::SomeTests, &ChangedFiles::new());
        let mut reached = match self.checkout.reached_by_tests(command, selection, limits).await {
            // Where the list is full, what is not on it may have been entered, too; without the tests themselves it would look whole.
            Ok(reached) if reached.len() >= MOST_ENTERED => Vec::new(),
            Ok(reached) => functions_at(&reached),
            Err(EngineError::Selection(_)) => Vec::new(),
            Err(other) => return Err(other),
        };
        reached.retain(|function| !command.is_test_file(&function.path));
        Ok(reached)
    }

    /// Runs a check that is judged by its exit status.
    pub(super) async fn run_any(
        &self,
        check: &Check,
        changes: &ChangedFiles,
        limits: Limits,
    ) -> Result<(Vec<String>, Outcome), EngineError> {
        let _running = self.begin(RunningCode::Check, changes);
        self.checkout.run_check(check, changes, limits).await
    }

    /// Returns whether the base tree has a file.
    pub fn has_file(&self, path: &RepoPath) -> bool {
        self.checkout.has_file(path)
    }

    /// Runs tests, those in `files` or, where it is empty, all of them.
    pub async fn run_tests(
        &self,
        files: &[RepoPath],
        changes: &ChangedFiles,
        time: Duration,
    ) -> Result<Result<TestsRun, String>, EngineError> {
        let Some(command) = &self.command else {
            return Ok(Err("there is no test command".to_owned()));
        };
        let limits = Limits {
            time: time.max(LEAST_TIME),
            ..Limits::default()
        };
        let (code, selection) = if files.is_empty() {
            (RunningCode::AllTests, TestSelection::Whole)
        } else {
            (RunningCode::SomeTests, TestSelection::Files(files))
        };
        let _running = self.begin(code, changes);
        match self.checkout.run_tests(command, selection, changes, limits).await {
            Ok(run) => Ok(Ok(match run.outcome.end {
                End::Exited(status) if run.only_status => TestsRun {
                    results: Ok(results::of_status(&command.line(), status, &run.outcome.printed())),
                    ..run
                },
                _ => run,
            })),
            Err(EngineError::Selection(why)) => Ok(Err(why.to_string())),
            Err(other) => Err(other),
        }
    }

    /// Runs tests on the base twice: what does not come out the same wavers. Returns why there are no results where there are none.
    pub(super) async fn run_on_base(
        &self,
        files: &[RepoPath],
        time: Duration,
    ) -> Result<Result<BaseResults, BaseTrouble>, EngineError> {
        let first = match self.run_tests(files, &Vec::new(), time).await? {
            Ok(first) => first,
            Err(why) => return Ok(Err(BaseTrouble { why, run: None })),
        };
        let run = program_run(&first.words, &first.folder, &first.outcome);
        let only_status = first.only_status;
        let results = match first.results {
            Ok(results) if !results.tests.is_empty() => results,
            Ok(_) => {
                let why = format!("no test ran: it {}", first.outcome.end);
                return Ok(Err(BaseTrouble { why, run: Some(run) }));
            }
            Err(why) => {
                let why = format!("{why}; it {}", first.outcome.end);
                return Ok(Err(BaseTrouble { why, run: Some(run) }));
            }
        };
        let mut took = first.outcome.took;
        let second = match self.run_tests(files, &Vec::new(), time).await? {
            Ok(second) => {
                if second.results.is_ok() {
                    // The first run may have built what the second found built, as later ones do.
                    took = took.min(second.outcome.took);
                }
                let ended = |why| format!("{why}; it {}", second.outcome.end);
                second.results.map_err(ended)
            }
            Err(why) => Err(why),
        };
        let (wavering, unknown) = match second {
            Ok(second) => (results::wavering(&results, &second), None),
            Err(why) => {
                let unknown = format!("which tests waver is not known, as a second run gave no results: {why}");
                (Vec::new(), Some(unknown))
            }
        };
        let partial = match &results.completeness {
            Completeness::Partial(why) => Some(format!("not all tests gave results: {why}")),
            Completeness::Whole => None,
        };
        Ok(Ok(BaseResults {
            wavering: wavering.iter().map(test_name).collect(),
            gap: partial.or(unknown),
            longest: first.outcome.took.max(took),
            only_status,
            ..self.base_results(files, &results, took, run)
        }))
    }
}

/// Makes the checks of the issue, each with its number.
pub(super) fn candidates(run: &Run, project: &ProjectInUse) -> impl Iterator<Item = (u32, Check)> + use<> {
    let made = marker().map(|marker| reproduction::checks(run.request().issue.text(), project, &marker));
    (0..).zip(made.unwrap_or_default())
}

/// Draws a marker that the code of a check cannot know beforehand.
pub(super) fn marker() -> Option<Marker> {
    let drawn = || RandomState::new().hash_one(0);
    Marker::new(format!("{:016x}{:016x}", drawn(), drawn())).ok()
}

fn functions_at(reached: &[ReachedFunction]) -> Vec<FunctionAt> {
    let at = |ReachedFunction(path, line, name, missed): &ReachedFunction| {
        Some(FunctionAt {
            path: RepoPath::new(path).ok()?,
            line: *line,
            name: name.clone(),
            missed: missed.clone(),
        })
    };
    reached.iter().filter_map(at).take(MOST_ENTERED).collect()
}

fn output(outcome: &Outcome) -> RunOutput {
    RunOutput {
        stdout: outcome.stdout.text(),
        stderr: outcome.stderr.text(),
        ending: match outcome.end {
            End::Exited(status) => RunEnd::Exited(status),
            End::TimeUsedUp(_) => RunEnd::TimedOut,
            _ => RunEnd::Killed,
        },
    }
}

/// Returns the run of a check as it is shown: a session in the place of the records.
fn check_run(check: &Check, words: &[String], outcome: &Outcome, seen: &Observation) -> ProgramRun {
    let session = seen.session(check);
    let mut run = program_run(words, "", outcome);
    if !check.steps.is_empty() {
        run.stdout = magis_core::ExcerptedOutput::of(&session, 0);
    }
    run
}

impl Magis {
    /// Returns on which terms the person lets a run of this repository run code; none where they did not.
    pub(crate) fn run_permission(
        &self,
        repo: RepoId,
        command: Option<&TestCommand>,
    ) -> Result<Option<IsolationTerm>, EngineError> {
        match command {
            Some(command) => self.test_permission(repo, command),
            None => self.issue_code_permission(repo),
        }
    }

    /// Returns the test command that a line means in a tree.
    fn command_of(&self, repo: RepoId, snapshot: &Snapshot, line: &TestLine) -> Result<TestCommand, EngineError> {
        self.test_command_in(repo, snapshot, &line.line, &line.folder)
    }
}
