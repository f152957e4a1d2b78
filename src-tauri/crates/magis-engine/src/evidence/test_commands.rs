//! The test commands of a repository, and which of them the person allowed.

use super::checkout::{Checkout, installed};
use crate::{EngineError, Magis};
use magis_core::{RepoId, RepoPath};
use magis_evidence::commands::{self, ProjectFiles, TestCommand};
use magis_platform::now_ms;
use magis_repo::{BaseChoice, Snapshot};
use magis_sandbox::Sandbox;
use magis_store::{IsolationTerm, TestPermission};
use std::ops::ControlFlow;
use std::path::PathBuf;

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
        let files = TreeFiles::of(&snapshot)?;
        let found = match given {
            Some(line) => vec![commands::given(line, &files)?],
            None => commands::find(&files),
        };
        let repository = self.open_repository(repo)?;
        let used = |command: TestCommand| {
            let installed = installed(repository.root(), &command);
            command.using(&installed)
        };
        Ok(found.into_iter().map(used).collect())
    }

    /// Returns the test command of a tree that is worded like this in that folder, as it is found there; else the line as a command of its own.
    ///
    /// # Errors
    /// When the tree cannot be read, or the line is no command.
    pub(crate) fn test_command_of(
        &self,
        repo: RepoId,
        snapshot: &Snapshot,
        line: &str,
        folder: &str,
    ) -> Result<TestCommand, EngineError> {
        let files = TreeFiles::of(snapshot)?;
        let root = PathBuf::from(self.store.repository(repo)?.root);
        let used = |command: TestCommand| {
            let installed = installed(&root, &command);
            command.using(&installed)
        };
        let mut found = commands::find(&files).into_iter().map(used);
        match found.find(|command| command.line() == line && command.folder == folder) {
            Some(known) => Ok(known),
            None => {
                let mut given = used(commands::given(line, &files)?);
                if !folder.is_empty() {
                    folder.clone_into(&mut given.folder);
                }
                Ok(given)
            }
        }
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
        Ok(self.store.allow_tests(
            repo,
            &TestPermission {
                folder: command.folder.clone(),
                command: command.line(),
                isolation,
                allowed_at: now_ms(),
            },
        )?)
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

/// The files of a snapshot, for finding test commands in them.
struct TreeFiles<'tree> {
    snapshot: &'tree Snapshot,
    paths: Vec<RepoPath>,
}

impl<'tree> TreeFiles<'tree> {
    /// Lists the files of a snapshot.
    fn of(snapshot: &'tree Snapshot) -> Result<Self, EngineError> {
        let (files, _) = snapshot.files()?;
        Ok(Self {
            snapshot,
            paths: files.into_iter().map(|file| file.path).collect(),
        })
    }
}

impl ProjectFiles for TreeFiles<'_> {
    fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    fn text(&self, path: &RepoPath) -> Option<String> {
        let blob = self.snapshot.blob(path).ok()?;
        Some(self.snapshot.scan(&blob).ok()?.text)
    }
}
