//! The test commands of a repository, and which of them the person allowed.

use super::checkout::Checkout;
use super::installed;
use crate::{EngineError, Magis};
use magis_core::{RepoId, RepoPath};
use magis_evidence::commands::{self, ProjectFiles, TestCommand};
use magis_platform::now_ms;
use magis_repo::{BaseChoice, Snapshot};
use magis_sandbox::Sandbox;
use magis_store::{IsolationTerm, TestPermission};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What stands for a command where a person allowed what issues show alone.
const ISSUE_CODE: &str = "";

impl Magis {
    /// Finds the test commands of a repository, the best guess first; or reads the one that a person gives.
    ///
    /// # Errors
    /// When the tree cannot be read, or the line is no command.
    pub fn test_commands(
        &self,
        repo: RepoId,
        base: &BaseChoice,
        given: Option<&str>,
    ) -> Result<Vec<TestCommand>, EngineError> {
        let snapshot = self.snapshot_of(repo, base)?;
        let tree = TestedTree::of(&snapshot, self.root_of(repo)?)?;
        match given {
            Some(line) => Ok(vec![tree.given(line, "")?]),
            None => Ok(tree.found()),
        }
    }

    /// Lists the test commands that are found in a repository, the best guess first; behind them those that a person gave and allowed. Each has
    /// the terms on which it is allowed, if it is.
    ///
    /// # Errors
    /// When the tree or the database cannot be read.
    pub fn known_test_commands(
        &self,
        repo: RepoId,
        base: &BaseChoice,
    ) -> Result<Vec<(TestCommand, Option<IsolationTerm>)>, EngineError> {
        let snapshot = self.snapshot_of(repo, base)?;
        let tree = TestedTree::of(&snapshot, self.root_of(repo)?)?;
        let mut listed: Vec<_> = tree.found().into_iter().map(|command| (command, None)).collect();
        let commands = self
            .test_permissions(repo)?
            .into_iter()
            .filter(|allowed| allowed.command != ISSUE_CODE);
        for allowed in commands {
            let same = listed
                .iter_mut()
                .find(|(command, _)| is_worded(command, &allowed.command, &allowed.folder));
            match same {
                Some((_, terms)) => *terms = Some(allowed.isolation),
                None => listed.push((tree.given(&allowed.command, &allowed.folder)?, Some(allowed.isolation))),
            }
        }
        Ok(listed)
    }

    /// Returns the test command of a repository that is worded like this in that folder, as it is found there; else the line as a command of its
    /// own.
    ///
    /// # Errors
    /// When the tree cannot be read, or the line is no command.
    pub fn test_command_of(
        &self,
        repo: RepoId,
        base: &BaseChoice,
        line: &str,
        folder: &str,
    ) -> Result<TestCommand, EngineError> {
        self.test_command_in(repo, &self.snapshot_of(repo, base)?, line, folder)
    }

    /// Does the same in a tree.
    pub(crate) fn test_command_in(
        &self,
        repo: RepoId,
        snapshot: &Snapshot,
        line: &str,
        folder: &str,
    ) -> Result<TestCommand, EngineError> {
        let tree = TestedTree::of(snapshot, self.root_of(repo)?)?;
        let mut found = tree.found().into_iter();
        match found.find(|command| is_worded(command, line, folder)) {
            Some(known) => Ok(known),
            None => tree.given(line, folder),
        }
    }

    fn root_of(&self, repo: RepoId) -> Result<PathBuf, EngineError> {
        Ok(PathBuf::from(self.store.repository(repo)?.root))
    }

    /// Writes the tree of a repository out, so that its tests can be run. `progress` is told how many files there are so far and may break it
    /// off, then there is none.
    ///
    /// # Errors
    /// When the tree cannot be read, or the data folder not be written.
    pub fn check_out(
        &self,
        repo: RepoId,
        base: &BaseChoice,
        sandbox: Sandbox,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Checkout>, EngineError> {
        let snapshot = self.snapshot_of(repo, base)?;
        let root = self.open_repository(repo)?.root().to_owned();
        Checkout::create(&self.data, sandbox, &snapshot, &root, progress)
    }

    /// Returns on which terms a person allowed a command in a repository; none where nobody did.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn test_permission(&self, repo: RepoId, command: &TestCommand) -> Result<Option<IsolationTerm>, EngineError> {
        let found = self.store.test_permission(repo, &command.folder, &command.line())?;
        Ok(found.map(|permission| permission.isolation))
    }

