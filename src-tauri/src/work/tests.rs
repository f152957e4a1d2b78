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
        let magis = self.magis()?;
        let base = base.into();
        let mut rows = Vec::new();
        for command in magis.test_commands(repo, &base, None)? {
            let allowed = magis.test_permission(repo, &command)?.is_some();
            rows.push(row(command, allowed));
        }
        for known in magis.test_permissions(repo)? {
            let is_known =
                |row: &TestCommandRow| row.command.line == known.command && row.command.folder == known.folder;
            if !rows.iter().any(is_known) {
                for mut command in magis.test_commands(repo, &base, Some(&known.command))? {
                    command.folder.clone_from(&known.folder);
                    rows.push(row(command, true));
                }
            }
        }
        Ok(rows)
    }

    /// Remembers that a person allows a command in a repository, isolated. Returns it as it will be run.
    pub fn allow_tests(&self, repo: RepoId, base: BaseRequest, command: &TestLine) -> Result<TestCommandRow, Problem> {
        let magis = self.magis()?;
        let base = base.into();
        let found = magis.test_commands(repo, &base, None)?;
        let known = found
            .into_iter()
            .find(|known| known.line() == command.line && known.folder == command.folder);
        let meant = match known {
            Some(known) => Some(known),
            None => magis
                .test_commands(repo, &base, Some(&command.line))?
                .into_iter()
                .next(),
        };
        let meant = meant.ok_or_else(|| {
            Problem::new(
                "test_command",
                format!("'{}' is no test command", command.line),
                "Give a program and its arguments on one line.",
            )
        })?;
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
