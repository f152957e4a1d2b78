//! Reads the stream of `go test -json`: one object a line, which other lines may stand between.

use super::collect::{Collector, named};
use super::form::Problem;
use super::{Completeness, MAX_FAILURE_BYTES, MAX_TESTS, TestStatus};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: Option<String>,
    /// What a failed build is called, which has no package.
    #[serde(default)]
    import_path: Option<String>,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    elapsed: Option<f64>,
    #[serde(default)]
    output: Option<String>,
}

/// A package, and a test in it; none for the package as a whole.
type Place = (String, Option<String>);

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut said: BTreeMap<Place, String> = BTreeMap::new();
    let mut running: BTreeSet<Place> = BTreeSet::new();
    let mut packages: BTreeSet<String> = BTreeSet::new();
    let mut with_failures: BTreeSet<String> = BTreeSet::new();
    let mut panicked: Option<String> = None;
    for line in report.lines().filter(|line| line.starts_with('{')) {
        let Ok(line) = serde_json::from_str::<Line>(line) else {
            continue;
        };
        // A build is called `example/calc [example/calc.test]`.
        let package = line.package.or(line.import_path).unwrap_or_default();
        let package = package.split(" [").next().unwrap_or_default().to_owned();
        let place = (package.clone(), line.test.clone());
        let duration = line.elapsed.and_then(|time| Duration::try_from_secs_f64(time).ok());
        let status = match line.action.as_str() {
            "start" | "run" if running.len() < MAX_TESTS => {
                packages.insert(package);
                running.insert(place);
                continue;
            }
            "output" | "build-output" => {
                let output = line.output.as_deref().unwrap_or_default();
                // A panic ends the package: the tests behind it are not told of.
                if output.starts_with("panic: ") {
                    panicked = panicked.or(Some(package));
                }
                // `=== RUN` and the like tell of the order of the run, not of the test.
                let text = said.entry(place).or_default();
                if text.len() <= 4 * MAX_FAILURE_BYTES && !output.starts_with("=== ") {
                    text.push_str(output);
                }
                continue;
            }
            "pass" => TestStatus::Passed,
            "fail" => TestStatus::Failed,
            "skip" => TestStatus::Skipped,
            _ => continue,
        };
        running.remove(&place);
        let text = said.remove(&place).unwrap_or_default();
        match &line.test {
            Some(test) => {
                if status.is_bad() {
                    with_failures.insert(package.clone());
                }
                found.add(named(package, test), status, &text, duration);
            }
            // A package that fails without a failing test could not be built, or its process died.
            None if status.is_bad() && !with_failures.contains(&package) => {
                found.add(named(package.clone(), ""), TestStatus::Errored, &text, duration);
                packages.insert(package);
            }
            None => {
                packages.insert(package);
            }
        }
    }
    if let Some(package) = panicked {
        return Ok(Completeness::Partial(format!("a panic ended the tests of {package}")));
    }
    let unfinished: Vec<Place> = running.into_iter().collect();
    match unfinished
        .iter()
        .find(|(_, test)| test.is_some())
        .or(unfinished.first())
    {
        Some((package, test)) => {
            let test = test.as_deref().unwrap_or("its end");
            Ok(Completeness::Partial(format!(
                "the stream stops before {test} of {package}"
            )))
        }
        None if packages.is_empty() && found.is_empty() => Err(Problem::NoTest),
        None => Ok(Completeness::Whole),
    }
}
