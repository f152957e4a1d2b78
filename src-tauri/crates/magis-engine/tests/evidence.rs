//! Runs that run code: on the sample repository, with a scripted model, real commands and the real sandbox.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, script, script_after};
use magis_core::{
    AttemptNumber, BaseTests, BugCheck, CheckSource, DescriptionSource, Grade, IssueChecks, MethodPart, Proof,
    RepoPath, Round, RunEvent, RunId, RunOutcome, TaskOutcome, TestLine, TestsMode, WritingMode,
};
use magis_engine::repository::BaseChoice;
use magis_engine::sandbox::HelperCommand;
use magis_engine::state::Attempt;
use magis_engine::tests::IsolationTerm;
use magis_engine::{DriveEnd, Magis, SolveRequest, Steering};
use magis_llm::{ScriptedModel, TokenEdit};
use magis_testkit::{fingerprint, sample};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a user would write: an input, what it gives, and what it should give.
const ISSUE: &str = "list --until leaves out the last day

```python
>>> from datetime import date
>>> from types import SimpleNamespace
>>> from tally.filters import in_period
>>> in_period(SimpleNamespace(day=date(2025, 3, 31)), until=date(2025, 3, 31))
False
```

Expected:

```python
True
```
";

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

fn allow(environment: &TestEnvironment, magis: &Magis) {
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    assert_eq!(command.line(), "python3 -m unittest");
    magis.allow_tests(repo, &command, IsolationTerm::Required).unwrap();
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
    let stopped = TestEnvironment {
        magis: magis.clone(),
        ..environment
    };
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
async fn a_model_that_fills_in_is_asked_for_the_lines_of_what_the_check_enters() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 4);
    let wish = SolveRequest {
        places: 3,
        writing: vec![WritingMode::FillIn],
        ..wish
    };
    allow(&environment, &magis);
    let asked = AtomicU32::new(0);
    // The one line of code in `in_period`, and then lines that it did not ask for.
    let model = script_after(ScriptedModel::new("fills in").fill_in_with(move |request| {
        assert!(
            request.before.ends_with("lies between two days.\"\"\"\n"),
            "{}",
            request.before
        );
        assert!(
            !request.before.contains("since <= entry.day < until"),
            "{}",
            request.before
        );
        Some(if asked.fetch_add(1, Ordering::Relaxed) == 0 {
            "    return since <= entry.day <= until\n\n\ndef more():\n    pass\n".into()
        } else {
            "    return since < entry.day < until\n".into()
        })
    }));
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    assert_eq!(environment.calls(run, "P10-code"), 0, "the first answer is enough");
    let state = magis.state(run).unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
    let patch = &state.merged().unwrap().patch;
    assert!(patch.contains("+    return since <= entry.day <= until\n"), "{patch}");
    assert!(!patch.contains("more"), "as many lines as were left out: {patch}");
}

/// Edits the one line of code in `in_period`: what stands there, and what instead.
fn edits(line: &str, wanted: &[(&str, &str)]) -> Vec<TokenEdit> {
    let edit = |(at, (old, new)): (usize, &(&str, &str))| {
        let start = line.find(old).unwrap() as u32;
        TokenEdit {
            start,
            end: start + old.len() as u32,
            text: (*new).to_owned(),
            gain: -(at as f64),
        }
    };
    wanted.iter().enumerate().map(edit).collect()
}

