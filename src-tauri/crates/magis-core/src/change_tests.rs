//! What running the checks and the tests showed of a change, and what that proves.

use crate::testing::{CheckId, Grade, ProgramRun, TestName};
use crate::text::count;
use crate::{AttemptNumber, RepoPath, TreeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

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
    /// How many attempts with other code pass as well, where nothing that was run tells them apart: with some the change is plausible at most. Known of
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

/// How many others may pass beside a change that is shown to work by the result that the issue states. Of one or two different patches among eight that pass
/// all tests the chosen one is right 95 times of 100 (Kozuchi); of eight different ones, 65. Where no result is stated, none may: that an exception is gone
/// does not say which of two is right.
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
    /// it was; or beside other changes that pass as well.
    Plausible {
        grade: Grade,
    },
    /// It was run, and that does not show that it works.
    NotShown {
        why: String,
    },
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
            Self::ShownToWork { grade } => {
                let most = if grade == Grade::ExpectedResult { RIVALS } else { 0 };
                if less_likely || rivals > most {
                    Self::Plausible { grade }
                } else {
                    self
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

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
