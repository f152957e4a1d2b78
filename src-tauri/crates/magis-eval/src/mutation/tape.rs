//! The output of `tape`, JavaScript's runner that names its tests in comments between their checks.
//!
//! A test is what stands behind one heading: it fails where one of its checks does.

use magis_evidence::results::{Completeness, FailureText, TestId, TestOutcome, TestResults, TestStatus};
use std::collections::BTreeMap;

/// Reads an output; none where it is no protocol of tests with headings.
pub(super) fn read(output: &str) -> Option<TestResults> {
    let mut tests: BTreeMap<TestId, TestOutcome> = BTreeMap::new();
    let (mut heading, mut planned, mut open) = (None, false, None::<TestId>);
    output.lines().find(|line| line.starts_with("TAP version"))?;
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            open = None;
            if !planned {
                heading = Some(name.trim().to_owned());
            }
        } else if line.starts_with("1..") {
            planned = true;
        } else if line.starts_with("ok ") || line.starts_with("not ok ") {
            let id = TestId {
                file: None,
                group: String::new(),
                name: heading.clone()?,
            };
            let outcome = tests.entry(id.clone()).or_insert(TestOutcome {
                status: TestStatus::Passed,
                failure: None,
                duration: None,
            });
            open = None;
            if line.starts_with("not ok ") && !line.contains("# TODO") && outcome.status == TestStatus::Passed {
                outcome.status = TestStatus::Failed;
                outcome.failure = Some(FailureText {
                    text: String::new(),
                    cut_bytes: 0,
                });
                open = Some(id);
            }
        } else if let Some(failure) = open
            .as_ref()
            .and_then(|id| tests.get_mut(id))
            .and_then(|outcome| outcome.failure.as_mut())
        {
            failure.text.push_str(line);
            failure.text.push('\n');
        }
    }
    let completeness = if planned {
        Completeness::Whole
    } else {
        Completeness::Partial("the output stops before its plan".to_owned())
    };
    (!tests.is_empty()).then_some(TestResults { tests, completeness })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutated_scripts_are_judged_by_the_headings_of_tape() {
        let output = "TAP version 13\n# adds\nok 1 should be equal\nnot ok 2 should be equal\n  ---\n    expected: 1\n  ...\n# takes\nok 3 is\n\n1..3\n# tests 3\n# fail  1\n";
        let results = read(output).expect("results");
        let told: Vec<(&str, TestStatus)> = results
            .tests
            .iter()
            .map(|(id, outcome)| (id.name.as_str(), outcome.status))
            .collect();
        assert_eq!(told, [("adds", TestStatus::Failed), ("takes", TestStatus::Passed)]);
        assert_eq!(results.completeness, Completeness::Whole);
    }
}