#[tokio::test]
async fn a_model_that_fills_in_reads_the_definition_and_its_edits_at_one_token_are_run_first() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 6);
    allow(&environment, &magis);
    let line = "    return since <= entry.day < until\n";
    let wanted = [
        ("<=", "< ="),
        (" <=", " <"),
        ("until", "missing"),
        (" < ", " <= "),
        ("until", "since"),
    ];
    let model = script_after(ScriptedModel::new("reads").edit_with(move |request| {
        if request.text != line {
            return None;
        }
        assert!(request.before.contains("leaves out the last day"), "{}", request.before);
        Some(edits(line, &wanted))
    }));
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
    let patch = &state.merged().unwrap().patch;
    assert!(patch.contains("+    return since <= entry.day <= until\n"), "{patch}");
    let task = state.tasks().next().unwrap();
    let (_, number) = task.accepted_attempt().unwrap();
    assert_eq!(number.0, 1, "what does not parse or is not defined is not run");
    let usable = |attempt: &&Attempt| attempt.usable_change().is_some();
    let modes = task.rounds[0].attempts.values().filter(usable).map(Attempt::mode);
    assert!(modes.eq([WritingMode::TokenEdit; 3]));
    assert_eq!(environment.calls(run, "P10-code"), 0);
}

#[tokio::test]
async fn of_the_edits_at_one_token_four_come_before_those_at_others() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 10);
    allow(&environment, &magis);
    let line = "    return since <= entry.day < until\n";
    let mut wanted = ["since", "entry", "date", "entry.day", "date.max", "date.min"]
        .map(|name| ("until", name))
        .to_vec();
    wanted.push((" < ", " <= "));
    let model = script_after(
        ScriptedModel::new("reads").edit_with(move |request| (request.text == line).then(|| edits(line, &wanted))),
    );
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    let (_, number) = state.tasks().next().unwrap().accepted_attempt().unwrap();
    assert_eq!(number.0, 4);
}

#[tokio::test]
async fn of_a_definition_the_code_is_read_and_not_its_head_of_several_lines() {
    let environment = TestEnvironment::new();
    let path = "tally/filters.py";
    let head = "def in_period(entry, since=date.min, until=date.max):\n";
    let text = environment.read(path);
    assert!(text.contains(head));
    let head_of_lines = "def in_period(\n    entry,\n    since=date.min,\n    until=date.max,\n):\n";
    environment.commit(path, &text.replace(head, head_of_lines));
    let (magis, wish) = with_tests(&environment, ISSUE, 4);
    allow(&environment, &magis);
    let line = "    return since <= entry.day < until\n";
    let model = script_after(
        ScriptedModel::new("reads")
            .edit_with(move |request| (request.text == line).then(|| edits(line, &[(" < ", " <= ")]))),
    );
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    let (_, number) = state.tasks().next().unwrap().accepted_attempt().unwrap();
    assert_eq!(number.0, 0);
}

/// Adds a file of tests to the repository.
fn add_tests(environment: &TestEnvironment, text: &str) {
    let path = "tests/test_named.py";
    std::fs::write(environment.repository().join(path), text).unwrap();
    environment.git(&["add", path]);
    environment.commit(path, text);
}

#[tokio::test]
async fn a_test_that_is_missing_is_not_held_against_a_change_where_tests_change_their_names() {
    let environment = TestEnvironment::new();
    let made = "import hashlib\nimport secrets\nimport unittest\n\n\nclass Named(unittest.TestCase):\n    pass\n\n\n\
                with open('tally/filters.py', 'rb') as code:\n    by_code = hashlib.sha256(code.read()).hexdigest()\n\
                for name in [secrets.token_hex(8), by_code]:\n    setattr(Named, 'test_' + name, lambda self: None)\n";
    add_tests(&environment, made);
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
}

/// Runs the sample's tests by the command that is found, and returns it with the base's tests.
async fn tested_as_found(environment: &TestEnvironment) -> (String, BaseTests) {
    let (magis, wish) = with_tests(environment, ISSUE, 2);
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    magis.allow_tests(repo, &command, IsolationTerm::Required).unwrap();
    let line = command.line();
    let wish = SolveRequest {
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: line.clone(),
                folder: command.folder,
            }),
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..wish
    };
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let tests = environment.events(run).into_iter().find_map(|event| match event {
        RunEvent::BaseTested { tests } => Some(*tests),
        _ => None,
    });
    (line, tests.unwrap())
}