    /// Remembers that a person allows a command in a repository.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn allow_tests(
        &self,
        repo: RepoId,
        command: &TestCommand,
        isolation: IsolationTerm,
    ) -> Result<(), EngineError> {
        self.allow(repo, command.folder.clone(), command.line(), isolation)
    }

    /// Returns on which terms a person allowed what issues show to be run in a repository; none where nobody did. Whoever allowed a test command allowed
    /// that, too, but isolated only: it is a stranger's.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issue_code_permission(&self, repo: RepoId) -> Result<Option<IsolationTerm>, EngineError> {
        let all = self.test_permissions(repo)?;
        let own = all.iter().find(|allowed| allowed.command == ISSUE_CODE);
        let beside_tests = all.first().map(|_| IsolationTerm::Required);
        Ok(own.map(|allowed| allowed.isolation).or(beside_tests))
    }

    /// Remembers that a person allows what issues show to be run in a repository, where it has no test command.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn allow_issue_code(&self, repo: RepoId, isolation: IsolationTerm) -> Result<(), EngineError> {
        self.allow(repo, String::new(), ISSUE_CODE.to_owned(), isolation)
    }

    fn allow(
        &self,
        repo: RepoId,
        folder: String,
        command: String,
        isolation: IsolationTerm,
    ) -> Result<(), EngineError> {
        let permission = TestPermission {
            folder,
            command,
            isolation,
            allowed_at: now_ms(),
        };
        Ok(self.store.allow_tests(repo, &permission)?)
    }

    /// Returns all that a person allowed in a repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn test_permissions(&self, repo: RepoId) -> Result<Vec<TestPermission>, EngineError> {
        Ok(self.store.test_permissions(repo)?)
    }

    /// Takes back all that a person allowed in a repository. Returns how many commands it was.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forbid_tests(&self, repo: RepoId) -> Result<usize, EngineError> {
        Ok(self.store.forbid_tests(repo)?)
    }
}

fn is_worded(command: &TestCommand, line: &str, folder: &str) -> bool {
    command.line() == line && command.folder == folder
}

/// A tree whose test commands are looked for.
struct TestedTree<'tree> {
    snapshot: &'tree Snapshot,
    paths: Vec<RepoPath>,
    /// The repository's work tree, with the environments that are installed there.
    root: PathBuf,
}

impl<'tree> TestedTree<'tree> {
    /// Lists the files of a snapshot.
    fn of(snapshot: &'tree Snapshot, root: PathBuf) -> Result<Self, EngineError> {
        let (files, _) = snapshot.files()?;
        Ok(Self {
            snapshot,
            paths: files.into_iter().map(|file| file.path).collect(),
            root,
        })
    }

    /// Returns the commands that are found, the best guess first.
    fn found(&self) -> Vec<TestCommand> {
        let found = commands::find(self).into_iter();
        found.map(|command| self.with_installed(command)).collect()
    }

    /// Reads a line as a command in a folder.
    fn given(&self, line: &str, folder: &str) -> Result<TestCommand, EngineError> {
        Ok(self.with_installed(commands::given(line, self)?).within(folder, self))
    }

    fn with_installed(&self, command: TestCommand) -> TestCommand {
        let installed = installed::of_command(&self.root, &command);
        let paths: Vec<String> = installed.into_iter().map(|folder| folder.path).collect();
        command.using(&paths)
    }
}

impl ProjectFiles for TestedTree<'_> {
    fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    fn text(&self, path: &RepoPath) -> Option<String> {
        let blob = self.snapshot.blob(path).ok()?;
        Some(self.snapshot.scan(&blob).ok()?.text)
    }
}
