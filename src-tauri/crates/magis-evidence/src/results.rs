//! Results of test runs, test by test, read from what the runners write for machines.
//!
//! Start with [`read`], or with [`failed_in_log`] for what a person pastes. A report is a text that strangers' code
//! wrote, so its size, its nesting and its messages are bounded, and a broken one is an error or the tests up to the
//! break, never a panic. Which command makes which report is for the module `commands` to say.

mod collect;
mod comparison;
mod form;
mod go;
mod jest;
mod jest_output;
mod junit;
mod libtest;
mod log;
mod minitest;
mod mocha;
mod mocha_output;
mod nextest;
mod outline;
mod pytest;
mod rspec;
mod rspec_output;
mod sympy;
mod tap;
mod tape;
mod trx;
mod unittest;
mod vitest_output;
mod xml;

pub use comparison::{Comparison, compare, wavering};
pub use form::{ReportError, ReportForm};
pub use log::failed_in_log;

use collect::{Collector, named};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest report that is read, in bytes.
pub const MAX_REPORT_BYTES: usize = 64 << 20;
/// How many tests of a report are kept.
pub const MAX_TESTS: usize = 200_000;
/// How much of a failure's text is kept, in bytes: the first and the last half.
pub const MAX_FAILURE_BYTES: usize = 8 << 10;

/// Which test it is, in the runner's own words and so that the same test in two runs compares equal.
///
/// A path is kept relative to the folder of the run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId {
    pub file: Option<String>,
    /// The class, module, package or test program, the outer before the inner; empty where the runner names none.
    pub group: String,
    /// Empty where it is the file or package as a whole, which could not be loaded or built.
    pub name: String,
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestStatus {
    Passed,
    /// A check of the test did not hold, or the runner does not tell failures from errors.
    Failed,
    /// The test broke before or beside its checks: its file does not load, its fixture fails, its process dies.
    Errored,
    /// It was not run, or it was expected to fail and did.
    Skipped,
}

/// A failure's message and trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureText {
    pub text: String,
    /// How many bytes were cut out of the middle.
    pub cut_bytes: usize,
}

/// What one run says about one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    pub status: TestStatus,
    /// Present only where the test failed or errored and the runner said why.
    pub failure: Option<FailureText>,
    pub duration: Option<Duration>,
}

/// Whether a report tells of all that was to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    /// It ends as this form of report ends.
    Whole,
    /// Tests may be missing; why, as a sentence for a person.
    Partial(String),
}

/// How many tests ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    pub skipped: usize,
}

/// The results of a test run.
///
/// Where a report names a test twice, the worse outcome stands: errored before failed before passed before skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResults {
    pub tests: BTreeMap<TestId, TestOutcome>,
    pub completeness: Completeness,
}

/// Reads a report. `folder` is the absolute path of the folder in which the run took place, as the runner saw it;
/// absolute paths below it become relative, so that runs in two folders can be compared.
///
/// # Errors
/// When the report is too long, is not of this form, or holds neither a test nor the mark of a run without tests.
pub fn read(form: ReportForm, report: &str, folder: &str) -> Result<TestResults, ReportError> {
    if report.len() > MAX_REPORT_BYTES {
        return Err(ReportError::TooLong {
            form,
            bytes: report.len(),
        });
    }
    let mut found = Collector::new(folder);
    let report = report.trim_start_matches('\u{feff}');
    let completeness = match form {
        ReportForm::JUnit => junit::read(report, &mut found),
        ReportForm::Trx => trx::read(report, &mut found),
        ReportForm::Jest => jest::read(report, &mut found),
        ReportForm::Mocha => mocha::read(report, &mut found),
        ReportForm::RSpec => rspec::read(report, &mut found),
        ReportForm::GoTest => go::read(report, &mut found),
        ReportForm::Libtest => libtest::read(report, &mut found),
        ReportForm::Nextest => nextest::read(report, &mut found),
        ReportForm::Tap => tap::read(report, &mut found),
        ReportForm::Tape => tape::read(report, &mut found),
        ReportForm::Unittest => unittest::read(report, &mut found),
        ReportForm::Minitest => minitest::read(report, &mut found),
        ReportForm::Sympy => sympy::read(report, &mut found),
        ReportForm::PytestSummary => pytest::read(report, &mut found),
        ReportForm::JestOutput => jest_output::read(report, &mut found),
        ReportForm::VitestOutput => vitest_output::read(report, &mut found),
        ReportForm::MochaOutput => mocha_output::read(report, &mut found),
        ReportForm::RSpecOutput => rspec_output::read(report, &mut found),
    }
    .map_err(|problem| problem.of(form))?;
    Ok(found.finish(completeness))
}