#[tokio::test]
async fn packages_of_an_environment_that_is_linked_into_the_repository_are_there() {
    let environment = TestEnvironment::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let installed = elsewhere.path().join("environment");
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&installed)
        .status();
    assert!(made.unwrap().success());
    let version = std::fs::read_dir(installed.join("lib"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    std::fs::write(version.path().join("site-packages/installed_here.py"), "").unwrap();
    symlink(&installed, environment.repository().join(".venv")).unwrap();
    add_tests(
        &environment,
        "import unittest\n\nimport installed_here\n\n\nclass Named(unittest.TestCase):\n    def test_it(self):\n        pass\n",
    );
    let (line, tests) = tested_as_found(&environment).await;
    assert_eq!(line, ".venv/bin/python -m unittest");
    assert!(tests.passed > 1 && tests.failing.is_empty(), "{tests:?}");
}

#[tokio::test]
async fn a_link_in_place_of_an_environment_shows_nothing_of_the_machine() {
    let environment = TestEnvironment::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("key"), "secret").unwrap();
    symlink(elsewhere.path(), environment.repository().join(".venv")).unwrap();
    environment.git(&["add", "-f", ".venv"]);
    add_tests(
        &environment,
        "import os\nimport unittest\n\n\nclass Named(unittest.TestCase):\n    def test_it(self):\n        \
         self.assertTrue(os.path.islink('.venv'))\n        self.assertFalse(os.path.exists('.venv/key'))\n",
    );
    let (line, tests) = tested_as_found(&environment).await;
    assert_eq!(line, "python3 -m unittest");
    assert!(tests.passed > 1 && tests.failing.is_empty(), "{tests:?}");
}

#[tokio::test]
async fn tests_that_are_made_out_of_a_set_keep_their_names() {
    let environment = TestEnvironment::new();
    let made = "import unittest\n\n\nclass Named(unittest.TestCase):\n    pass\n\n\n\
                for at, name in enumerate({'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'}):\n    \
                setattr(Named, f'test_{at}_{name}', lambda self: None)\n";
    add_tests(&environment, made);
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let wavering = environment.events(run).into_iter().find_map(|event| match event {
        RunEvent::BaseTested { tests } => Some(tests.wavering),
        _ => None,
    });
    assert_eq!(wavering, Some(Vec::new()));
}

#[tokio::test]
async fn of_edits_that_pass_the_model_reads_the_code_with_each_and_the_likeliest_is_taken() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 6);
    allow(&environment, &magis);
    let line = "    return since <= entry.day < until\n";
    let wanted = [(" < until", " < until or entry.day == until"), (" < ", " <= ")];
    let model = script_after(
        ScriptedModel::new("reads")
            .edit_with(move |request| (request.text == line).then(|| edits(line, &wanted)))
            .score_with(|request| {
                let texts = &request.continuations;
                texts.iter().any(|text| text.contains("day == until")).then(|| {
                    assert!(
                        texts.iter().all(|text| text.starts_with("\ndef in_period(")),
                        "{texts:?}"
                    );
                    let score = |text: &String| if text.contains("day <= until") { -40.0 } else { -55.5 };
                    texts.iter().map(score).collect()
                })
            }),
    );
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let compared = environment.events(run).into_iter().find_map(|event| match event {
        RunEvent::AttemptsCompared { gains, .. } => Some(gains.iter().map(|of| of.gain).collect::<Vec<f64>>()),
        _ => None,
    });
    assert_eq!(compared, Some(vec![0.0, 15.5]), "against the code as it is");
    let state = magis.state(run).unwrap();
    let patch = &state.merged().unwrap().patch;
    assert!(patch.contains("+    return since <= entry.day <= until\n"), "{patch}");
}

