//! Reads the output of `tape`, which is the Test Anything Protocol with the names of the tests in comments between their checks.
//!
//! A test is what stands behind one heading: it fails where one of its checks does.

use super::collect::{Collector, named};
use super::form::Problem;
use super::{Completeness, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    if !report.lines().any(|line| line.starts_with("TAP version")) {
        return Err(Problem::NoTest);
    }
    let mut heading = "";
    let mut planned = false;
    let mut failed: Option<String> = None;
    for line in report.lines() {
        let is_point = line.starts_with("ok ") || line.starts_with("not ok ");
        let is_plan = line.starts_with("1..");
        if (is_point || is_plan || line.starts_with("# "))
            && let Some(details) = failed.take()
        {
            found.add(named("", heading), TestStatus::Failed, &details, None);
        }
        if is_plan {
            planned = true;
        } else if let Some(name) = line.strip_prefix("# ") {
            // Behind the plan the numbers of all are told.
            heading = if planned { heading } else { name.trim() };
        } else if is_point && line.starts_with("not ok ") && !line.contains("# TODO") {
            failed = Some(String::new());
        } else if is_point {
            let is_skipped = ["# SKIP", "# TODO"].iter().any(|mark| line.contains(mark));
            let status = if is_skipped {
                TestStatus::Skipped
            } else {
                TestStatus::Passed
            };
            found.add(named("", heading), status, "", None);
        } else if let Some(details) = &mut failed {
            details.push_str(line);
            details.push('\n');
        }
    }
    if let Some(details) = failed {
        found.add(named("", heading), TestStatus::Failed, &details, None);
    }
    if planned {
        Ok(Completeness::Whole)
    } else {
        Ok(Completeness::Partial("the plan is missing, as 1..N".to_owned()))
    }
}
