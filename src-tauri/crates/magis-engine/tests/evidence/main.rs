//! Runs that run code: on the sample repository, with a scripted model, real commands and the real sandbox.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod attempts;
#[path = "../environment/mod.rs"]
mod environment;
mod isolation;
mod languages;
mod logs;
mod offered_tests;
mod places;
mod project;
mod reach;
mod trying;

use environment::{ISSUE, TestEnvironment, script, script_after};
use magis_core::{
    AttemptNumber, BugCheck, ChangeTests, CheckSource, DescriptionSource, Grade, IssueChecks, Proof, RepoPath, Round,
    RunEvent, RunId, RunOutcome, Stage, TaskId, TaskOutcome, TestLine, TestsMode,
};
use magis_engine::repository::BaseChoice;
use magis_engine::sandbox::HelperCommand;
use magis_engine::tests::IsolationTerm;
use magis_engine::{DriveEnd, EngineLimits, Magis, SolveRequest, Steering};
use magis_llm::ScriptedModel;
use magis_testkit::{fingerprint, sample};
use std::sync::atomic::{AtomicU32, Ordering};

/// A comparison that is another one, and still wrong.
const WRONG: &str = "(entry, since=date.min, until=date.max):\n    \"\"\"Tell whether the day of an entry lies between two days.\"\"\"\n    return since < entry.day < until\n";
const RIGHT: &str = "(entry, since=date.min, until=date.max):\n    \"\"\"Tell whether the day of an entry lies between two days.\"\"\"\n    return since <= entry.day <= until\n";

/// Returns the program that sets up the sandbox; it is built with the tests of the whole workspace.
fn helper() -> HelperCommand {
    let folder = std::env::current_exe().unwrap();
    let program = folder.parent().unwrap().parent().unwrap().join("magis-sandbox-helper");
    assert!(
        program.is_file(),
        "{} is not built; run the tests with --workspace",
        program.display()
    );
    HelperCommand { program, args: vec![] }
}

/// Returns the engine with a sandbox, and a request that runs the sample's tests.
fn with_tests(environment: &TestEnvironment, issue: &str, attempts: u32) -> (Magis, SolveRequest) {
    let magis = environment.magis.clone().with_sandbox(helper());
    let wish = SolveRequest {
        attempts,
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: "python3 -m unittest".to_owned(),
                folder: String::new(),
            }),
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..environment.wish(issue)
    };
    (magis, wish)
}

/// Returns the environment with an engine that has a sandbox.
fn with_engine(environment: TestEnvironment, magis: &Magis) -> TestEnvironment {
    TestEnvironment {
        magis: magis.clone(),
        ..environment
    }
}

fn allow(environment: &TestEnvironment, magis: &Magis) {
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    assert_eq!(command.line(), "python3 -m unittest");
    magis.allow_tests(repo, &command, IsolationTerm::Required).unwrap();
}

/// Puts other code in the place of the line that is wrong in the sample, and returns the file with it.
fn put_in_place(environment: &TestEnvironment, code: &str) -> String {
    let path = "tally/filters.py";
    let line = "    return since <= entry.day < until\n";
    let text = environment.read(path);
    assert!(text.contains(line), "{text}");
    let changed = text.replace(line, code);
    environment.commit(path, &changed);
    changed
}

async fn solve(magis: &Magis, wish: SolveRequest, model: ScriptedModel) -> (RunId, DriveEnd) {
    let run = magis.prepare_for(wish, &model).unwrap().run;
    let (progress, _watch) = tokio::sync::mpsc::unbounded_channel();
    let stop = tokio_util::sync::CancellationToken::new();
    let end = magis
        .drive(run, std::sync::Arc::new(model), stop, progress)
        .await
        .unwrap();
    (run, end)
}

fn checks(magis: &Magis, run: RunId) -> Vec<BugCheck> {
    magis.state(run).unwrap().checks().to_vec()
}

fn remarks(environment: &TestEnvironment, run: RunId) -> String {
    let remarks = environment.events(run).into_iter().filter_map(|event| match event {
        RunEvent::FaultShown { remarks, .. } => Some(remarks.join("; ")),
        _ => None,
    });
    remarks.collect()
}

