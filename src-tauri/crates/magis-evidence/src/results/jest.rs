//! Reads what `jest --json` writes.

use super::collect::{Collector, milliseconds};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<TestFile>,
    #[serde(default)]
    was_interrupted: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestFile {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let report: Report = serde_json::from_str(report).map_err(|error| Problem::Broken(error.to_string()))?;
    for file in &report.test_results {
        let id = |group: String, name: &str| TestId {
            file: Some(file.name.clone()),
            group,
            name: name.to_owned(),
        };
        // A file that cannot be loaded has no tests, only a message.
        if file.assertion_results.is_empty() && file.status == "failed" {
            found.add(id(String::new(), ""), TestStatus::Errored, &file.message, None);
        }
        for test in &file.assertion_results {
            let status = match test.status.as_str() {
                "passed" => TestStatus::Passed,
                "failed" => TestStatus::Failed,
                "pending" | "todo" | "skipped" | "disabled" | "focused" => TestStatus::Skipped,
                _ => TestStatus::Errored,
            };
            let text = test.failure_messages.as_deref().unwrap_or_default().join("\n");
            let duration = test.duration.and_then(milliseconds);
            found.add(id(test.ancestor_titles.join(" "), &test.title), status, &text, duration);
        }
    }
    Ok(if report.was_interrupted {
        Completeness::Partial("Jest says that the run was interrupted".to_owned())
    } else {
        Completeness::Whole
    })
}
