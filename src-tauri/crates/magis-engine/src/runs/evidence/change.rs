//! What checks and tests say of a changed tree: that of an attempt, and that of the merged patch.

use crate::EngineError;
use crate::calls::AskError;
use crate::evidence::ChangedFiles;
use crate::runs::bench::{BaseResults, SUITE_TIME, TestBench, is_meant, program_run, test_name};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::{Workspace, after};
use magis_core::{
    AttemptNumber, BugCheck, ChangeTests, CheckRun, CheckSource, CheckState, FailingTest, FileChange, ProgramRun,
    RepoPath, Round, RunEvent, TaskId, TestName, TestsOnChange, TreeId,
};
use magis_evidence::reproduction::{self, CheckVerdict};
use magis_evidence::results::{Completeness, TestStatus};
use magis_flow::{Attempt, Run};
use magis_repo::apply_changes;
use std::collections::BTreeMap;

/// The tests that fail because of a change, as far as they are named.
const MOST_NAMED: usize = 50;
/// What of a failing test's message is kept, in characters: its end.
const MESSAGE: usize = 2_000;

/// Runs the checks and the tests on the tree with an attempt.
pub(crate) async fn test_attempt(
    work: &mut Workspace,
    run: &Run,
    task: TaskId,
    round: Round,
    attempt: AttemptNumber,
) -> RoleResult {
    let state = work.task(run, task)?;
    let change = state.attempt(round, attempt).and_then(Attempt::usable_change);
    let change = change.ok_or_else(|| AskError::Unusable("there is nothing to test".to_owned()))?;
    let changes = [(state.task.path.clone(), change.clone())];
    let result = test_changes(work, run, &changes).await?;
    Ok(RunEvent::AttemptTested {
        task,
        round,
        attempt,
        result: Box::new(result),
    })
}

/// Runs the checks and the tests on the merged tree. Where that is the tree of the one attempt that was taken, what it showed stands.
pub(crate) async fn test_patch(work: &mut Workspace, run: &Run) -> RoleResult {
    let merged = run.merged().map(|merged| merged.tree.clone());
    let taken: Vec<&Attempt> = run
        .tasks()
        .filter_map(|state| {
            let (round, number) = state.accepted_attempt()?;
            state.attempt(round, number)
        })
        .collect();
    let unlikely = taken.iter().any(|attempt| attempt.is_unlikely());
    let rivals = taken.iter().map(|attempt| attempt.rivals).max().unwrap_or(0);
    let known = taken.iter().find_map(|attempt| {
        let tested = attempt.tested.as_ref()?;
        (Some(&tested.tree) == merged.as_ref() && tested.tests.is_some()).then(|| tested.clone())
    });
    if let Some(known) = known {
        let result = ChangeTests {
            unlikely,
            rivals,
            ..known
        };
        return Ok(RunEvent::PatchTested {
            result: Box::new(result),
        });
    }
    let changes: Vec<(RepoPath, FileChange)> = run
        .tasks()
        .filter_map(|state| Some((state.task.path.clone(), state.accepted_change()?.1.clone())))
        .collect();
    let result = ChangeTests {
        unlikely,
        rivals,
        ..test_changes(work, run, &changes).await?
    };
    Ok(RunEvent::PatchTested {
        result: Box::new(result),
    })
}

