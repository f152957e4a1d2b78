//! A check as a person has edited it, run on the base of its run and on the result. Nothing of it enters the run's log.

use super::bench::{BenchGround, TestBench, candidates, marker};
use crate::{EngineError, Magis};
use magis_core::{CheckId, CheckSource, ProgramRun, RepoPath, RunId};
use magis_evidence::reproduction::{Check, edited, project_in_use};
use magis_repo::Snapshot;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// What an edited check shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedCheck {
    pub on_base: ProgramRun,
    /// On the tree that the run came to; none where it has no patch.
    pub on_result: Option<ProgramRun>,
}

/// What a person has edited.
enum Edited<'a> {
    /// A check made out of the issue.
    Check(Check),
    /// A test that a QA Engineer wrote, by its file.
    Test(&'a RepoPath),
}

impl Magis {
    /// Runs a check of a run with another script in the place of its own; of one made out of the issue or written by a QA Engineer. What was not allowed in the repository is not run.
    ///
    /// # Errors
    /// When there is no such run or check, its repository is not here, running is not allowed, or the sandbox fails.
    pub async fn try_check(
        &self,
        run: RunId,
        check: CheckId,
        script: &str,
        stop: &CancellationToken,
    ) -> Result<TriedCheck, EngineError> {
        let not_run = |why: &str| EngineError::NotRun {
            run,
            why: why.to_owned(),
        };
        let entry = self.store.run(run)?.entry;
        let repo = entry.repo.ok_or(EngineError::NoRepository(run))?;
        let root = self.store.repository(repo)?.root;
        let state = self.state(run)?;
        let known = state.checks().iter().find(|known| known.id == check);
        let known = known.ok_or_else(|| not_run(&format!("it has no check {}", check.0)))?;
        let texts = self.texts(run)?;
        let base = texts.base().ok_or_else(|| not_run("its base tree is not here"))?;
        let names: Vec<_> = base.files()?.0.into_iter().map(|file| file.path).collect();
        let project = project_in_use(&names, &|path| Some(base.read(path).ok()?.text));
        let edited = match &known.source {
            CheckSource::Issue { number } => {
                let original = candidates(&state, &project).find(|(at, _)| at == number);
                let (Some((_, original)), Some(marker)) = (original, marker()) else {
                    return Err(not_run("the issue does not give this check any more"));
                };
                Edited::Check(edited(&original, script, &project, &marker))
            }
            CheckSource::Written { path } => Edited::Test(path),
            CheckSource::Given { .. } | CheckSource::FailingTests { .. } => {
                return Err(not_run("a test of the project is edited in the project"));
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
            let bench = TestBench::on_tree(&ground, &state).await?;
            let bench = bench.map_err(|why| not_run(&why))?;
            if let Some(why) = &bench.only_command {
                return Err(not_run(why));
            }
            match &edited {
                Edited::Check(check) => bench.show(check).await,
                Edited::Test(path) => bench.run_written(path, script, &Vec::new()).await.map(|(_, run)| run),
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
