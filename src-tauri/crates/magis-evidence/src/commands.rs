//! The test commands of a project: found in its files, or given by a person.
//!
//! Start with [`find`]. A command knows its runner, and so how to word a run of all tests, of some files or of some
//! tests, and where the report comes out. Nothing is run here, and nobody asks whether the runner is installed.

mod dotnet;
mod family;
mod files;
mod given;
mod go;
mod javascript;
mod jvm;
mod missing;
mod native;
mod php;
mod python;
mod ruby;
mod runner;
mod rust;

pub use dotnet::DotnetRunner;
pub use go::GoRunner;
pub use javascript::JavaScriptRunner;
pub use jvm::JvmRunner;
pub use missing::{missing_program, not_started};
pub use native::NativeRunner;
pub use php::PhpRunner;
pub use python::PythonRunner;
pub use ruby::RubyRunner;
pub use runner::TestRunner;
pub use rust::RustRunner;

use crate::results::{ReportForm, TestId};
use family::{Wanted, is_python};
use files::{Tree, depth, file_name, join, relative};
use glob::Pattern;
use magis_core::RepoPath;
use std::cmp::Reverse;
use thiserror::Error;

/// How many commands are found in one project.
const MAX_COMMANDS: usize = 32;
/// Where a virtual environment has its Python.
const VENV_PYTHON: &str = if cfg!(windows) {
    "Scripts/python.exe"
} else {
    "bin/python"
};

/// The files of a project, as whoever asks for its commands can give them.
pub trait ProjectFiles {
    /// Returns the paths of all files.
    fn paths(&self) -> &[RepoPath];

    /// Returns the text of a file; none where it is missing or no text.
    fn text(&self, path: &RepoPath) -> Option<String>;
}

/// A command that runs tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCommand {
    /// None for a command that a person gave and nothing here knows: it has no report and cannot be narrowed down.
    pub runner: Option<TestRunner>,
    /// Program and arguments, without those that ask for a report.
    pub words: Vec<String>,
    /// Environment variables that the command needs, by name and value.
    pub variables: Vec<(String, String)>,
    /// The folder in which it runs, relative to the root; empty for the root.
    pub folder: String,
    /// How the project names its files with tests, where its configuration says so; else empty, and the runner's own
    /// names count.
    pub test_names: Vec<Pattern>,
    /// What says that this is a test command, as a sentence for a person.
    pub reason: String,
}

/// What of a project's tests is to run.
#[derive(Debug, Clone, Copy)]
pub enum TestSelection<'a> {
    Whole,
    /// By their paths from the root.
    Files(&'a [RepoPath]),
    /// As the report of an earlier run of the same command names them.
    Tests(&'a [TestId]),
}

/// One run of a test command: what is to be run, where, and where its report comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordedRun {
    /// Commands that have to succeed first, in the same folder; else old code would be tested.
    pub preparation: Vec<Vec<String>>,
    pub words: Vec<String>,
    /// Environment variables by name and value.
    pub variables: Vec<(String, String)>,
    /// Relative to the root; empty for the root.
    pub folder: String,
    /// None where only the exit status tells how the run ended.
    pub report: Option<TestReport>,
}

/// In which form a run reports, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestReport {
    pub form: ReportForm,
    pub place: ReportPlace,
}

/// Where a report comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportPlace {
    /// In files of the scratch folder that was named when the run was worded.
    Scratch(FilePattern),
    /// In files below the folder of the command, where those of an earlier run may lie.
    Project(FilePattern),
    Stdout,
    Stderr,
    /// On both, which have to come through one pipe so that their order is kept.
    Merged,
}

/// Which files are reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePattern {
    /// Folders that lie somewhere above the file, as `build/test-results`; empty for any.
    pub below: &'static str,
    /// How the name of the file begins.
    pub prefix: &'static str,
    /// How the name of the file ends.
    pub suffix: &'static str,
}

/// Why a line is no command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    #[error("the test command is empty; give a program and its arguments")]
    Empty,
    #[error("the test command '{0}' has a quote that is not closed; close it")]
    Unbalanced(String),
    #[error("the test command {0:?} holds a control character; give it on one line")]
    Control(String),
    /// It sets variables, and no program stands behind them.
    #[error("the test command '{0}' only sets variables; put the program behind them")]
    NoProgram(String),
}

