//! Reads what `mocha --reporter json` writes, from its own file or from among what the tests printed.

use super::collect::{Collector, milliseconds};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};
use serde::Deserialize;
use std::collections::HashSet;

/// How many places of an output are tried as the beginning of the report.
const MAX_TRIES: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    tests: Vec<Test>,
    #[serde(default)]
    pending: Vec<Test>,
    /// These hold the failed hooks too, which `tests` does not.
    #[serde(default)]
    failures: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    title: String,
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    err: Failure,
}

#[derive(Deserialize, Default)]
struct Failure {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    stack: Option<String>,
}

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let report = parsed(report)?;
    let places = |tests: &[Test]| -> HashSet<_> { tests.iter().map(Test::id).collect() };
    let (pending, failed) = (places(&report.pending), places(&report.failures));
    for test in report.tests.iter().chain(&report.failures) {
        let id = test.id();
        let said = test
            .err
            .stack
            .as_deref()
            .or(test.err.message.as_deref())
            .unwrap_or_default();
        let status = if failed.contains(&id) {
            TestStatus::Failed
        } else if pending.contains(&id) {
            TestStatus::Skipped
        } else {
            TestStatus::Passed
        };
        found.add(id, status, said, test.duration.and_then(milliseconds));
    }
    Ok(Completeness::Whole)
}

/// Reads the report, which begins at the first line with a lone brace from which it can be read.
fn parsed(text: &str) -> Result<Report, Problem> {
    let mut first_error = None;
    let lines = text.match_indices('{').filter(|(at, _)| {
        let after = text[at + 1..].trim_start_matches([' ', '\r']);
        (*at == 0 || text[..*at].ends_with('\n')) && (after.starts_with('\n') || after.starts_with('"'))
    });
    for (at, _) in lines.take(MAX_TRIES) {
        let mut reports = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Report>();
        match reports.next() {
            Some(Ok(report)) => return Ok(report),
            Some(Err(error)) => first_error = first_error.or(Some(error.to_string())),
            None => {}
        }
    }
    Err(Problem::Broken(
        first_error.unwrap_or_else(|| "no JSON object stands in it".to_owned()),
    ))
}

impl Test {
    fn id(&self) -> TestId {
        let group = self.full_title.strip_suffix(&self.title).unwrap_or(&self.full_title);
        TestId {
            file: self.file.clone(),
            group: group.trim_end().to_owned(),
            name: self.title.clone(),
        }
    }
}
