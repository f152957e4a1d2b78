//! What running code showed: of the base, of each attempt, and of the patch.
//!
//! How code is run, and how outputs are judged, is not known here.

use crate::text::count;
use crate::{AttemptNumber, RepoPath, TreeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

/// What running the checks and the tests showed of a changed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChangeTests {
    /// The tree that was tested.
    pub tree: TreeId,
    pub checks: Vec<CheckRun>,
    /// None where no tests were run.
    pub tests: Option<TestsOnChange>,
    /// Whether the model finds the code less likely with the change than without it: it is plausible at most then. Known of the patch alone.
    #[serde(default, rename = "unlikely", skip_serializing_if = "std::ops::Not::not")]
    pub less_likely: bool,
    /// How many attempts with other code pass as well, where nothing that was run tells them apart: with several the change is plausible at most. Known of
    /// the patch alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rivals: u32,
    /// Its checks as tests of the project. Known of the patch alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_tests: Vec<CheckAsTest>,
}

/// A check as a new file of the project, which its own test command has run without the patch and with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckAsTest {
    pub check: CheckId,
    /// Where the file is put; the base has nothing there.
    pub path: RepoPath,
    /// All that stands in the file.
    pub text: String,
    /// Why it is not offered: none where it fails without the patch and passes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<AsTestTrouble>,
    /// The run with the patch; without it where that says enough already.
    pub run: ProgramRun,
}

/// Why a check is no good as a test of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AsTestTrouble {
    /// It does not fail without the patch.
    PassesWithout,
    /// It does not pass with the patch.
    FailsWith,
    /// The test command does not run it.
    NotRun { why: String },
}

impl fmt::Display for AsTestTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PassesWithout => f.write_str("it passes without the patch, too"),
            Self::FailsWith => f.write_str("it does not pass with the patch"),
            Self::NotRun { why } => write!(f, "it could not be run: {why}"),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How many others may pass beside a change that is shown to work. Of one or two different patches among eight that pass all tests the chosen one is right 95
/// times of 100 (Kozuchi); of eight different ones, 65.
const RIVALS: u32 = 1;

/// How much likelier the model finds the code with an attempt than without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct AttemptGain {
    pub attempt: AttemptNumber,
    /// The logarithm of how many times as likely, in nats; 0 where the model could not say.
    pub gain: f64,
    /// How many tokens of code the change touches: all from the first to the last that is another one, before or after it, whichever are more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub touched: u32,
}

impl AttemptGain {
    /// Returns how likely the change is among others that pass, in nats: what it gains, less one for each token that it touches. Leaving something out
    /// beside the fault makes code likelier, too.
    pub fn likelihood(&self) -> f64 {
        self.gain - f64::from(self.touched)
    }
}

/// What a check showed of a changed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckRun {
    pub check: CheckId,
    pub state: CheckState,
    pub run: ProgramRun,
}

/// What became of a fault on a changed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckState {
    /// The fault is gone.
    Gone { grade: Grade },
    /// It is as on the base.
    Present,
    /// Something else goes wrong now: no evidence either way.
    OtherError { what: String },
    /// It did not end in time.
    TimedOut,
}

/// The tests of the project on a changed tree, against the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TestsOnChange {
    pub passed: u32,
    /// Failed on the base, pass now.
    pub newly_passing: Vec<TestName>,
    /// Do not fail on the base, fail now or are gone.
    pub newly_failing: Vec<FailingTest>,
    /// Failed on the base and now.
    pub still_failing: u32,
    pub run: ProgramRun,
    /// Why there are no results, or not of all tests, in a sentence.
    pub incomplete: Option<String>,
    /// How many tests that passed on the base gave no result, because the run broke off.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: u32,
}

/// A test that fails, with what the runner said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FailingTest {
    pub name: TestName,
    /// The end of its message; may be empty.
    pub message: String,
}

/// What needs a hunk of a change: it fails without that hunk, and passes with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct HunkNeed {
    /// The line of the base at which the hunk begins.
    pub line: u32,
    pub checks: Vec<CheckId>,
    pub tests: Vec<TestName>,
}

