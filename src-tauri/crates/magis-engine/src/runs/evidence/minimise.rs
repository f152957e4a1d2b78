//! Takes out of a change what it can do without: a hunk whose absence changes nothing of what checks and tests say is dropped.

use super::change::test_changes;
use crate::calls::AskError;
use crate::runs::roles::RoleResult;
use crate::runs::workspace::{Workspace, after};
use magis_core::{ChangeTests, CheckState, Edit, FileChange, HunkNeed, RunEvent, TaskId};
use magis_flow::Run;
use magis_repo::edits_between;

/// Hunks of a change that are tried one by one; each costs a run of the tests.
const MOST_HUNKS: usize = 12;

/// Drops each hunk of a task's change whose absence changes no result.
pub(crate) async fn minimise(work: &mut Workspace, run: &Run, task: TaskId) -> RoleResult {
    let state = work.task(run, task)?;
    let path = state.task.path.clone();
    let nothing = || AskError::Unusable("there is no change to make smaller".to_owned());
    let (round, number) = state.accepted_attempt().ok_or_else(nothing)?;
    let attempt = state.attempt(round, number).ok_or_else(nothing)?;
    let change = attempt.usable_change().ok_or_else(nothing)?.clone();
    let shown = attempt.tested.clone().ok_or_else(nothing)?;
    let kept = |change: FileChange, dropped: u32, hunks: u32, needed: Vec<HunkNeed>| {
        Ok(RunEvent::Minimised {
            task,
            change,
            dropped,
            hunks,
            needed,
        })
    };
    let FileChange::Modify { .. } = &change else {
        return kept(change, 0, 1, Vec::new());
    };
    let base = work.read(&path)?.text;
    let new = after(&base, &change).ok_or_else(nothing)?;
    let mut hunks = edits_between(&base, &new);
    let count = hunks.len() as u32;
    if let [only] = hunks.as_slice() {
        let needed = only_hunk(only, &shown);
        return kept(change, 0, count, vec![needed]);
    }
    if hunks.is_empty() || hunks.len() > MOST_HUNKS {
        return kept(change, 0, count, Vec::new());
    }
    let (mut dropped, mut needed) = (0, Vec::new());
    let mut at = 0;
    while at < hunks.len() && hunks.len() > 1 {
        let without: Vec<Edit> = hunks
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != at)
            .map(|(_, hunk)| hunk.clone())
            .collect();
        let tried = [(path.clone(), FileChange::Modify { edits: without.clone() })];
        let said = test_changes(work, run, &tried).await?;
        if says_the_same(&shown, &said) {
            hunks = without;
            dropped += 1;
        } else {
            let (checks, tests) = shown.more_than(&said);
            needed.push(HunkNeed {
                line: hunks[at].span.first(),
                checks,
                tests,
            });
            at += 1;
        }
    }
    if let ([only], true) = (hunks.as_slice(), needed.is_empty()) {
        needed.push(only_hunk(only, &shown));
    }
    let smaller = if dropped == 0 {
        change
    } else {
        FileChange::Modify { edits: hunks }
    };
    kept(smaller, dropped, count, needed)
}

/// Returns what needs the one hunk of a change: without it there is the base, on which all checks fail.
fn only_hunk(hunk: &Edit, shown: &ChangeTests) -> HunkNeed {
    let gone = shown
        .checks
        .iter()
        .filter(|run| matches!(run.state, CheckState::Gone { .. }));
    HunkNeed {
        line: hunk.span.first(),
        checks: gone.map(|run| run.check).collect(),
        tests: shown
            .tests
            .as_ref()
            .map(|tests| tests.newly_passing.clone())
            .unwrap_or_default(),
    }
}

/// Returns whether checks and tests say of two trees the same, but for how long it took.
fn says_the_same(one: &ChangeTests, other: &ChangeTests) -> bool {
    let states = |tested: &ChangeTests| {
        tested
            .checks
            .iter()
            .map(|run| (run.check, run.state.clone()))
            .collect::<Vec<_>>()
    };
    let tests = |tested: &ChangeTests| {
        tested.tests.as_ref().map(|tests| {
            (
                tests.passed,
                tests.newly_passing.clone(),
                tests.still_failing,
                tests.newly_failing.len(),
            )
        })
    };
    states(one) == states(other) && tests(one) == tests(other)
}
