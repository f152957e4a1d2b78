//! Tests that a QA Engineer writes out of an issue, in a run that is driven as far as to them and no further.

use super::super::environments::JudgeEnvironments;
use super::super::{drive_until, load, model_of, open};
use crate::args::ModelArgs;
use anyhow::{Context as _, Result};
use magis_core::{BugCheck, HintsMode, IssueChecks, QaMode, RelevanceMode, RunEvent, RunId, TestsMode};
use magis_engine::model::WorkerModel;
use magis_engine::tests::IsolationTerm;
use magis_engine::{Effort, EngineLimits, Magis, SolveRequest};
use magis_eval::instances::Instance;
use magis_repo::BaseChoice;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What has to be allowed for an issue's own code to run; the tests of the project themselves are not run.
const COMMAND: &str = "python -m pytest";

/// The program and the model that runs are driven with.
pub struct TestWriter {
    magis: Magis,
    model: Arc<WorkerModel>,
    name: String,
    limits: EngineLimits,
}

impl TestWriter {
    /// Loads the model; runs are recorded in `work`.
    pub async fn open(work: &Path, engine: &ModelArgs) -> Result<Self> {
        let magis = open(&work.join("reproduce/data"), engine.models_dir.as_ref())?;
        let (word, limits) = (model_of(&magis, engine), engine.limits());
        let model = Arc::new(load(&magis, &word, &limits).await?);
        let name = magis.model_name(&word)?;
        Ok(Self {
            magis,
            model,
            name,
            limits,
        })
    }

    /// Ends the model's process.
    pub async fn close(self) {
        if let Ok(model) = Arc::try_unwrap(self.model) {
            model.shutdown().await;
        }
    }

    /// Returns the tests that are kept of an issue, or why none are.
    pub async fn written(
        &self,
        environments: &JudgeEnvironments,
        issue: &Instance,
    ) -> Result<Result<Vec<BugCheck>, String>> {
        let run = self.prepare(environments, issue)?;
        let is_enough = |event: &RunEvent| match event {
            RunEvent::TestsWritten { .. } => true,
            RunEvent::FaultShown { checks, .. } => !checks.is_empty(),
            _ => false,
        };
        let stop = CancellationToken::new();
        drive_until(&self.magis, run, self.model.clone(), &stop, is_enough).await?;
        let last = self
            .magis
            .events(run)?
            .into_iter()
            .rev()
            .find_map(|stored| match stored.event {
                RunEvent::TestsWritten { checks, remarks } => Some((checks, remarks)),
                _ => None,
            });
        let (checks, remarks) = last.unwrap_or_default();
        Ok(if checks.is_empty() {
            Err(remarks
                .into_iter()
                .next()
                .unwrap_or_else(|| "no test was asked for".to_owned()))
        } else {
            Ok(checks)
        })
    }

    fn prepare(&self, environments: &JudgeEnvironments, issue: &Instance) -> Result<RunId> {
        let tree = environments.tree_in_use(&issue.id, &issue.repo, &issue.base_commit)?;
        let base = BaseChoice::Revision {
            name: issue.base_commit.0.clone(),
        };
        let repo = self.magis.add_repository(&tree)?;
        let commands = self.magis.test_commands(repo, &base, Some(COMMAND))?;
        let command = commands.first().context("the test command is not read")?;
        self.magis.allow_tests(repo, command, IsolationTerm::Required)?;
        let effort = Effort::default();
        let wish = SolveRequest {
            repository: tree,
            base,
            issue: issue.problem_statement.clone(),
            hints: Vec::new(),
            hints_mode: HintsMode::Use,
            files: Vec::new(),
            model: Some(self.name.clone()),
            seed: 1,
            top_k: effort.top_k(),
            max_rounds: effort.max_rounds(),
            attempts: effort.attempts(),
            places: effort.places(),
            writing: Vec::new(),
            tests: TestsMode::Run {
                command: None,
                failing: Vec::new(),
                checks: IssueChecks::Make,
            },
            qa: QaMode::Review,
            relevance: RelevanceMode::Code,
            without: BTreeSet::new(),
        };
        Ok(self.magis.prepare(wish, &self.limits)?.run)
    }
}