/// What is known of a patch by running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    NotRun,
    /// Every check that fails on the base passes, one of them by a strong grade, and no test that passed fails.
    ShownToWork {
        grade: Grade,
    },
    /// The same by weak grades alone, so that nothing says whether what it gives now is right; or with code that the model finds less likely than
    /// it was; or beside several other changes that pass as well.
    Plausible {
        grade: Grade,
    },
    /// It was run, and that does not show that it works.
    NotShown {
        why: String,
    },
}

impl Grade {
    /// Returns whether a wrong change hardly passes.
    pub fn is_strong(self) -> bool {
        self >= Self::ExceptionGone
    }
}

impl ChangeTests {
    /// Returns the checks that can be added to the patch as tests.
    pub fn offered_tests(&self) -> impl Iterator<Item = &CheckAsTest> {
        self.as_tests.iter().filter(|test| test.trouble.is_none())
    }

    /// Returns how many checks pass that failed on the base.
    pub fn passed_checks(&self) -> usize {
        let gone = |run: &&CheckRun| matches!(run.state, CheckState::Gone { .. });
        self.checks.iter().filter(gone).count()
    }

    /// Returns what passes on this tree and fails on another one.
    pub fn more_than(&self, other: &Self) -> (Vec<CheckId>, Vec<TestName>) {
        let gone = |tested: &Self| -> BTreeSet<CheckId> {
            let gone = tested
                .checks
                .iter()
                .filter(|run| matches!(run.state, CheckState::Gone { .. }));
            gone.map(|run| run.check).collect()
        };
        let named = |tested: &Self, of: fn(&TestsOnChange) -> Vec<TestName>| -> BTreeSet<TestName> {
            tested.tests.as_ref().map(of).into_iter().flatten().collect()
        };
        let failing = |tests: &TestsOnChange| tests.newly_failing.iter().map(|test| test.name.clone()).collect();
        let passing = |tests: &TestsOnChange| tests.newly_passing.clone();
        // Where no check passes, the tests are not run at all, which says nothing of them.
        let lost = if other.tests.is_some() {
            &named(self, passing) - &named(other, passing)
        } else {
            BTreeSet::new()
        };
        let broken = &named(other, failing) - &named(self, failing);
        let mut gone = &gone(self) - &gone(other);
        gone.retain(|check| other.checks.iter().any(|run| run.check == *check));
        (gone.into_iter().collect(), lost.union(&broken).cloned().collect())
    }

    /// Returns how many tests fail that do not fail on the base.
    pub fn broken(&self) -> usize {
        self.tests.as_ref().map_or(0, |tests| tests.newly_failing.len())
    }

    /// Returns whether the code still runs: no check ends in another error, or not at all, and the tests give results where they did on the base.
    pub fn runs(&self) -> bool {
        let stops = |run: &CheckRun| matches!(run.state, CheckState::OtherError { .. } | CheckState::TimedOut);
        !self.checks.iter().any(stops) && !self.is_without_results()
    }

    /// Returns whether no test gives a result any more, of those that passed on the base: the code does not compile, say.
    pub fn is_without_results(&self) -> bool {
        let gives_none = |tests: &TestsOnChange| tests.passed == 0 && tests.missing > 0;
        self.tests.as_ref().is_some_and(gives_none)
    }

