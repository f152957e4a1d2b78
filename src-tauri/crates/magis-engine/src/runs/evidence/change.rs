//! What checks and tests say of a changed tree: that of an attempt, and that of the merged patch.

use super::offered_tests::checks_as_tests;
use super::regression::meant;
use crate::EngineError;
use crate::calls::AskError;
use crate::evidence::ChangedFiles;
use crate::runs::bench::{BaseResults, SUITE_TIME, TestBench, program_run, test_name};
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
use std::collections::{BTreeMap, BTreeSet};

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

/// Runs the checks and the tests on the merged tree, and its checks as tests of the project. Where it is the tree of the one attempt that was taken, what that
/// showed stands.
pub(crate) async fn test_patch(work: &mut Workspace, run: &Run) -> RoleResult {
    let merged = run.merged().map(|merged| merged.tree.clone());
    let taken: Vec<&Attempt> = run
        .tasks()
        .filter_map(|state| {
            let (round, number) = state.accepted_attempt()?;
            state.attempt(round, number)
        })
        .collect();
    let changes: Vec<(RepoPath, FileChange)> = run
        .tasks()
        .filter_map(|state| Some((state.task.path.clone(), state.accepted_change()?.1.clone())))
        .collect();
    let known = taken.iter().find_map(|attempt| {
        let tested = attempt.tested.as_ref()?;
        (Some(&tested.tree) == merged.as_ref() && tested.tests.is_some()).then(|| tested.clone())
    });
    let tested = match known {
        Some(known) => known,
        None => test_changes(work, run, &changes).await?,
    };
    let files = changed_files(work, &changes)?;
    let result = ChangeTests {
        less_likely: taken.iter().any(|attempt| attempt.is_less_likely()),
        rivals: taken.iter().map(|attempt| attempt.rivals).max().unwrap_or(0),
        as_tests: checks_as_tests(work, run, &tested, &files).await?,
        ..tested
    };
    Ok(RunEvent::PatchTested {
        result: Box::new(result),
    })
}

/// Runs the checks on the tree with `changes`, and the tests where a check passes or there is none. What the issue shows comes before tests of the project,
/// as it takes less time.
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
        let is_test = matches!(
            check.source,
            CheckSource::Given { .. } | CheckSource::FailingTests { .. }
        );
        if let Some(why) = bench.only_command.as_deref().filter(|_| !is_test) {
            states.push(not_judged(check, why));
            continue;
        }
        if let CheckSource::Issue { number } = check.source {
            states.push(issue_check(bench, check, number, &files).await?);
        }
        if let CheckSource::Written { path } = &check.source {
            let (end, run) = bench.run_written(path, &check.script, &files).await?;
            states.push(CheckRun {
                check: check.id,
                state: end.state(check.grade, &check.on_base),
                run,
            });
        }
    }
    let any_gone = states.iter().any(is_gone);
    // Where what the issue shows is as before, tests that fail because of the same would only say so again, and take longer. What a person gives stands
    // for itself.
    let by_tests: Vec<&BugCheck> = checks
        .iter()
        .filter(|check| match check.source {
            CheckSource::Given { .. } => true,
            CheckSource::FailingTests { .. } => any_gone || states.is_empty(),
            CheckSource::Issue { .. } | CheckSource::Written { .. } => false,
        })
        .collect();
    // Where no check passes, the tests would only say how much else is broken.
    let tests = if states.is_empty() || any_gone || !by_tests.is_empty() {
        match bench.judging(run).await?.map(Option::<&BaseResults>::cloned) {
            Ok(Some(base)) => run_tests(bench, &base, &files, &by_tests, &mut states).await?,
            Ok(None) => None,
            Err(why) => Some(no_results(&why)),
        }
    } else {
        None
    };
    let is_judged = |check: &BugCheck| states.iter().any(|state| state.check == check.id);
    let not_run: Vec<CheckRun> = by_tests
        .iter()
        .filter(|check| !is_judged(check))
        .map(|check| not_judged(check, "the tests that it stands on could not be run"))
        .collect();
    states.extend(not_run);
    states.sort_by_key(|state| state.check);
    Ok(ChangeTests {
        tree,
        checks: states,
        tests,
        less_likely: false,
        rivals: 0,
        as_tests: Vec::new(),
    })
}

