//! The test commands of a repository, and what a person allowed of them.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, CheckTrial, CodePermission, CodeTerm, TestCommandRow};
use magis_core::{CheckId, RepoId, RunId, TestLine};
use magis_engine::EngineError;
use magis_engine::sandbox::Sandbox;
use magis_engine::tests::{TestCommand, TestRunner};
use tokio_util::sync::CancellationToken;

impl App {
    /// Lists the test commands that are found in a repository, the best guess first; behind them those that a person gave and allowed.
    pub fn test_commands(&self, repo: RepoId, base: BaseRequest) -> Result<Vec<TestCommandRow>, Problem> {
        let known = self.magis()?.known_test_commands(repo, &base.into())?.into_iter();
        Ok(known
            .map(|(command, term)| row(command, term.map(Into::into)))
            .collect())
    }

    /// Reads a command as a person gives it. Returns it as it would be run, and whether it is allowed.
    pub fn read_test_command(
        &self,
        repo: RepoId,
        base: BaseRequest,
        command: &TestLine,
    ) -> Result<TestCommandRow, Problem> {
        let magis = self.magis()?;
        let meant = magis.test_command_of(repo, &base.into(), &command.line, &command.folder)?;
        let term = magis.test_permission(repo, &meant)?;
        Ok(row(meant, term.map(Into::into)))
    }

    /// Remembers that a person allows a command in a repository, and what issues show on the same terms. Returns it as it will be run.
    pub fn allow_tests(
        &self,
        repo: RepoId,
        base: BaseRequest,
        command: &TestLine,
        term: CodeTerm,
    ) -> Result<TestCommandRow, Problem> {
        let magis = self.magis()?;
        let meant = magis.test_command_of(repo, &base.into(), &command.line, &command.folder)?;
        magis.allow_tests(repo, &meant, term.into())?;
        if term == CodeTerm::NotIsolated {
            magis.allow_issue_code(repo, term.into())?;
        }
        Ok(row(meant, Some(term)))
    }

    /// Returns whether what issues show may be run in a repository, and whether this machine can isolate it.
    pub async fn code_permission(&self, repo: RepoId) -> Result<CodePermission, Problem> {
        let isolation = Sandbox::confined(self.launch().sandbox_helper()).await;
        self.work(move |app| {
            Ok(CodePermission {
                issue_code: app.magis()?.issue_code_permission(repo)?.map(Into::into),
                not_isolated: isolation.err().map(Into::into),
            })
        })
        .await
    }

    /// Remembers that a person allows what issues show to be run in a repository.
    pub fn allow_issue_code(&self, repo: RepoId, term: CodeTerm) -> Result<(), Problem> {
        self.magis()?.allow_issue_code(repo, term.into())?;
        Ok(())
    }

    /// Runs a check as a person has edited it, on the base of its run and on the result. A trial of the same check that is
    /// still under way is stopped: nobody waits for it any more.
    pub async fn try_check(&self, run: RunId, check: CheckId, script: &str) -> Result<CheckTrial, Problem> {
        let magis = self.magis()?;
        let stop = CancellationToken::new();
        if let Some(earlier) = self.trials().insert((run, check), stop.clone()) {
            earlier.cancel();
        }
        let tried = tokio::select! {
            tried = magis.try_check(run, check, script, &stop) => tried,
            // The commands end with what waits for them.
            () = stop.cancelled() => Err(EngineError::cancelled()),
        };
        let mut trials = self.trials();
        if !stop.is_cancelled() {
            trials.remove(&(run, check));
        }
        drop(trials);
        match tried {
            Ok(tried) => Ok(CheckTrial {
                on_base: tried.on_base,
                on_result: tried.on_result,
            }),
            Err(error) if error.is_cancelled() => Err(Problem::new("cancelled", "the check was stopped", "")),
            Err(error) => Err(error.into()),
        }
    }

    /// Stops an edited check that is being run.
    pub fn stop_check(&self, run: RunId, check: CheckId) {
        if let Some(stop) = self.trials().remove(&(run, check)) {
            stop.cancel();
        }
    }

    /// Takes back all that a person allowed in a repository.
    pub fn forbid_tests(&self, repo: RepoId) -> Result<(), Problem> {
        self.magis()?.forbid_tests(repo)?;
        Ok(())
    }
}

fn row(command: TestCommand, allowed: Option<CodeTerm>) -> TestCommandRow {
    TestCommandRow {
        before: command.before(),
        command: TestLine {
            line: command.line(),
            folder: command.folder,
        },
        runner: command.runner.map(TestRunner::name).map(str::to_owned),
        reason: command.reason,
        allowed,
    }
}