#[tokio::test]
async fn where_no_edit_at_one_token_mends_it_the_definition_is_rewritten_in_the_same_round() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 4);
    allow(&environment, &magis);
    let line = "    return since <= entry.day < until\n";
    let model = script_after(
        ScriptedModel::new("reads")
            .edit_with(move |request| (request.text == line).then(|| edits(line, &[(" < ", " > ")]))),
    );
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    let task = state.tasks().next().unwrap();
    let (round, number) = task.accepted_attempt().unwrap();
    assert_eq!((round, number), (Round(1), AttemptNumber(3)));
    assert_eq!(task.attempt(round, number).unwrap().mode(), WritingMode::Definition);
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
async fn a_past_change_that_was_described_alike_is_an_example() {
    let environment = TestEnvironment::new();
    let code = environment.read("tally/filters.py") + "\n\ndef before(entry, last):\n    return entry.day < last\n";
    environment.commit("tally/filters.py", &code);
    let mended = code.replace("entry.day < last\n", "entry.day <= last\n");
    environment.commit_saying("before() leaves out the last day", "tally/filters.py", &mended);
    for without in [None, Some(MethodPart::PastFix)] {
        let (magis, wish) = with_tests(&environment, ISSUE, 6);
        allow(&environment, &magis);
        let line = "    return since <= entry.day < until\n";
        let model = script_after(ScriptedModel::new("reads").edit_with(move |request| {
            let past = "# A past change of this project: before() leaves out the last day\n\
                        #   - return entry.day < last\n#   + return entry.day <= last\n";
            let shown = request.before.starts_with(past);
            (request.text == line && shown == without.is_none()).then(|| edits(line, &[(" < ", " <= ")]))
        }));
        let wish = SolveRequest {
            without: without.into_iter().collect(),
            ..wish
        };
        let (_, end) = solve(&magis, wish, model).await;
        assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    }
}

#[tokio::test]
async fn lines_that_the_check_does_not_run_are_not_asked_for() {
    let environment = TestEnvironment::new();
    let code = environment.read("tally/filters.py");
    let longer = code.replace(
        "    return since <= entry.day < until\n",
        "    if until < since:\n        raise ValueError(until)\n    return since <= entry.day < until\n",
    );
    assert_ne!(longer, code);
    environment.commit("tally/filters.py", &longer);
    let (magis, wish) = with_tests(&environment, ISSUE, 6);
    allow(&environment, &magis);
    let model = script_after(ScriptedModel::new("fills in").fill_in_with(|request| {
        assert!(!request.before.ends_with("if until < since:\n"), "{}", request.before);
        Some("    return since <= entry.day < until and entry\n".into())
    }));
    let wish = SolveRequest {
        places: 2,
        writing: vec![WritingMode::FillIn],
        ..wish
    };
    let (run, _) = solve(&magis, wish, model).await;
    assert!(environment.calls(run, "P9-surprisal") > 0);
    assert!(environment.calls(run, "P10-fill-in") > 0);
    let found = checks(&magis, run);
    let entered = found[0].reached.iter().find(|at| at.name == "in_period").unwrap();
    let missed = entered
        .missed
        .iter()
        .map(|line| longer.lines().nth(*line as usize - 1).unwrap());
    assert_eq!(missed.collect::<Vec<_>>(), ["        raise ValueError(until)"]);
}

#[tokio::test]
async fn an_edited_check_is_run_on_the_base_and_on_the_result_and_the_run_stays_as_it_is() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let check = checks(&magis, run).remove(0);
    let before = environment.events(run).len();
    let script = check.script.replace("31", "30");
    assert_ne!(script, check.script);
    let stop = tokio_util::sync::CancellationToken::new();
    let tried = magis.try_check(run, check.id, &script, &stop).await.unwrap();
    assert!(tried.on_base.stdout.text.contains("False"), "{tried:?}");
    let on_result = tried.on_result.unwrap();
    assert!(on_result.stdout.text.contains("True"), "{on_result:?}");
    assert_eq!(environment.events(run).len(), before);
    magis.forbid_tests(magis.run(run).unwrap().entry.repo.unwrap()).unwrap();
    let refused = magis.try_check(run, check.id, &script, &stop).await.unwrap_err();
    assert!(
        refused.to_string().contains("is not allowed in this repository"),
        "{refused}"
    );
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