fn not_run(tree: TreeId, why: &str) -> ChangeTests {
    ChangeTests {
        tree,
        checks: Vec::new(),
        tests: Some(no_results(why)),
        less_likely: false,
        rivals: 0,
        as_tests: Vec::new(),
    }
}

/// Returns what is known of tests that could not be run.
fn no_results(why: &str) -> TestsOnChange {
    TestsOnChange {
        passed: 0,
        newly_passing: Vec::new(),
        newly_failing: Vec::new(),
        still_failing: 0,
        run: ProgramRun::none(why),
        incomplete: Some(why.to_owned()),
        missing: 0,
    }
}

/// Returns a check of which nothing is known on a changed tree, and why.
fn not_judged(check: &BugCheck, why: &str) -> CheckRun {
    CheckRun {
        check: check.id,
        state: CheckState::OtherError { what: why.to_owned() },
        run: check.on_base.clone(),
    }
}

fn is_gone(run: &CheckRun) -> bool {
    matches!(run.state, CheckState::Gone { .. })
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
        return Ok(not_judged(check, "it does not show the fault on the base any more"));
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

/// Runs the judging tests, and says of each check that stands on tests what became of it. Where nothing passes yet, the files of the tests that these
/// checks stand on are run before, and where none of them passes either, the others are not run.
async fn run_tests(
    bench: &TestBench,
    base: &BaseResults,
    files: &ChangedFiles,
    by_tests: &[&BugCheck],
    states: &mut Vec<CheckRun>,
) -> Result<Option<TestsOnChange>, EngineError> {
    let few = if states.iter().any(is_gone) {
        Vec::new()
    } else {
        files_of(base, by_tests)
    };
    if !few.is_empty()
        && let Some(seen) = TestsSeen::of(bench, base, &few, files).await?
    {
        let found: Vec<CheckRun> = by_tests.iter().map(|check| seen.check(check, base)).collect();
        let mut meant = by_tests.iter().flat_map(|check| meant(check, base));
        if !found.iter().any(is_gone) && seen.tells_of(&mut meant) {
            states.extend(found);
            return Ok(None);
        }
    }
    let Some(seen) = TestsSeen::of(bench, base, &base.files, files).await? else {
        return Ok(None);
    };
    states.extend(by_tests.iter().map(|check| seen.check(check, base)));
    Ok(Some(seen.against(base)))
}

/// Returns the files of all tests that checks stand on; none where that is not known of each, or where they are all that are run anyway.
fn files_of(base: &BaseResults, by_tests: &[&BugCheck]) -> Vec<RepoPath> {
    let meant = by_tests.iter().flat_map(|check| meant(check, base));
    let files: Option<BTreeSet<&RepoPath>> = meant.map(|test| base.places.get(test)).collect();
    let files: Vec<RepoPath> = files.into_iter().flatten().cloned().collect();
    let all: BTreeSet<&RepoPath> = base.places.values().collect();
    if files.len() < all.len() { files } else { Vec::new() }
}

/// What tests gave on a changed tree.
struct TestsSeen {
    run: ProgramRun,
    tests: BTreeMap<TestName, (TestStatus, Option<String>)>,
    /// Why there are no results, or not of all tests.
    incomplete: Option<String>,
}

impl TestsSeen {
    /// Runs the tests in `selected`, all of them where it is empty; none where they cannot be run.
    async fn of(
        bench: &TestBench,
        base: &BaseResults,
        selected: &[RepoPath],
        changes: &ChangedFiles,
    ) -> Result<Option<Self>, EngineError> {
        let time = (base.longest * 3).min(SUITE_TIME * 2);
        let Ok(done) = bench.run_tests(selected, changes, time).await? else {
            return Ok(None);
        };
        let mut seen = Self {
            run: program_run(&done.words, &done.folder, &done.outcome),
            tests: BTreeMap::new(),
            incomplete: None,
        };
        match &done.results {
            Ok(results) => {
                if let Completeness::Partial(why) = &results.completeness {
                    seen.incomplete = Some(why.clone());
                }
                for (id, outcome) in &results.tests {
                    let message = outcome.failure.as_ref().map(|failure| failure.text.clone());
                    seen.tests.insert(test_name(id), (outcome.status, message));
                }
            }
            Err(why) => seen.incomplete = Some(format!("{why}; it {}", done.outcome.end)),
        }
        Ok(Some(seen))
    }

    /// Returns whether each of the tests has a result here, or something does not even load. A test may be defined in another file than it is run by.
    fn tells_of<'t>(&self, tests: &mut impl Iterator<Item = &'t TestName>) -> bool {
        let is_error = |(status, _): &(TestStatus, Option<String>)| *status == TestStatus::Errored;
        self.tests.values().any(is_error) || tests.all(|test| self.status(test).is_some())
    }

    fn status(&self, name: &TestName) -> Option<TestStatus> {
        self.tests.get(name).map(|(status, _)| *status)
    }

    /// Returns what became of a check that stands on tests: all of them have to pass.
    fn check(&self, check: &BugCheck, base: &BaseResults) -> CheckRun {
        let meant = meant(check, base);
        let passes = |name: &&TestName| self.status(name) == Some(TestStatus::Passed);
        let state = if !meant.is_empty() && meant.iter().all(passes) {
            CheckState::Gone { grade: check.grade }
        } else {
            match &self.incomplete {
                Some(why) if meant.iter().all(|name| self.status(name).is_none()) => {
                    CheckState::OtherError { what: why.clone() }
                }
                _ => CheckState::Present,
            }
        };
        CheckRun {
            check: check.id,
            state,
            run: self.run.clone(),
        }
    }

    /// Returns how the tests compare with the base.
    fn against(self, base: &BaseResults) -> TestsOnChange {
        let mut told = TestsOnChange {
            passed: 0,
            newly_passing: Vec::new(),
            newly_failing: Vec::new(),
            still_failing: 0,
            run: self.run.clone(),
            incomplete: self.incomplete.clone(),
            missing: 0,
        };
        // Where the run broke off, and where tests are skipped that passed, that is not held against the change, but nothing is shown either. Where tests
        // change their names it is not, either: one that is missing may be there by another.
        let has_steady_names = base.has_steady_names();
        let mut skipped = 0;
        for (name, before) in base.statuses.iter().filter(|(name, _)| !base.wavering.contains(*name)) {
            match (before.is_bad(), self.status(name)) {
                (_, Some(TestStatus::Passed)) => {
                    told.passed += 1;
                    if before.is_bad() {
                        told.newly_passing.push(name.clone());
                    }
                }
                (true, _) => told.still_failing += 1,
                (false, Some(TestStatus::Failed | TestStatus::Errored)) => self.fail(&mut told, name),
                (false, None) if has_steady_names && *before == TestStatus::Passed => match told.incomplete {
                    Some(_) => told.missing += 1,
                    None => self.fail(&mut told, name),
                },
                (false, Some(TestStatus::Skipped)) if *before == TestStatus::Passed => skipped += 1,
                (false, Some(TestStatus::Skipped) | None) => {}
            }
        }
        if skipped > 0 {
            told.missing += skipped;
            told.incomplete.get_or_insert_with(|| "they are skipped now".to_owned());
        }
        // A file of tests that does not load any more stands under a name of its own.
        let unknown = self
            .tests
            .iter()
            .filter(|(name, (status, _))| *status == TestStatus::Errored && !base.statuses.contains_key(*name));
        for (name, _) in unknown {
            self.fail(&mut told, name);
        }
        told
    }

    fn fail(&self, told: &mut TestsOnChange, name: &TestName) {
        if told.newly_failing.len() >= MOST_NAMED {
            return;
        }
        let message = self.tests.get(name).and_then(|(_, message)| message.clone());
        let message = message.unwrap_or_else(|| "it is not there any more".to_owned());
        let skipped = message.chars().count().saturating_sub(MESSAGE);
        told.newly_failing.push(FailingTest {
            name: name.clone(),
            message: message.chars().skip(skipped).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{CheckId, Grade};
    use std::time::Duration;

    /// The base of tests that all pass, with the files that are known of them.
    fn base(places: &[(&str, Option<&str>)]) -> BaseResults {
        let name = |name: &str| TestName(name.to_owned());
        let path = |path: &str| RepoPath::new(path).unwrap();
        BaseResults {
            folder: String::new(),
            files: Vec::new(),
            statuses: places
                .iter()
                .map(|(test, _)| (name(test), TestStatus::Passed))
                .collect(),
            messages: BTreeMap::new(),
            places: places
                .iter()
                .filter_map(|(test, file)| Some((name(test), path((*file)?))))
                .collect(),
            seconds: BTreeMap::new(),
            wavering: BTreeSet::new(),
            gap: None,
            took: Duration::ZERO,
            longest: Duration::ZERO,
            only_status: false,
            run: ProgramRun::none(""),
        }
    }

    fn seen(results: &[(&str, TestStatus)]) -> TestsSeen {
        TestsSeen {
            run: ProgramRun::none(""),
            tests: results
                .iter()
                .map(|(name, status)| (TestName((*name).to_owned()), (*status, None)))
                .collect(),
            incomplete: None,
        }
    }

    /// Tells which files are run first for a check that stands on `failing`, where the base gives tests with the files of `places`.
    fn check(places: &[(&str, Option<&str>)], failing: &[&str], expected: &[&str]) {
        let base = base(places);
        let check = BugCheck {
            id: CheckId(1),
            source: CheckSource::FailingTests {
                tests: failing.iter().map(|test| TestName((*test).to_owned())).collect(),
            },
            grade: Grade::ExpectedResult,
            script: String::new(),
            as_test: None,
            on_base: ProgramRun::none(""),
            reached: Vec::new(),
            warnings: Vec::new(),
        };
        let expected: Vec<RepoPath> = expected.iter().map(|file| RepoPath::new(*file).unwrap()).collect();
        assert_eq!(files_of(&base, &[&check]), expected);
    }

    #[test]
    fn what_gives_no_result_by_its_file_is_run_with_all_tests() {
        let (adds, takes) = (TestName("adds".to_owned()), TestName("takes".to_owned()));
        let tells = |results: &[(&str, TestStatus)]| seen(results).tells_of(&mut [&adds, &takes].into_iter());
        assert!(tells(&[("adds", TestStatus::Failed), ("takes", TestStatus::Passed)]));
        assert!(
            !tells(&[("adds", TestStatus::Failed)]),
            "the other one is run by another file"
        );
        assert!(!tells(&[]));
        assert!(tells(&[("test_a.py", TestStatus::Errored)]), "the file does not load");
    }

    #[test]
    fn tests_that_passed_and_are_skipped_now_show_nothing() {
        let base = base(&[("adds", None), ("takes", None)]);
        let told = |results: &[(&str, TestStatus)]| {
            let told = seen(results).against(&base);
            (told.passed, told.missing, told.incomplete)
        };
        let skipped = Some("they are skipped now".to_owned());
        let (adds, takes) = (("adds", TestStatus::Passed), ("takes", TestStatus::Skipped));
        assert_eq!(told(&[adds, takes]), (1, 1, skipped));
        assert_eq!(told(&[adds, ("takes", TestStatus::Passed)]), (2, 0, None));
    }

    #[test]
    fn the_files_of_failing_tests_are_run_first_where_they_are_known_and_not_all() {
        let places = [
            ("adds", Some("test_a.py")),
            ("takes", Some("test_b.py")),
            ("other", None),
        ];
        check(&places, &["takes"], &["test_b.py"]);
        check(&places, &["takes", "other"], &[]);
        check(&places, &["adds", "takes"], &[]);
    }
}
