//! The test commands of a repository, and what a person allowed of them.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, CheckTrial, TestCommandRow};
use magis_core::{CheckId, RepoId, RunId, TestLine};
use magis_engine::tests::{IsolationTerm, TestCommand, TestRunner};
use tokio_util::sync::CancellationToken;

impl App {
    /// Lists the test commands that are found in a repository, the best guess first; behind them those that a person gave and allowed.
    pub fn test_commands(&self, repo: RepoId, base: BaseRequest) -> Result<Vec<TestCommandRow>, Problem> {
        let known = self.magis()?.known_test_commands(repo, &base.into())?.into_iter();
        Ok(known.map(|(command, terms)| row(command, terms.is_some())).collect())
    }

    /// Remembers that a person allows a command in a repository, isolated. Returns it as it will be run.
    pub fn allow_tests(&self, repo: RepoId, base: BaseRequest, command: &TestLine) -> Result<TestCommandRow, Problem> {
        let magis = self.magis()?;
        let meant = magis.test_command_of(repo, &base.into(), &command.line, &command.folder)?;
        magis.allow_tests(repo, &meant, IsolationTerm::Required)?;
        Ok(row(meant, true))
    }

    /// Runs a check as a person has edited it, on the base of its run and on the result.
    pub async fn try_check(&self, run: RunId, check: CheckId, script: &str) -> Result<CheckTrial, Problem> {
        let tried = self
            .magis()?
            .try_check(run, check, script, &CancellationToken::new())
            .await?;
        Ok(CheckTrial {
            on_base: tried.on_base,
            on_result: tried.on_result,
        })
    }

    /// Takes back all that a person allowed in a repository.
    pub fn forbid_tests(&self, repo: RepoId) -> Result<(), Problem> {
        self.magis()?.forbid_tests(repo)?;
        Ok(())
    }
}

fn row(command: TestCommand, allowed: bool) -> TestCommandRow {
    TestCommandRow {
        command: TestLine {
            line: command.line(),
            folder: command.folder,
        },
        runner: command.runner.map(TestRunner::name).map(str::to_owned),
        reason: command.reason,
        allowed,
    }
}
