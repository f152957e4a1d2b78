//! Finds the tests that a log names as failed: what a runner printed for a person, with other lines around it.
//!
//! A log is a part of a run at best, so nothing is said of tests that pass or that are missing. Documents, which have to be read as a whole, are no logs.

use super::collect::{named, plain};
use super::{ReportForm, TestId, pytest, read, unittest};
use std::collections::BTreeSet;
use std::path::Path;

/// The forms that are read line by line, where lines of other programs do no harm.
const LINES: [ReportForm; 10] = [
    ReportForm::Libtest,
    ReportForm::Nextest,
    ReportForm::GoTest,
    ReportForm::Unittest,
    ReportForm::Minitest,
    ReportForm::Sympy,
    ReportForm::JestOutput,
    ReportForm::VitestOutput,
    ReportForm::MochaOutput,
    ReportForm::RSpecOutput,
];

/// Returns the tests that a log names as failed, each once, in the order of their identities; none where it is no output of a runner that is known.
///
/// Paths are as the log has them. Where it does not tell the package of a test, its group is empty.
pub fn failed_in_log(log: &str) -> Vec<TestId> {
    let log = plain(log);
    let mut found: BTreeSet<TestId> = BTreeSet::new();
    for form in LINES.into_iter().chain(tap_form(&log)) {
        if let Ok(results) = read(form, &log, "") {
            let failed = results.tests.into_iter().filter(|(_, outcome)| outcome.status.is_bad());
            found.extend(failed.map(|(id, _)| id));
        }
    }
    found.extend(log.lines().filter_map(failed_in_line));
    // A form that takes the lines of another for its own knows no file.
    found.retain(|id| id.file.as_deref() != Some("") && !id.to_string().is_empty());
    found.into_iter().collect()
}

/// Returns the form of the Test Anything Protocol that a log has, if any: tape names its tests in comments.
fn tap_form(log: &str) -> Option<ReportForm> {
    let mut lines = log.lines().skip_while(|line| !line.starts_with("TAP version "));
    lines.next()?;
    let names_tests = lines
        .next()
        .is_some_and(|line| line.starts_with("# ") && !line.starts_with("# Subtest: "));
    Some(if names_tests { ReportForm::Tape } else { ReportForm::Tap })
}

/// Reads lines that name a failed test by themselves: of pytest's summary, the heads of unittest's failures, and the ends of Go's tests.
fn failed_in_line(line: &str) -> Option<TestId> {
    if let Some(ended) = line.trim_start().strip_prefix("--- FAIL: ") {
        let name = ended.split(' ').next().filter(|name| !name.is_empty())?;
        return Some(named("", name));
    }
    if let Some(head) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
        return unittest::id_of(head).filter(|id| id.group.contains('.'));
    }
    let (id, status, _) = pytest::result_of(line)?;
    let ending = id.file.as_deref().and_then(|file| Path::new(file).extension());
    let is_python = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("py"));
    (status.is_bad() && is_python).then_some(id)
}
