//! A check as it is, or as a person has edited it, run on the base of its run and on the result. Nothing of it enters the run's log.

use super::bench::{BenchGround, SUITE_TIME, TestBench, candidates, marker, program_run};
use crate::evidence::{ChangedFiles, TestsRun};
use crate::{EngineError, Magis, NotRunReason};
use magis_core::{CheckId, CheckSource, ExcerptedOutput, ProgramRun, RepoPath, RunId, TestName};
use magis_evidence::commands::TestCommand;
use magis_evidence::reproduction::{Check, edited, project_in_use};
use magis_evidence::results::TestStatus;
use magis_repo::Snapshot;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// What a check shows that is run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedCheck {
    pub on_base: ProgramRun,
    /// On the tree that the run came to; none where it has no patch.
    pub on_result: Option<ProgramRun>,
}

/// What is run again, by how it is run.
enum Trial<'a> {
    /// A check made out of the issue, with the person's script.
    Check(Check),
    /// A test that a QA Engineer wrote, by its file.
    Written(&'a RepoPath),
    /// The tests of the project that a check stands on, as they are.
    Tests(&'a CheckSource),
}

impl Magis {
    /// Runs a check of a run again, with its own script or another one in its place. What was not allowed in the repository is not run.
    ///
    /// # Errors
    /// When there is no such run or check, the check stands on tests of the project and the script is another one, its repository is not here, running is not
    /// allowed, or the sandbox fails.
    pub async fn try_check(
        &self,
        run: RunId,
        check: CheckId,
        script: &str,
        stop: &CancellationToken,
    ) -> Result<TriedCheck, EngineError> {
        let not_run = |why: NotRunReason| EngineError::NotRun { run, why };
        let entry = self.store.run(run)?.entry;
        let repo = entry.repo.ok_or(EngineError::NoRepository(run))?;
        let root = self.store.repository(repo)?.root;
        let state = self.state(run)?;
        let known = state.checks().iter().find(|known| known.id == check);
        let known = known.ok_or_else(|| not_run(NotRunReason::NoCheck(check)))?;
        let texts = self.texts(run)?;
        let base = texts.base().ok_or_else(|| not_run(NotRunReason::NoBase))?;
        let names: Vec<_> = base.files()?.0.into_iter().map(|file| file.path).collect();
        let project = project_in_use(&names, &|path| Some(base.read(path).ok()?.text));
        let trial = match &known.source {
            CheckSource::Issue { number } => {
                let original = candidates(&state, &project).find(|(at, _)| at == number);
                let (Some((_, original)), Some(marker)) = (original, marker()) else {
                    return Err(not_run(NotRunReason::CheckGone));
                };
                Trial::Check(edited(&original, script, &project, &marker))
            }
            CheckSource::Written { path } => Trial::Written(path),
            CheckSource::Given { .. } | CheckSource::FailingTests { .. } => {
                if script.trim_end() != known.script.trim_end() {
                    return Err(not_run(NotRunReason::ProjectTest));
                }
                Trial::Tests(&known.source)
            }
        };
        let on = async |snapshot: &Snapshot| {
            let ground = BenchGround {
                magis: self,
                repo,
                snapshot,
                root: Path::new(&root),
                project: &project,
                progress: None,
                stop,
            };
            let bench = match TestBench::on_tree(&ground, &state).await? {
                Ok(bench) => bench,
                Err(why) => return Err(not_run(why)),
            };
            let is_of_project = matches!(trial, Trial::Tests(_));
            if let Some(why) = bench.only_command.clone().filter(|_| !is_of_project) {
                return Err(not_run(NotRunReason::OnlyCommand(why)));
            }
            match &trial {
                Trial::Check(check) => bench.show(check).await,
                Trial::Written(path) => bench.run_written(path, script, &Vec::new()).await.map(|(_, run)| run),
                Trial::Tests(source) => {
                    let run = bench.run_tests_of(source).await?;
                    run.map_err(|why| not_run(NotRunReason::Tests(why)))
                }
            }
        };
        Ok(TriedCheck {
            on_base: on(base).await?,
            on_result: match texts.result() {
                Some(result) => Some(on(result).await?),
                None => None,
            },
        })
    }
}

impl TestBench {
    /// Runs the tests of the project that a check stands on: those of the file that it names, else all tests. Returns the run with what the tests of the check
    /// say in the place of its output; or why they could not be run.
    async fn run_tests_of(&self, source: &CheckSource) -> Result<Result<ProgramRun, String>, EngineError> {
        let time = SUITE_TIME * 2;
        let file = match source {
            CheckSource::Given { test } => test.split("::").next().and_then(|file| RepoPath::new(file).ok()),
            CheckSource::Issue { .. } | CheckSource::FailingTests { .. } | CheckSource::Written { .. } => None,
        };
        let takes_files = self.command.as_ref().is_some_and(TestCommand::takes_files);
        if let Some(file) = file.filter(|file| takes_files && self.has_file(file))
            && let Ok(done) = self.run_tests(&[file], &ChangedFiles::new(), time).await?
            && let Some(run) = self.said_by(source, &done)
        {
            return Ok(Ok(run));
        }
        let done = self.run_tests(&[], &ChangedFiles::new(), time).await?;
        Ok(done.map(|done| {
            let said = self.said_by(source, &done);
            said.unwrap_or_else(|| program_run(&done.words, &done.folder, &done.outcome))
        }))
    }

    /// Returns a run of tests with what the tests of a check say, those that fail first; none where none of them has a result.
    fn said_by(&self, source: &CheckSource, done: &TestsRun) -> Option<ProgramRun> {
        let results = done.results.as_ref().ok()?;
        let run = program_run(&done.words, &done.folder, &done.outcome);
        let seen = self.base_results(&[], results, done.outcome.took, run);
        let is_of_check = |name: &TestName| match source {
            CheckSource::Given { test } => seen.is_meant(name, test),
            CheckSource::FailingTests { tests } => tests.contains(name),
            CheckSource::Issue { .. } | CheckSource::Written { .. } => false,
        };
        let mut tests: Vec<(&TestName, &TestStatus)> = seen.statuses.iter().collect();
        tests.retain(|(name, _)| is_of_check(name));
        if tests.is_empty() {
            return None;
        }
        tests.sort_by_key(|(_, status)| !status.is_bad());
        let said = tests.into_iter().map(|(name, status)| {
            let state = match status {
                TestStatus::Passed => "passes",
                TestStatus::Failed => "fails",
                TestStatus::Errored => "ends in an error",
                TestStatus::Skipped => "is skipped",
            };
            match seen.messages.get(name) {
                Some(message) => format!("{name} {state}:\n{}\n", message.trim_end()),
                None => format!("{name} {state}"),
            }
        });
        let said: Vec<String> = said.collect();
        Some(ProgramRun {
            stdout: ExcerptedOutput::of(&said.join("\n"), 0),
            ..seen.run
        })
    }
}