/// Makes results of the exit status of a command that has no report: one test, named as the command. `printed` is what it printed.
pub fn of_status(command: &str, status: i32, printed: &str) -> TestResults {
    let mut found = Collector::new("");
    let outcome = if status == 0 {
        TestStatus::Passed
    } else {
        TestStatus::Failed
    };
    found.add(named("", command), outcome, printed, None);
    found.finish(Completeness::Whole)
}

/// Reads the reports of one run that wrote several files, as Maven and Gradle do, and puts them together.
///
/// # Errors
/// When there is no report, or not one of them can be read. Where some can, the results say that they are partial.
pub fn read_all<'a>(
    form: ReportForm,
    reports: impl IntoIterator<Item = &'a str>,
    folder: &str,
) -> Result<TestResults, ReportError> {
    let mut whole: Option<TestResults> = None;
    let mut broken: Option<ReportError> = None;
    for report in reports {
        match read(form, report, folder) {
            Ok(results) => match &mut whole {
                Some(whole) => whole.join(results),
                None => whole = Some(results),
            },
            Err(error) => broken = broken.or(Some(error)),
        }
    }
    let mut whole = match (whole, &broken) {
        (Some(whole), _) => whole,
        (None, Some(error)) => return Err(error.clone()),
        (None, None) => return Err(ReportError::NoReport { form }),
    };
    if let (Some(error), Completeness::Whole) = (broken, &whole.completeness) {
        whole.completeness = Completeness::Partial(error.to_string());
    }
    Ok(whole)
}

impl TestStatus {
    /// Returns whether the test failed or errored.
    pub fn is_bad(self) -> bool {
        match self {
            Self::Failed | Self::Errored => true,
            Self::Passed | Self::Skipped => false,
        }
    }

    /// Which outcome stands where a report names a test twice.
    fn weight(self) -> u8 {
        match self {
            Self::Skipped => 0,
            Self::Passed => 1,
            Self::Failed => 2,
            Self::Errored => 3,
        }
    }
}

impl TestResults {
    /// Counts the tests by their outcome.
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        for outcome in self.tests.values() {
            match outcome.status {
                TestStatus::Passed => counts.passed += 1,
                TestStatus::Failed => counts.failed += 1,
                TestStatus::Errored => counts.errored += 1,
                TestStatus::Skipped => counts.skipped += 1,
            }
        }
        counts
    }

    /// Adds the results of another report of the same run.
    pub fn join(&mut self, other: Self) {
        for (id, outcome) in other.tests {
            insert(&mut self.tests, id, outcome);
        }
        if self.completeness == Completeness::Whole {
            self.completeness = other.completeness;
        }
    }
}

impl std::fmt::Display for TestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = self.file.as_deref().unwrap_or_default();
        let parts = [file, self.group.as_str(), self.name.as_str()];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&said.join(" :: "))
    }
}

fn insert(tests: &mut BTreeMap<TestId, TestOutcome>, id: TestId, outcome: TestOutcome) {
    let worse = |known: &TestOutcome| outcome.status.weight() > known.status.weight();
    if tests.get(&id).is_none_or(worse) {
        tests.insert(id, outcome);
    }
}
