//! Two results side by side: of a base and a changed tree, or of one tree run twice.

use super::{Completeness, TestId, TestResults, TestStatus};

/// What a change did to the tests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Failed or errored before, pass now.
    pub newly_passing: Vec<TestId>,
    /// Passed or were skipped before, fail or error now.
    pub newly_failing: Vec<TestId>,
    /// Failed or errored before and now.
    pub still_failing: Vec<TestId>,
    /// Ran before, are skipped now.
    pub newly_skipped: Vec<TestId>,
    /// Are not there any more, though the changed run's report is whole.
    pub vanished: Vec<TestId>,
    /// Are not in the changed run's report, which is partial.
    pub unreached: Vec<TestId>,
    /// Were not there before, with what became of them.
    pub new: Vec<(TestId, TestStatus)>,
}

/// Compares the results of a base and of a changed tree.
pub fn compare(base: &TestResults, changed: &TestResults) -> Comparison {
    let mut comparison = Comparison::default();
    for (id, before) in &base.tests {
        let Some(after) = changed.tests.get(id) else {
            match changed.completeness {
                Completeness::Whole => comparison.vanished.push(id.clone()),
                Completeness::Partial(_) => comparison.unreached.push(id.clone()),
            }
            continue;
        };
        let list = match (before.status.is_bad(), after.status) {
            (true, TestStatus::Passed) => &mut comparison.newly_passing,
            (true, TestStatus::Failed | TestStatus::Errored) => &mut comparison.still_failing,
            (false, TestStatus::Failed | TestStatus::Errored) => &mut comparison.newly_failing,
            (true, TestStatus::Skipped) => &mut comparison.newly_skipped,
            (false, TestStatus::Skipped) if before.status == TestStatus::Passed => &mut comparison.newly_skipped,
            (false, TestStatus::Passed | TestStatus::Skipped) => continue,
        };
        list.push(id.clone());
    }
    let unknown = changed.tests.iter().filter(|(id, _)| !base.tests.contains_key(id));
    comparison.new = unknown.map(|(id, outcome)| (id.clone(), outcome.status)).collect();
    comparison
}

/// Finds the tests on which two runs of the same tree do not agree. A test missing in one run wavers only where that
/// run's report is whole.
pub fn wavering(first: &TestResults, second: &TestResults) -> Vec<TestId> {
    let differs = |id: &TestId, status: TestStatus, other: &TestResults| match other.tests.get(id) {
        Some(outcome) => outcome.status != status,
        None => other.completeness == Completeness::Whole,
    };
    let in_first = first
        .tests
        .iter()
        .filter(|(id, outcome)| differs(id, outcome.status, second));
    let only_in_second = second
        .tests
        .iter()
        .filter(|(id, outcome)| !first.tests.contains_key(id) && differs(id, outcome.status, first));
    let mut wavering: Vec<TestId> = in_first.chain(only_in_second).map(|(id, _)| id.clone()).collect();
    wavering.sort();
    wavering
}