/// Why a command cannot run just what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SelectionError {
    #[error("no file and no test is named; name one, or run all tests")]
    Nothing,
    /// By the runner's name.
    #[error("{0} cannot be told which of the files or tests to run; run all tests")]
    Cannot(&'static str),
    #[error("the test command '{0}' is not of a known runner, so it cannot be narrowed down; run all tests")]
    UnknownRunner(String),
    #[error("'{file}' is not in the folder '{folder}' of the test command; run it with the command of its own folder")]
    Outside { file: RepoPath, folder: String },
    #[error("'{file}' is no file that {runner} could test on its own; run all tests")]
    NotATest { runner: &'static str, file: String },
    #[error("the report does not say in which file the test '{0}' is; run all tests")]
    NoFile(String),
}

/// Finds the test commands of a project, the best guess first.
///
/// A test program of the project's own comes first, then a runner that the project configures, then one that it only
/// names, then one for which there are just test files; last what starts another runner and hides its results, as tox,
/// make or an unknown script. Among equals the folder nearest to the root comes first, then the one with the most test
/// files.
pub fn find(files: &dyn ProjectFiles) -> Vec<TestCommand> {
    let tree = Tree::new(files);
    let mut found = runner::find(&tree);
    found.sort_by_cached_key(|found| {
        let runner = found.runner.as_runner();
        let tests = tree
            .below(&found.folder)
            .iter()
            .filter(|path| runner.is_test_file(path))
            .count();
        (found.standing, depth(&found.folder), Reverse(tests))
    });
    found.truncate(MAX_COMMANDS);
    let command = |found: family::Found<TestRunner>| TestCommand {
        test_names: found.runner.as_runner().test_names(&tree, &found.folder),
        reason: found.reason,
        runner: Some(found.runner),
        words: found.words,
        variables: Vec::new(),
        folder: found.folder,
    };
    found.into_iter().map(command).collect()
}

/// Reads a test command that a person gives, to be run in the root. A line that needs a shell is run by `sh -c`, where
/// it has no report.
///
/// # Errors
/// When the line is empty, has more than one line or a quote that is not closed, or names no program.
pub fn given(line: &str, files: &dyn ProjectFiles) -> Result<TestCommand, CommandError> {
    given::read(line, &Tree::new(files))
}

impl TestCommand {
    /// Puts a command into a folder, whose configuration counts from then on.
    #[must_use]
    pub fn within(mut self, folder: &str, files: &dyn ProjectFiles) -> Self {
        if folder == self.folder {
            return self;
        }
        let runner = self.runner.as_ref().map(TestRunner::as_runner);
        let names = runner.map(|runner| runner.test_names(&Tree::new(files), folder));
        self.test_names = names.unwrap_or_default();
        folder.clone_into(&mut self.folder);
        self
    }

    /// Returns variables, program and arguments as a line that a shell would read the same way.
    pub fn line(&self) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)));
        variables
            .chain(self.words.iter().map(|word| quoted(word)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the lines that every run of the command runs before it, which whoever allows the command allows with it.
    pub fn before(&self) -> Vec<String> {
        self.preparation().iter().map(|words| shell_line(words)).collect()
    }

    fn preparation(&self) -> Vec<Vec<String>> {
        let runner = self.runner.as_ref().map(TestRunner::as_runner);
        runner.map(family::Runner::preparation).unwrap_or_default()
    }

    /// Words a run. `scratch` is the absolute path of an empty folder into which reports may be written. More tests
    /// than those selected may run, and some runners tell of the others as skipped: of a narrowed run, only what is
    /// told of the selected tests counts.
    ///
    /// # Errors
    /// When nothing is selected, or the runner cannot run just that.
    pub fn run(&self, selection: TestSelection, scratch: &str) -> Result<WordedRun, SelectionError> {
        let files = match selection {
            TestSelection::Whole | TestSelection::Tests(_) => Vec::new(),
            TestSelection::Files(files) => self.relative(files)?,
        };
        let wanted = match selection {
            TestSelection::Whole => Wanted::Whole,
            TestSelection::Files([]) | TestSelection::Tests([]) => return Err(SelectionError::Nothing),
            TestSelection::Files(_) => Wanted::Files(&files),
            TestSelection::Tests(tests) => Wanted::Tests(tests),
        };
        let scratch = scratch.trim_end_matches(['/', '\\']);
        let (words, report) = match (&self.runner, wanted) {
            (Some(runner), _) => runner.as_runner().words(&self.words, wanted, scratch)?,
            (None, Wanted::Whole) => (self.words.clone(), None),
            (None, Wanted::Files(_) | Wanted::Tests(_)) => {
                return Err(SelectionError::UnknownRunner(self.words.join(" ")));
            }
        };
        let runner = self.runner.as_ref().map(TestRunner::as_runner);
        let mut variables = runner.map(|runner| runner.variables(scratch)).unwrap_or_default();
        variables.extend(self.variables.iter().cloned());
        Ok(WordedRun {
            preparation: self.preparation(),
            words,
            variables,
            folder: self.folder.clone(),
            report,
        })
    }

    /// Returns whether the command can be told which files of tests to run.
    pub fn takes_files(&self) -> bool {
        let folder = if self.folder.is_empty() { "" } else { "/" };
        let any = RepoPath::new(format!("{}{folder}tests", self.folder));
        let run = any.map(|file| self.run(TestSelection::Files(&[file]), ""));
        !matches!(
            run,
            Ok(Err(SelectionError::Cannot(_) | SelectionError::UnknownRunner(_)))
        )
    }

    /// Returns whether the runner would take a file for one with tests.
    pub fn is_test_file(&self, path: &RepoPath) -> bool {
        let runner = self.runner.as_ref().map(TestRunner::as_runner);
        let path = relative(&self.folder, path.as_str());
        path.zip(runner)
            .is_some_and(|(path, runner)| match &self.test_names[..] {
                [] => runner.is_test_file(path),
                names => names.iter().any(|name| fits(name, path)),
            })
    }

    /// Returns the folders, relative to the root, that may hold what the command needs installed or built; the nearest
    /// first. None of them is in a git tree as a rule.
    pub fn environments(&self) -> Vec<String> {
        let names = self
            .runner
            .as_ref()
            .map_or(&[][..], |runner| runner.as_runner().environments());
        let mut folder = Some(self.folder.as_str());
        let mut places = Vec::new();
        while let Some(here) = folder {
            places.extend(names.iter().map(|name| join(here, name)));
            folder = (!here.is_empty()).then(|| here.rsplit_once('/').map_or("", |(outer, _)| outer));
        }
        places
    }

    /// Puts the Python of a virtual environment in place of the machine's. `existing` are those of
    /// [`environments`](Self::environments) that are there.
    #[must_use]
    pub fn using(mut self, existing: &[String]) -> Self {
        let is_python_command = matches!(self.runner, Some(TestRunner::Python(_)));
        let venv = self.environments().into_iter().find(|place| {
            let name = file_name(place);
            existing.contains(place) && matches!(name, ".venv" | "venv" | "env")
        });
        if let (true, Some(venv), Some(program)) = (is_python_command, venv, self.words.first_mut())
            && is_python(program)
        {
            // An environment of a folder further up, seen from the folder of the command.
            *program = match relative(&self.folder, &venv) {
                Some(inner) => format!("{inner}/{VENV_PYTHON}"),
                None => {
                    let shared = depth(venv.rsplit_once('/').map_or("", |(outer, _)| outer));
                    let inner = venv.splitn(shared + 1, '/').last().unwrap_or(&venv);
                    format!("{}{inner}/{VENV_PYTHON}", "../".repeat(depth(&self.folder) - shared))
                }
            };
        }
        self
    }

    fn relative(&self, files: &[RepoPath]) -> Result<Vec<String>, SelectionError> {
        let outside = |file: &RepoPath| SelectionError::Outside {
            file: file.clone(),
            folder: self.folder.clone(),
        };
        let inside = |file: &RepoPath| relative(&self.folder, file.as_str()).map(str::to_owned);
        files
            .iter()
            .map(|file| inside(file).ok_or_else(|| outside(file)))
            .collect()
    }
}

/// Returns whether a file is named so: by its name alone, or by the end of its path where the pattern has folders.
fn fits(pattern: &Pattern, path: &str) -> bool {
    if !pattern.as_str().contains('/') {
        return pattern.matches(file_name(path));
    }
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    std::iter::once(path).chain(ends).any(|end| pattern.matches(end))
}

impl FilePattern {
    /// Returns whether a file is a report, by its path relative to the folder that is searched.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let within = self.below.is_empty() || format!("/{folder}/").contains(&format!("/{}/", self.below));
        let long_enough = name.len() >= self.prefix.len() + self.suffix.len();
        within && long_enough && name.starts_with(self.prefix) && name.ends_with(self.suffix)
    }
}

/// Returns words as a line that a shell would read the same way.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a word as a shell reads it back.
fn quoted(word: &str) -> String {
    // What holds a zero byte is no word of a command; it is shown as it is.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
