//! What every family of runners answers, and the words that they put together.

use super::files::Tree;
use super::{FilePattern, ReportPlace, SelectionError, TestReport};
use crate::results::{ReportForm, TestId};
use glob::Pattern;

/// How much a project says for a command. The order is the order of the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// The project has a test program of its own.
    Own,
    /// The project configures the runner.
    Configured,
    /// A file of the project names the runner, or something that only it reads is there.
    Named,
    /// There are test files that it could run.
    Present,
    /// It starts another runner, whose results it hides, and may want a network first.
    Wrapper,
}

/// A command that was found, with the runner as its family knows it.
#[derive(Debug, Clone)]
pub(super) struct Found<R> {
    pub(super) runner: R,
    pub(super) words: Vec<String>,
    pub(super) folder: String,
    pub(super) standing: Standing,
    pub(super) reason: String,
}

impl<R> Found<R> {
    pub(super) fn new(runner: R, words: &[&str], folder: &str, standing: Standing, reason: impl Into<String>) -> Self {
        Self {
            runner,
            words: owned(words),
            folder: folder.to_owned(),
            standing,
            reason: reason.into(),
        }
    }

    pub(super) fn map<S>(self, into: impl Fn(R) -> S) -> Found<S> {
        Found {
            runner: into(self.runner),
            words: self.words,
            folder: self.folder,
            standing: self.standing,
            reason: self.reason,
        }
    }
}

/// What is to be run; paths are relative to the folder of the command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'a> {
    Whole,
    Files(&'a [String]),
    Tests(&'a [TestId]),
}

/// The words of a run, and where its report comes out.
pub(super) type Worded = Result<(Vec<String>, Option<TestReport>), SelectionError>;

/// One runner of a family.
pub(super) trait Runner {
    fn name(&self) -> &'static str;

    /// Returns the folders that hold what was installed or built, relative to the folder of the command or to one
    /// above.
    fn environments(&self) -> &'static [&'static str];

    /// Returns whether the runner would take a file for one with tests, by its path relative to the folder of the
    /// command.
    fn is_test_file(&self, path: &str) -> bool;

    /// Returns how the configuration in a folder names files with tests, for a runner that can be told; empty where it
    /// says nothing.
    fn test_names(&self, _tree: &Tree, _folder: &str) -> Vec<Pattern> {
        Vec::new()
    }

    /// Words a run. `words` are the command's own; the report goes into the folder `scratch`.
    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded;

    /// Returns the environment variables that the run needs, by name and value.
    fn variables(&self, _scratch: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns what has to run first so that the tests see the code as it is.
    fn preparation(&self) -> Vec<Vec<String>> {
        Vec::new()
    }
}

pub(super) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Puts words behind words.
pub(super) fn with<W: Into<String>>(words: &[String], more: impl IntoIterator<Item = W>) -> Vec<String> {
    words.iter().cloned().chain(more.into_iter().map(Into::into)).collect()
}

/// Puts words at a place among words; at the end where the place is behind it.
pub(super) fn insert(words: &[String], at: usize, more: &[String]) -> Vec<String> {
    let (before, after) = words.split_at(at.min(words.len()));
    [before, more, after].concat()
}

/// A report in one file of the scratch folder.
pub(super) fn in_scratch(form: ReportForm, name: &'static str) -> TestReport {
    let (prefix, suffix) = name.split_once('*').unwrap_or((name, ""));
    TestReport {
        form,
        place: ReportPlace::Scratch(FilePattern {
            below: "",
            prefix,
            suffix,
        }),
    }
}

pub(super) fn printed(form: ReportForm, place: ReportPlace) -> TestReport {
    TestReport { form, place }
}

/// Returns the files of tests, each once.
///
/// # Errors
/// When a test does not say in which file it is.
pub(super) fn files_of(tests: &[TestId]) -> Result<Vec<String>, SelectionError> {
    let file = |test: &TestId| {
        test.file
            .clone()
            .ok_or_else(|| SelectionError::NoFile(test.to_string()))
    };
    let files: Result<Vec<String>, _> = tests.iter().map(file).collect();
    files.map(distinct)
}

/// Keeps each text once, in the order in which they come.
pub(super) fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// Makes a regular expression that matches any of the texts, and nothing else where `whole` stands around it.
pub(super) fn any_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("({})", distinct(texts).join("|"))
}

/// Quotes what has a meaning in regular expressions, of which the runners speak several dialects.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$/".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Returns the name of a test without the parameters behind it: `positive(int)[1]` is `positive`.
pub(super) fn without_parameters(name: &str) -> &str {
    name.split(['(', '[', '{', ' ']).next().unwrap_or(name)
}

/// Returns words without what stands before the runner: variables, and programs that only start others.
pub(super) fn bare<'w, 's>(words: &'w [&'s str]) -> &'w [&'s str] {
    let starters: [&[&str]; 15] = [
        &["env"],
        &["cross-env"],
        &["npx"],
        &["bunx"],
        &["pnpm", "exec"],
        &["yarn", "exec"],
        &["npm", "exec", "--"],
        &["nyc"],
        &["c8"],
        &["bundle", "exec"],
        &["uv", "run"],
        &["poetry", "run"],
        &["pipenv", "run"],
        &["hatch", "run"],
        &["pdm", "run"],
    ];
    let mut words = words;
    let mut started = false;
    loop {
        let Some(first) = words.first() else {
            return words;
        };
        let name = super::files::file_name(first);
        let starter = starters.iter().find(|starter| words.starts_with(starter));
        words = match starter {
            Some(starter) => {
                started = true;
                &words[starter.len()..]
            }
            None if is_assignment(first) || started && first.starts_with('-') => &words[1..],
            None if is_python(name) && words.get(1) == Some(&"-m") => &words[2..],
            None if is_python(name) && words.len() > 1 => &words[1..],
            // A package's program, started by the name that the package manager gives it: `yarn jest`.
            None if matches!(*first, "yarn" | "pnpm") && words.get(1).is_some_and(|word| is_runner(word)) => {
                &words[1..]
            }
            None => return words,
        };
    }
}

/// Returns whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(letters) && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns whether a program is Python: `python`, `python3`, `python3.11`.
pub(super) fn is_python(program: &str) -> bool {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let version = program.strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn is_runner(word: &str) -> bool {
    matches!(word, "jest" | "vitest" | "mocha")
}