/// Runs the checks on the tree with `changes`, and the tests where a check passes or there is none.
pub(super) async fn test_changes(
    work: &mut Workspace,
    run: &Run,
    changes: &[(RepoPath, FileChange)],
) -> Result<ChangeTests, EngineError> {
    let (tree, _) = apply_changes(&work.snapshot, changes)?;
    let files = changed_files(work, changes)?;
    let checks = run.checks().to_vec();
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(not_run(tree, &why)),
    };
    let mut states = Vec::new();
    for check in &checks {
        if let CheckSource::Issue { number } = check.source {
            states.push(issue_check(bench, check, number, &files).await?);
        }
        if let CheckSource::Written { .. } = check.source {
            let (end, run) = bench.run_written(&check.script, &files).await?;
            states.push(CheckRun {
                check: check.id,
                state: end.state(check.grade, &check.on_base),
                run,
            });
        }
    }
    let by_tests: Vec<&BugCheck> = checks.iter().filter(|check| is_by_tests(check)).collect();
    let any_gone = states.iter().any(|run| matches!(run.state, CheckState::Gone { .. }));
    // Where no check passes, the tests would only say how much else is broken.
    let tests = if states.is_empty() || any_gone || !by_tests.is_empty() {
        match bench.judging(run).await?.cloned() {
            Some(base) => run_tests(bench, &base, &files, &by_tests, &mut states).await?,
            None => None,
        }
    } else {
        None
    };
    states.sort_by_key(|state| state.check);
    Ok(ChangeTests {
        tree,
        checks: states,
        tests,
        unlikely: false,
        rivals: 0,
    })
}

fn not_run(tree: TreeId, why: &str) -> ChangeTests {
    ChangeTests {
        tree,
        checks: Vec::new(),
        tests: Some(TestsOnChange {
            passed: 0,
            newly_passing: Vec::new(),
            newly_failing: Vec::new(),
            still_failing: 0,
            run: ProgramRun::none(why),
            incomplete: Some(why.to_owned()),
            missing: 0,
        }),
        unlikely: false,
        rivals: 0,
    }
}

fn is_by_tests(check: &BugCheck) -> bool {
    match check.source {
        CheckSource::Given { .. } | CheckSource::FailingTests { .. } => true,
        CheckSource::Issue { .. } | CheckSource::Written { .. } => false,
    }
}

/// Returns the files of changes as they are written: none where a file goes.
fn changed_files(work: &Workspace, changes: &[(RepoPath, FileChange)]) -> Result<ChangedFiles, EngineError> {
    let mut files = ChangedFiles::new();
    for (path, change) in changes {
        let base = match change {
            FileChange::Create { .. } | FileChange::Delete => String::new(),
            FileChange::Modify { .. } | FileChange::Rename { .. } => work.read(path)?.text,
        };
        let content = after(&base, change).map(String::into_bytes);
        match change {
            FileChange::Rename { to, .. } if to != path => {
                files.push((path.clone(), None));
                files.push((to.clone(), content));
            }
            _ => files.push((path.clone(), content)),
        }
    }
    Ok(files)
}

async fn issue_check(
    bench: &TestBench,
    check: &BugCheck,
    number: u32,
    files: &ChangedFiles,
) -> Result<CheckRun, EngineError> {
    let Some(known) = bench.issue_checks.get(&number) else {
        let what = "it does not show the fault on the base any more".to_owned();
        return Ok(CheckRun {
            check: check.id,
            state: CheckState::OtherError { what },
            run: check.on_base.clone(),
        });
    };
    let (seen, run) = bench.run_check(known, files).await?;
    let state = match reproduction::verdict(&known.check, &known.found, &known.base, &seen) {
        CheckVerdict::Present => CheckState::Present,
        CheckVerdict::Gone { grade, .. } => match known.found.instead(&known.check, &seen) {
            Some(what) => CheckState::OtherError { what },
            None => CheckState::Gone { grade },
        },
        CheckVerdict::OtherError { what } => CheckState::OtherError { what },
        CheckVerdict::TimedOut => CheckState::TimedOut,
    };
    Ok(CheckRun {
        check: check.id,
        state,
        run,
    })
}

