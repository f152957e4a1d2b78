//! Reads what `rspec --format json` writes.

use super::collect::Collector;
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};
use serde::Deserialize;
use std::time::Duration;

#[derive(Deserialize)]
struct Report {
    examples: Vec<Example>,
    #[serde(default)]
    summary: Summary,
    #[serde(default)]
    messages: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Summary {
    #[serde(default)]
    errors_outside_of_examples_count: u64,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    run_time: Option<f64>,
    #[serde(default)]
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(default)]
    class: String,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    backtrace: Option<Vec<String>>,
}

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let report: Report = serde_json::from_str(report).map_err(|error| Problem::Broken(error.to_string()))?;
    for example in &report.examples {
        let failed = match &example.exception {
            // RSpec's own exceptions are checks that did not hold.
            Some(exception) if !exception.class.starts_with("RSpec::") => TestStatus::Errored,
            Some(_) | None => TestStatus::Failed,
        };
        let status = match example.status.as_str() {
            "passed" => TestStatus::Passed,
            "pending" => TestStatus::Skipped,
            _ => failed,
        };
        let id = TestId {
            file: example.file_path.clone(),
            group: String::new(),
            name: example.full_description.clone(),
        };
        let text = example.exception.as_ref().map(Exception::text).unwrap_or_default();
        let duration = example.run_time.and_then(|time| Duration::try_from_secs_f64(time).ok());
        found.add(id, status, &text, duration);
    }
    Ok(match report.summary.errors_outside_of_examples_count {
        0 => Completeness::Whole,
        count => Completeness::Partial(format!(
            "{count} errors happened outside of the examples: {}",
            report.messages.first().map_or("", |message| message.trim())
        )),
    })
}

impl Exception {
    fn text(&self) -> String {
        let message = self.message.as_deref().unwrap_or_default();
        let trace = self.backtrace.as_deref().unwrap_or_default().join("\n");
        format!("{}: {message}\n{trace}", self.class)
    }
}
