//! The forms of reports that can be read, and what can be wrong with one.

use thiserror::Error;

/// In which form a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportForm {
    /// The XML of Ant's `JUnit` task, as pytest, vitest, node, Surefire, Gradle, `CTest` and `PHPUnit` write it.
    JUnit,
    /// The XML of `dotnet test --logger trx`.
    Trx,
    /// What `jest --json` writes.
    Jest,
    /// What `mocha --reporter json` writes.
    Mocha,
    /// What `rspec --format json` writes.
    RSpec,
    /// The stream of `go test -json`: one JSON object a line.
    GoTest,
    /// What `cargo test` prints, standard output and error in one.
    Libtest,
    /// The status lines of `cargo nextest run`.
    Nextest,
    /// The Test Anything Protocol, versions 12 to 14.
    Tap,
    /// What `tape` prints: the Test Anything Protocol, with the names of the tests in comments.
    Tape,
    /// What `python -m unittest -v` prints.
    Unittest,
    /// What minitest prints when it is verbose.
    Minitest,
    /// What sympy's `bin/test --verbose` prints.
    Sympy,
    /// The short summary of `pytest -rA`, where no XML was written.
    PytestSummary,
    /// What Jest prints for a person.
    JestOutput,
    /// What Vitest prints for a person.
    VitestOutput,
    /// What Mocha's default reporter prints.
    MochaOutput,
    /// What `RSpec` prints for a person, with dots or as documentation.
    RSpecOutput,
}

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReportError {
    #[error("the report of this test run ({form}) has {bytes} bytes, more than can be read; run fewer tests at once")]
    TooLong { form: ReportForm, bytes: usize },
    /// It is not what the form promises, or is broken before the first test.
    #[error("the report of this test run cannot be read as {form}: {problem}; look at the output of the run")]
    Broken { form: ReportForm, problem: String },
    /// Nothing in it is a test, nor the end of a run.
    #[error("the report of this test run ({form}) names no test; look at the output of the run")]
    NoTest { form: ReportForm },
    #[error("this test run wrote no report ({form}); look at the output of the run")]
    NoReport { form: ReportForm },
}

/// Why a text is not of the form that is being read.
#[derive(Debug)]
pub(super) enum Problem {
    Broken(String),
    NoTest,
}

impl Problem {
    pub(super) fn of(self, form: ReportForm) -> ReportError {
        match self {
            Self::Broken(problem) => ReportError::Broken { form, problem },
            Self::NoTest => ReportError::NoTest { form },
        }
    }
}

impl ReportForm {
    /// Returns the name of the form, for a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::JUnit => "JUnit XML",
            Self::Trx => "TRX",
            Self::Jest => "Jest's JSON",
            Self::Mocha => "Mocha's JSON",
            Self::RSpec => "RSpec's JSON",
            Self::GoTest => "go test -json",
            Self::Libtest => "the output of cargo test",
            Self::Nextest => "the output of cargo nextest",
            Self::Tap => "TAP",
            Self::Tape => "the output of tape",
            Self::Unittest => "the output of unittest",
            Self::Minitest => "the output of minitest",
            Self::Sympy => "the output of sympy's bin/test",
            Self::PytestSummary => "the short summary of pytest",
            Self::JestOutput => "the output of Jest",
            Self::VitestOutput => "the output of Vitest",
            Self::MochaOutput => "the output of Mocha",
            Self::RSpecOutput => "the output of RSpec",
        }
    }
}

impl std::fmt::Display for ReportForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
