//! What code is run to see: what shows the fault, on the base, and how the project's tests go there.
//!
//! How code is run, and how outputs are judged, is not known here.

use crate::RepoPath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much it says that a fault is gone, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// An output the issue shows is no longer that, and nothing says what it should be: a wrong change passes too.
    SomethingChanged,
    /// The output called wrong is gone.
    WrongOutputGone,
    /// The exception is gone, or the run ends that did not.
    ExceptionGone,
    /// The result the issue states is there, or a test passes that failed.
    ExpectedResult,
}

/// One of the checks of a run that show the fault, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct CheckId(pub u32);

/// Something that fails on the base because of the fault: it passes when the issue is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BugCheck {
    pub id: CheckId,
    pub source: CheckSource,
    /// What a change proves at the most that makes it pass.
    pub grade: Grade,
    /// What is run: the script, or the test's file.
    pub script: String,
    /// The same as a test for the project, in its own style, where it can be written as one.
    pub as_test: Option<String>,
    /// What it showed on the base.
    pub on_base: ProgramRun,
    /// The functions of the project that it entered there, in that order; empty where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<FunctionAt>,
    /// What running it would do outside a sandbox, such as deleting files: a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A function of the base tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FunctionAt {
    pub path: RepoPath,
    /// The line on which its code begins, from 1.
    pub line: u32,
    pub name: String,
    /// The lines of it that hold code and were never run; empty where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<u32>,
}

/// Functions that a check enters, as far as they are recorded: a list of so many is cut.
pub const MOST_ENTERED: usize = 1_000;

/// Returns the functions that every check enters, as far as whole lists tell; where none is common to them, those that any check enters. A change at one
/// place mends what all of them run through.
pub fn entered_by_all(checks: &[BugCheck]) -> Vec<&FunctionAt> {
    let is_same = |one: &FunctionAt, other: &FunctionAt| one.path == other.path && one.line == other.line;
    let mut whole = checks
        .iter()
        .map(|check| &check.reached)
        .filter(|all| !all.is_empty() && all.len() < MOST_ENTERED);
    let mut common: Vec<&FunctionAt> = whole.next().into_iter().flatten().collect();
    for other in whole {
        common.retain(|at| other.iter().any(|other| is_same(at, other)));
    }
    if common.is_empty() {
        common = checks.iter().flat_map(|check| &check.reached).collect();
    }
    common
}

/// Code that a run runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RunningCode {
    /// What shows the fault: an example of the issue, or a test written for it.
    Check,
    AllTests,
    /// The tests nearest to the changes, or those that a person names.
    SomeTests,
}

/// Where a check comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckSource {
    /// Made out of the issue's text by program: the number among those that can be made of it, from 0.
    Issue { number: u32 },
    /// Named by the person: a test of the repository that fails.
    Given { test: String },
    /// Tests of the project that fail on the base.
    FailingTests { tests: Vec<TestName> },
    /// Written by a QA Engineer out of the issue, as a file of its own.
    Written { path: RepoPath },
}

/// The name of a test, as the runner tells it from the others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct TestName(pub String);

/// One run of a program: what was run, how it ended, and what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ProgramRun {
    /// Program and arguments, as a shell would take them.
    pub command: String,
    /// Relative to the root of the repository.
    pub folder: String,
    /// How it ended, in words: "ended with exit status 1".
    pub end: String,
    /// The exit status, where it ended by itself.
    pub status: Option<i32>,
    /// Milliseconds.
    pub took_ms: u32,
    pub stdout: ExcerptedOutput,
    pub stderr: ExcerptedOutput,
    /// What the sandbox kept from it, a sentence each.
    pub refused: Vec<String>,
}

/// What a program wrote: the first and the last part where it is long.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ExcerptedOutput {
    pub text: String,
    /// Bytes cut out of the middle.
    pub cut_bytes: u32,
}