/// Answers P10 for `in_period` wrongly at first, then rightly.
fn wrong_then_right() -> ScriptedModel {
    let asked = AtomicU32::new(0);
    script_after(ScriptedModel::new("wrong, then right").answer(move |request| {
        let is_code = request.answer_prefix.ends_with("def in_period");
        is_code.then(|| {
            if asked.fetch_add(1, Ordering::Relaxed) == 0 {
                WRONG
            } else {
                RIGHT
            }
            .into()
        })
    }))
}

#[tokio::test]
async fn an_example_that_never_ends_is_evidence_where_the_issue_says_so() {
    let environment = TestEnvironment::new();
    let waits = "    import time\n    while entry.day == until:\n        time.sleep(1)\n    return since <= entry.day < until\n";
    put_in_place(&environment, waits);
    let issue = "list --until never returns for the last day

```python
>>> from datetime import date
>>> from types import SimpleNamespace
>>> from tally.filters import in_period
>>> in_period(SimpleNamespace(day=date(2025, 3, 31)), until=date(2025, 3, 31))
```

It hangs.
";
    let (magis, wish) = with_tests(&environment, issue, 1);
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, script()).await;
    assert_eq!(
        end,
        DriveEnd::Ended(RunOutcome::Approved),
        "{}",
        remarks(&environment, run)
    );
    let found = checks(&magis, run);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].grade, Grade::ExceptionGone);
    assert!(magis.state(run).unwrap().proof().is_shown());
}

#[tokio::test]
async fn what_the_issue_shows_is_run_and_the_attempt_that_mends_it_is_taken() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let before = fingerprint(&environment.repository());
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    assert_eq!(
        state.proof(),
        Proof::ShownToWork {
            grade: Grade::ExpectedResult
        }
    );
    let found = checks(&magis, run);
    assert!(matches!(found[0].source, CheckSource::Issue { .. }), "{found:?}");
    assert!(found[0].on_base.stdout.text.contains("False"), "{found:?}");
    assert!(
        found[0].reached.iter().any(|at| at.name == "in_period"),
        "what it ran through is known: {:?}",
        found[0].reached
    );
    let task = state.tasks().next().unwrap();
    assert_eq!(
        task.accepted_attempt().map(|(_, number)| number.0),
        Some(1),
        "the second one"
    );
    let first = task.rounds[0].attempts.values().next().unwrap();
    assert!(!first.proof().is_shown());
    assert_eq!(
        fingerprint(&environment.repository()),
        before,
        "nothing is written there"
    );
}

#[tokio::test]
async fn what_nobody_allowed_is_not_run() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    let (run, end) = solve(&magis, wish, script()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    assert_eq!(magis.state(run).unwrap().proof(), Proof::NotRun);
    let said = remarks(&environment, run);
    assert!(
        said.contains("`python3 -m unittest` is not allowed in this repository"),
        "{said}"
    );
}

#[tokio::test]
async fn a_failing_test_that_speaks_of_the_issue_is_the_evidence() {
    let environment = TestEnvironment::new();
    let check = &sample::UNTIL.check;
    std::fs::write(environment.repository().join(check.path), check.text).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("README.md", "Sums up.\n");
    let (magis, wish) = with_tests(
        &environment,
        "select() leaves out the last day\n\nIt should be part of it.",
        1,
    );
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, script()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let found = checks(&magis, run);
    assert!(
        matches!(&found[0].source, CheckSource::FailingTests { tests } if !tests.is_empty()),
        "{found:?}"
    );
    assert_eq!(
        magis.state(run).unwrap().proof(),
        Proof::ShownToWork {
            grade: Grade::ExpectedResult
        }
    );
}

