//! The test commands of a repository, and what a person allowed of them.

use crate::problem::Problem;
use crate::state::App;
use crate::view::{BaseRequest, TestCommandRow};
use magis_core::{RepoId, TestLine};
use magis_engine::tests::{IsolationTerm, TestCommand, TestRunner};

impl App {
    /// Lists the test commands that are found in a repository, the best guess first.
    pub fn test_commands(&self, repo: RepoId, base: BaseRequest) -> Result<Vec<TestCommandRow>, Problem> {
        let magis = self.magis()?;
        let mut rows = Vec::new();
        for command in magis.test_commands(repo, &base.into(), None)? {
            let allowed = magis.test_permission(repo, &command)?.is_some();
            rows.push(row(command, allowed));
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