/// The tests nearest to a change, run on the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BaseTests {
    /// The files whose changes they judge.
    pub covers: Vec<RepoPath>,
    /// The files of tests that are run, nearest first; empty: all tests.
    pub files: Vec<RepoPath>,
    /// How many files of tests reach the change and are beyond the budget.
    pub left_out: u32,
    pub passed: u32,
    /// Fail both times; they are not held against a change.
    pub failing: Vec<TestName>,
    /// Fail one time and pass the other; they are set aside.
    pub wavering: Vec<TestName>,
    /// The first of the two runs; none where none was made.
    pub run: Option<ProgramRun>,
    /// Why there are no results, or not of all tests, in a sentence.
    pub incomplete: Option<String>,
}

impl Grade {
    /// Returns whether a wrong change hardly passes.
    pub fn is_strong(self) -> bool {
        self >= Self::ExceptionGone
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C{}", self.0)
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SomethingChanged => "the output is another one",
            Self::WrongOutputGone => "the wrong output is gone",
            Self::ExceptionGone => "the exception is gone",
            Self::ExpectedResult => "the expected result is there",
        })
    }
}

impl ProgramRun {
    /// Returns what it wrote: to standard output, then to standard error.
    pub fn written(&self) -> String {
        let parts = [self.stdout.text.trim_end(), self.stderr.text.trim_end()];
        let there: Vec<&str> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
        there.join("\n")
    }

    /// Returns the record of a run that did not take place.
    pub fn none(why: &str) -> Self {
        Self {
            command: String::new(),
            folder: String::new(),
            end: why.to_owned(),
            status: None,
            took_ms: 0,
            stdout: ExcerptedOutput::default(),
            stderr: ExcerptedOutput::default(),
            refused: Vec::new(),
        }
    }
}

impl ExcerptedOutput {
    /// The longest text that is kept, in bytes: half of it from the beginning, half from the end.
    pub const MOST_BYTES: usize = 8 << 10;

    /// Keeps the beginning and the end of a text; `cut_before` bytes were cut out of it already.
    pub fn of(text: &str, cut_before: u64) -> Self {
        let cut = |bytes: usize| u32::try_from(bytes as u64 + cut_before).unwrap_or(u32::MAX);
        if text.len() <= Self::MOST_BYTES {
            return Self {
                text: text.to_owned(),
                cut_bytes: cut(0),
            };
        }
        let half = Self::MOST_BYTES / 2;
        let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let from = text.len() - half;
        let tail = (from..=text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len());
        let between = tail - head;
        Self {
            text: format!("{}\n[{between} bytes cut out]\n{}", &text[..head], &text[tail..]),
            cut_bytes: cut(between),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Takes the functions that each check enters, and tells those in which the fault may be.
    fn check(entered: &[&[&str]], expected: &[&str]) {
        let function = |name: &&str| FunctionAt {
            path: RepoPath::new("a.py").unwrap(),
            line: name.len() as u32,
            name: (*name).to_owned(),
            missed: Vec::new(),
        };
        let of = |names: &&[&str]| BugCheck {
            id: CheckId(1),
            source: CheckSource::Issue { number: 0 },
            grade: Grade::ExpectedResult,
            script: String::new(),
            as_test: None,
            on_base: ProgramRun::none(""),
            reached: names.iter().map(function).collect(),
            warnings: Vec::new(),
        };
        let checks: Vec<BugCheck> = entered.iter().map(of).collect();
        let found: Vec<&str> = entered_by_all(&checks).into_iter().map(|at| at.name.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_fault_is_in_what_all_checks_enter() {
        check(&[&["f", "gg"]], &["f", "gg"]);
        check(&[&["f", "gg", "hhh"], &["gg", "iiii"]], &["gg"]);
        check(&[&["f"], &[], &["f", "gg"]], &["f"]);
        check(&[&["f"], &["gg"]], &["f", "gg"]);
        check(&[&[]], &[]);
        let cut = ["hhh"; MOST_ENTERED];
        check(&[&["f", "gg"], &cut], &["f", "gg"]);
    }
}