#[tokio::test]
async fn tests_that_fail_because_of_the_fault_are_run_where_the_example_passes() {
    let environment = TestEnvironment::new();
    let check = &sample::UNTIL.check;
    std::fs::write(environment.repository().join(check.path), check.text).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("README.md", "Sums up.\n");
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let found = checks(&magis, run);
    assert!(matches!(found[0].source, CheckSource::FailingTests { .. }), "{found:?}");
    let state = magis.state(run).unwrap();
    let task = state.tasks().next().unwrap();
    let tested: Vec<&ChangeTests> = task.rounds[0]
        .attempts
        .values()
        .filter_map(|attempt| attempt.tested.as_ref())
        .collect();
    let [wrong, right] = tested[..] else {
        panic!("{tested:?}")
    };
    let ran = |tested: &ChangeTests| tested.checks.iter().map(|run| run.check.0).collect::<Vec<_>>();
    assert_eq!((ran(wrong), &wrong.tests), (vec![2], &None));
    assert_eq!(ran(right), [1, 2]);
    assert!(right.tests.is_some() && right.proof().is_shown(), "{right:?}");
}

#[tokio::test]
async fn a_change_that_breaks_a_test_is_handed_over_as_not_shown_to_work() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let always = "(entry, since=date.min, until=date.max):\n    \"\"\"Tell whether the day of an entry lies between two days.\"\"\"\n    return True\n";
    let model = script_after(ScriptedModel::new("always").when_prefixed("def in_period", always));
    let wish = SolveRequest { max_rounds: 1, ..wish };
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::NotApproved));
    let Proof::NotShown { why } = magis.state(run).unwrap().proof() else {
        panic!("it breaks the tests of the filters")
    };
    assert!(why.contains("that passed on the base"), "{why}");
}

#[tokio::test]
async fn a_person_takes_an_attempt_and_its_task_ends_with_it() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let model = script_after(ScriptedModel::new("wrong").when_prefixed("def in_period", WRONG));
    let run = magis.prepare_for(wish, &model).unwrap().run;
    let (progress, mut watch) = tokio::sync::mpsc::unbounded_channel();
    let person = magis.clone();
    let taking = tokio::spawn(async move {
        while let Some(seen) = watch.recv().await {
            if let magis_engine::Progress::Event { event, .. } = &seen
                && let RunEvent::AttemptTested {
                    task, round, attempt, ..
                } = &**event
            {
                let (task, round, attempt) = (*task, *round, *attempt);
                person
                    .steer(run, Steering::TakeAttempt { task, round, attempt })
                    .unwrap();
                return;
            }
        }
    });
    let stop = tokio_util::sync::CancellationToken::new();
    magis
        .drive(run, std::sync::Arc::new(model), stop, progress)
        .await
        .unwrap();
    taking.await.unwrap();
    let state = magis.state(run).unwrap();
    let task = state.tasks().next().unwrap();
    assert!(task.taken.is_some());
    assert!(
        matches!(task.outcome, Some(TaskOutcome::NotApproved { .. })),
        "{:?}",
        task.outcome
    );
}

#[tokio::test]
async fn a_run_that_was_stopped_goes_on_with_its_evidence() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let run = magis.prepare_for(wish, &script()).unwrap().run;
    let stopped = with_engine(environment, &magis);
    stopped.stop_before(run, "P5").await;
    let found = checks(&magis, run);
    assert_eq!(found.len(), 1, "{found:?}");
    let end = stopped.drive(run, std::sync::Arc::new(script())).await.unwrap();
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    assert_eq!(
        magis.state(run).unwrap().proof(),
        Proof::ShownToWork {
            grade: Grade::ExpectedResult
        }
    );
}