    /// Returns what all this proves.
    pub fn proof(&self) -> Proof {
        let grade = |run: &CheckRun| match run.state {
            CheckState::Gone { grade } => Some(grade),
            CheckState::Present | CheckState::OtherError { .. } | CheckState::TimedOut => None,
        };
        let why = |why: String| Proof::NotShown { why };
        if self.broken() > 0 {
            return why(format!("{} that passed on the base", count_failing(self.broken())));
        }
        if let Some((tests, reason)) = self
            .tests
            .as_ref()
            .and_then(|tests| Some((tests, tests.incomplete.as_ref()?)))
        {
            if tests.passed == 0 {
                return why(format!("the tests gave no results: {reason}"));
            }
            if tests.missing > 0 {
                return why(format!("{} no result: {reason}", count_without(tests.missing)));
            }
        }
        let missing = self.checks.len() - self.passed_checks();
        if self.checks.is_empty() {
            return why("nothing that fails because of the fault could be run".to_owned());
        }
        if missing > 0 {
            return why(format!(
                "{} of {} still shows the fault",
                missing,
                count(self.checks.len(), "check")
            ));
        }
        match self.checks.iter().filter_map(grade).max() {
            Some(grade) if grade.is_strong() => Proof::ShownToWork { grade }.beside(self.less_likely, self.rivals),
            Some(grade) => Proof::Plausible { grade },
            None => why("no check passes".to_owned()),
        }
    }
}

fn count_without(number: u32) -> String {
    if number == 1 {
        "1 test that passed on the base gave".to_owned()
    } else {
        format!("{number} tests that passed on the base gave")
    }
}

fn count_failing(number: usize) -> String {
    if number == 1 {
        "1 test fails".to_owned()
    } else {
        format!("{number} tests fail")
    }
}

impl Proof {
    /// Returns what is left of it for code that the model finds less likely than it was, or beside so many other changes that pass as well.
    #[must_use]
    pub fn beside(self, less_likely: bool, rivals: u32) -> Self {
        match self {
            Self::ShownToWork { grade } if less_likely || rivals > RIVALS => Self::Plausible { grade },
            other => other,
        }
    }

    /// Returns whether it is shown to work.
    pub fn is_shown(&self) -> bool {
        matches!(self, Self::ShownToWork { .. })
    }

    /// Returns the grade by which all checks pass, where they do and no test fails.
    pub fn grade(&self) -> Option<Grade> {
        match self {
            Self::ShownToWork { grade } | Self::Plausible { grade } => Some(*grade),
            Self::NotRun | Self::NotShown { .. } => None,
        }
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

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRun => f.write_str("Tests: not run"),
            Self::ShownToWork { grade } => write!(f, "Shown to work: {grade}"),
            Self::Plausible { grade } => write!(f, "Plausible, not shown to work: {grade}"),
            Self::NotShown { why } => write!(f, "Not shown to work: {why}"),
        }
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

    #[test]
    fn a_test_run_without_results_is_told_from_one_that_never_was_possible() {
        let check = |passed, missing, runs| {
            let tests = TestsOnChange {
                passed,
                newly_passing: Vec::new(),
                newly_failing: Vec::new(),
                still_failing: 0,
                run: ProgramRun::none(""),
                incomplete: Some("the project does not compile".to_owned()),
                missing,
            };
            let tested = ChangeTests {
                tree: TreeId("t".to_owned()),
                checks: Vec::new(),
                tests: Some(tests),
                less_likely: false,
                rivals: 0,
                as_tests: Vec::new(),
            };
            assert_eq!(tested.runs(), runs);
        };
        check(0, 12, false);
        check(0, 0, true);
        check(3, 9, true);
    }

    #[test]
    fn a_check_that_was_not_run_is_not_lost() {
        let run = |check, state| CheckRun {
            check: CheckId(check),
            state,
            run: ProgramRun::none(""),
        };
        let gone = |check| {
            let grade = Grade::ExpectedResult;
            run(check, CheckState::Gone { grade })
        };
        let tested = |checks| ChangeTests {
            tree: TreeId("t".to_owned()),
            checks,
            tests: None,
            less_likely: false,
            rivals: 0,
            as_tests: Vec::new(),
        };
        let both = tested(vec![gone(1), gone(2)]);
        let (lost, _) = both.more_than(&tested(vec![run(2, CheckState::Present)]));
        assert_eq!(lost, [CheckId(2)]);
        let (lost, _) = both.more_than(&tested(vec![run(1, CheckState::TimedOut), run(2, CheckState::Present)]));
        assert_eq!(lost, [CheckId(1), CheckId(2)]);
    }
}