/// Runs the judging tests, and says of each check that stands on tests what became of it.
async fn run_tests(
    bench: &TestBench,
    base: &BaseResults,
    files: &ChangedFiles,
    by_tests: &[&BugCheck],
    states: &mut Vec<CheckRun>,
) -> Result<Option<TestsOnChange>, EngineError> {
    let time = (base.took * 3).min(SUITE_TIME * 2);
    let Ok(done) = bench.run_tests(&base.files, files, time).await? else {
        return Ok(None);
    };
    let record = program_run(&done.words, &done.folder, &done.outcome);
    let results = done.results;
    let mut now: BTreeMap<TestName, (TestStatus, Option<String>)> = BTreeMap::new();
    let mut incomplete = None;
    match &results {
        Ok(results) => {
            if let Completeness::Partial(why) = &results.completeness {
                incomplete = Some(why.clone());
            }
            for (id, outcome) in &results.tests {
                let message = outcome.failure.as_ref().map(|failure| failure.text.clone());
                now.insert(test_name(id), (outcome.status, message));
            }
        }
        Err(why) => incomplete = Some(format!("{why}; it {}", done.outcome.end)),
    }
    let status = |name: &TestName| now.get(name).map(|(status, _)| *status);
    for check in by_tests {
        states.push(CheckRun {
            check: check.id,
            state: state_of_tests(check, base, &status, incomplete.as_deref()),
            run: record.clone(),
        });
    }
    let mut told = TestsOnChange {
        passed: 0,
        newly_passing: Vec::new(),
        newly_failing: Vec::new(),
        still_failing: 0,
        run: record,
        incomplete,
        missing: 0,
    };
    // Where the run broke off, what is missing is not held against the change, but nothing is shown either. Where tests change their names it is not,
    // either: one that is missing may be there by another.
    let has_steady_names = base.has_steady_names();
    for (name, before) in base.statuses.iter().filter(|(name, _)| !base.wavering.contains(*name)) {
        match (before.is_bad(), status(name)) {
            (_, Some(TestStatus::Passed)) => {
                told.passed += 1;
                if before.is_bad() {
                    told.newly_passing.push(name.clone());
                }
            }
            (true, _) => told.still_failing += 1,
            (false, Some(TestStatus::Failed | TestStatus::Errored)) => fail(&mut told, name, &now),
            (false, None) if has_steady_names && *before == TestStatus::Passed => match told.incomplete {
                Some(_) => told.missing += 1,
                None => fail(&mut told, name, &now),
            },
            (false, Some(TestStatus::Skipped) | None) => {}
        }
    }
    // A file of tests that does not load any more stands under a name of its own.
    let unknown = now
        .iter()
        .filter(|(name, (status, _))| *status == TestStatus::Errored && !base.statuses.contains_key(*name));
    let unknown: Vec<TestName> = unknown.map(|(name, _)| name.clone()).collect();
    for name in &unknown {
        fail(&mut told, name, &now);
    }
    Ok(Some(told))
}

fn fail(told: &mut TestsOnChange, name: &TestName, now: &BTreeMap<TestName, (TestStatus, Option<String>)>) {
    if told.newly_failing.len() >= MOST_NAMED {
        return;
    }
    let message = now.get(name).and_then(|(_, message)| message.clone());
    let message = message.unwrap_or_else(|| "it is not there any more".to_owned());
    let skipped = message.chars().count().saturating_sub(MESSAGE);
    told.newly_failing.push(FailingTest {
        name: name.clone(),
        message: message.chars().skip(skipped).collect(),
    });
}

/// Returns what became of a check that stands on tests: all of them have to pass.
fn state_of_tests(
    check: &BugCheck,
    base: &BaseResults,
    status: &dyn Fn(&TestName) -> Option<TestStatus>,
    incomplete: Option<&str>,
) -> CheckState {
    let meant: Vec<&TestName> = match &check.source {
        CheckSource::FailingTests { tests } => tests.iter().collect(),
        CheckSource::Given { test } => base.failing().filter(|name| is_meant(name, test)).collect(),
        CheckSource::Issue { .. } | CheckSource::Written { .. } => Vec::new(),
    };
    let passes = |name: &&TestName| status(name) == Some(TestStatus::Passed);
    if !meant.is_empty() && meant.iter().all(passes) {
        return CheckState::Gone { grade: check.grade };
    }
    match incomplete {
        Some(why) if meant.iter().all(|name| status(name).is_none()) => CheckState::OtherError { what: why.to_owned() },
        _ => CheckState::Present,
    }
}