#[tokio::test]
async fn a_failing_test_that_names_no_changed_file_is_run_after_a_resumption_too() {
    let environment = TestEnvironment::new();
    let path = "tests/test_bounds.py";
    let by_other_names = "import importlib\nimport unittest\nfrom datetime import date\nfrom types import SimpleNamespace\n\n\n\
                          class Bounds(unittest.TestCase):\n    def test_bounds(self):\n        \
                          chosen = getattr(importlib.import_module('tally.' + 'fil' + 'ters'), 'in_' + 'period')\n        \
                          day = date(2025, 3, 31)\n        \
                          self.assertTrue(chosen(SimpleNamespace(day=day), until=day), chosen.__name__)\n";
    std::fs::write(environment.repository().join(path), by_other_names).unwrap();
    environment.git(&["add", path]);
    environment.commit("README.md", "Sums up.\n");
    let issue = "in_period() leaves out the last day\n\nIt should be part of it.";
    let (magis, wish) = with_tests(&environment, issue, 2);
    allow(&environment, &magis);
    let run = magis.prepare_for(wish, &script()).unwrap().run;
    let stopped = with_engine(environment, &magis);
    stopped.stop_before(run, "P5").await;
    assert!(matches!(
        checks(&magis, run)[..],
        [BugCheck {
            source: CheckSource::FailingTests { .. },
            ..
        }]
    ));
    stopped.drive(run, std::sync::Arc::new(script())).await.unwrap();
    let proof = magis.state(run).unwrap().proof();
    assert!(proof.is_shown(), "{proof}");
}

#[tokio::test]
async fn a_run_again_from_the_code_stage_is_judged_by_the_same_evidence() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let model = script_after(ScriptedModel::new("wrong").when_prefixed("def in_period", WRONG));
    let wish = SolveRequest { max_rounds: 1, ..wish };
    let (first, _) = solve(&magis, wish, model).await;
    assert!(!magis.state(first).unwrap().proof().is_shown());
    let again = magis
        .rerun(first, Stage::Code, None, None, &EngineLimits::default())
        .unwrap();
    let again_by = with_engine(environment, &magis);
    again_by.drive(again, std::sync::Arc::new(script())).await.unwrap();
    assert_eq!(checks(&magis, again), checks(&magis, first));
    let proof = magis.state(again).unwrap().proof();
    assert!(proof.is_shown(), "{proof}");
}

#[tokio::test]
async fn a_hunk_that_changes_no_result_is_dropped_and_what_needs_the_other_is_told() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let with_more = RIGHT.replace("until=date.max)", "until=date.max, strict=False)");
    let model = ScriptedModel::new("more than needed").answer(move |request| {
        let is_code = request.answer_prefix.ends_with("def in_period");
        is_code.then(|| with_more.clone().into())
    });
    let (run, _) = solve(&magis, wish, script_after(model)).await;
    let minimised = environment.events(run).into_iter().find_map(|event| match event {
        RunEvent::Minimised {
            dropped, hunks, needed, ..
        } => Some((dropped, hunks, needed)),
        _ => None,
    });
    let (dropped, hunks, needed) = minimised.unwrap();
    assert_eq!((dropped, hunks), (1, 2));
    assert_eq!(needed.len(), 1, "{needed:?}");
    assert!(
        !needed[0].checks.is_empty(),
        "the example of the issue fails without it"
    );
    let patch = magis.state(run).unwrap().merged().unwrap().patch.clone();
    assert!(
        patch.contains("entry.day <= until") && !patch.contains("strict"),
        "{patch}"
    );
}

#[tokio::test]
async fn another_attempt_of_a_run_that_is_over_is_taken_in_a_new_run() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let unfinished = magis.prepare_for(wish.clone(), &script()).unwrap().run;
    let (first, _) = solve(&magis, wish, wrong_then_right()).await;
    let accepted = |run: RunId| {
        let state = magis.state(run).unwrap();
        let task = state.tasks().next().unwrap().clone();
        (
            task.accepted_attempt().map(|(_, number)| number.0),
            state.proof().is_shown(),
        )
    };
    assert_eq!(accepted(first), (Some(1), true));
    let take = |run: RunId, attempt: u32| magis.rerun_taking(run, TaskId(1), Round(1), AttemptNumber(attempt));
    let again = take(first, 0).unwrap();
    let again_by = with_engine(environment, &magis);
    let end = again_by.drive(again, std::sync::Arc::new(script())).await.unwrap();
    assert_eq!(end, DriveEnd::Ended(RunOutcome::NotApproved));
    assert_eq!(accepted(again), (Some(0), false));
    assert_eq!(accepted(first), (Some(1), true), "the old run stays as it is");
    let error = take(first, 7).unwrap_err().to_string();
    assert!(
        error.contains("attempt 8 of round 1 of T1 has no usable change"),
        "{error}"
    );
    let error = take(unfinished, 0).unwrap_err().to_string();
    assert!(error.contains("it is not over"), "{error}");
}

#[tokio::test]
async fn an_example_that_deletes_files_deletes_none_and_a_person_is_warned() {
    let environment = TestEnvironment::new();
    let deleting = ISSUE.replacen(
        "```python\n",
        "```python\n>>> import os\n>>> os.remove('README.md')\n",
        1,
    );
    let (magis, wish) = with_tests(&environment, &deleting, 2);
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let found = checks(&magis, run);
    assert_eq!(
        found[0].warnings,
        ["This check deletes or moves files: os.remove('README.md')"]
    );
    assert!(environment.repository().join("README.md").is_file());
}

#[tokio::test]
async fn a_given_test_that_passes_on_the_base_shows_nothing_and_is_named() {
    let environment = TestEnvironment::new();
    let (magis, mut wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    if let TestsMode::Run { failing, checks, .. } = &mut wish.tests {
        failing.push("tests/test_dates.py".to_owned());
        *checks = IssueChecks::Skip;
    }
    let (run, _) = solve(&magis, wish, script()).await;
    let said = remarks(&environment, run);
    assert!(said.contains("tests/test_dates.py"), "{said}");
    assert!(checks(&magis, run).is_empty());
}

#[tokio::test]
async fn where_something_shows_the_fault_no_summary_is_waited_for() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(environment.calls(run, "P2"), 0);
    let state = magis.state(run).unwrap();
    let description = state.description(&RepoPath::new("tally/filters.py").unwrap()).unwrap();
    assert_eq!(description.source, DescriptionSource::Names);
    assert!(description.summary.contains("in_period"), "{}", description.summary);
}

#[tokio::test]
async fn a_test_that_a_qa_engineer_writes_judges_the_attempts_and_can_be_edited() {
    let test = "from datetime import date\nfrom types import SimpleNamespace\nfrom tally.filters import in_period\n\
                day = date(2025, 3, 31)\nassert in_period(SimpleNamespace(day=day), until=day)\n";
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, "list --until leaves out the last day", 2);
    allow(&environment, &magis);
    let model = wrong_then_right().when("Write the shortest Python script", test);
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let check = checks(&magis, run).remove(0);
    assert!(matches!(check.source, CheckSource::Written { .. }), "{check:?}");
    let state = magis.state(run).unwrap();
    assert!(matches!(state.proof(), Proof::Plausible { .. }), "{:?}", state.proof());
    let stop = tokio_util::sync::CancellationToken::new();
    let script = test.replace("31", "30");
    let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
    assert!(tried.on_base.stderr.text.contains("AssertionError"), "{tried:?}");
    assert_eq!(tried.on_result.unwrap().status, Some(0));
}

#[tokio::test]
async fn a_test_of_an_error_that_the_issue_wants_fails_until_one_is_raised() {
    let called = "from datetime import date\nfrom types import SimpleNamespace\nfrom tally.filters import in_period\n\
                  day = date(2025, 3, 31)\nin_period(SimpleNamespace(day=day), date.max, date.min)\n";
    let raises = "(entry, since=date.min, until=date.max):\n    if since > until:\n        raise ValueError(\"since is behind until\")\n    \
                  return since <= entry.day < until\n";
    let environment = TestEnvironment::new();
    let issue = "in_period should raise an error when since is behind until";
    let (magis, wish) = with_tests(&environment, issue, 1);
    allow(&environment, &magis);
    let model = script_after(ScriptedModel::new("raises").answer(move |request| {
        let is_code = request.answer_prefix.ends_with("def in_period");
        is_code.then(|| raises.into())
    }));
    let model = model.when("what the issue wants to be an error", called);
    let (run, _) = solve(&magis, wish, model).await;
    let check = checks(&magis, run).remove(0);
    assert!(check.on_base.stderr.text.contains("no error is raised"), "{check:?}");
    let state = magis.state(run).unwrap();
    assert!(matches!(state.proof(), Proof::Plausible { .. }), "{:?}", state.proof());
}
