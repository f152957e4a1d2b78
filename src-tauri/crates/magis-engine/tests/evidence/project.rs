//! The project's own tests, and the environment that they run in.

use super::{ISSUE, allow, remarks, solve, with_tests, wrong_then_right};
use crate::environment::{TestEnvironment, script};
use magis_core::{BaseTests, CheckSource, IssueChecks, Proof, RunEvent, RunId, RunOutcome, TestLine, TestsMode};
use magis_engine::repository::BaseChoice;
use magis_engine::tests::IsolationTerm;
use magis_engine::{DriveEnd, Magis, SolveRequest};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

/// Adds a file of tests to the repository; its name comes last.
fn add_tests(environment: &TestEnvironment, text: &str) {
    let path = "tests/test_zoned.py";
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

#[tokio::test]
async fn tests_that_waver_on_the_base_are_set_aside_and_named() {
    let environment = TestEnvironment::new();
    // That all twenty come out alike twice happens once in a million runs.
    let wavering = "import random\nimport unittest\n\n\nclass Zoned(unittest.TestCase):\n    pass\n\n\n\
                    for at in range(20):\n    setattr(Zoned, f'test_{at}', lambda self: self.assertLess(random.random(), 0.5))\n";
    add_tests(&environment, wavering);
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let said = remarks(&environment, run);
    assert!(
        said.contains("do not come out the same twice and are set aside"),
        "{said}"
    );
    assert!(said.contains("Zoned"), "{said}");
}

#[tokio::test]
async fn what_fails_on_the_base_for_another_reason_is_not_held_against_a_change() {
    let environment = TestEnvironment::new();
    add_tests(
        &environment,
        "import unittest\n\n\nclass Zoned(unittest.TestCase):\n    def test_first(self):\n        self.fail('the printer is out of paper')\n",
    );
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    assert_eq!(state.base_tests().unwrap().failing.len(), 1);
    assert!(state.proof().is_shown(), "{}", state.proof());
}

#[tokio::test]
async fn where_the_run_of_the_tests_breaks_off_a_change_is_not_shown_to_work() {
    let environment = TestEnvironment::new();
    let ends_with_the_change = "import os\nimport unittest\n\n\nclass Zoned(unittest.TestCase):\n    def test_first(self):\n        \
                with open('tally/filters.py') as code:\n            if 'entry.day <= until' in code.read():\n                os._exit(0)\n\n    \
                def test_second(self):\n        pass\n";
    add_tests(&environment, ends_with_the_change);
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let wish = SolveRequest { max_rounds: 1, ..wish };
    let (run, end) = solve(&magis, wish, wrong_then_right()).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::NotApproved));
    let Proof::NotShown { why } = magis.state(run).unwrap().proof() else {
        panic!("two tests gave no result")
    };
    assert!(why.contains("2 tests that passed on the base gave no result"), "{why}");
}

/// Runs the issue with a test command that a person gives.
async fn solved_by(environment: &TestEnvironment, line: &str) -> (Magis, RunId) {
    let (magis, wish) = with_tests(environment, ISSUE, 2);
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let given = magis
        .test_commands(repo, &BaseChoice::Head, Some(line))
        .unwrap()
        .remove(0);
    magis.allow_tests(repo, &given, IsolationTerm::Required).unwrap();
    let wish = SolveRequest {
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: line.to_owned(),
                folder: String::new(),
            }),
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..wish
    };
    let run = solve(&magis, wish, wrong_then_right()).await.0;
    (magis, run)
}

#[tokio::test]
async fn a_command_without_a_report_judges_by_its_exit_status() {
    let environment = TestEnvironment::new();
    let line = "python3 -m unittest -q && echo done";
    let (magis, run) = solved_by(&environment, line).await;
    let state = magis.state(run).unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
    assert_eq!(state.base_tests().unwrap().passed, 1, "{:?}", state.base_tests());

    // A line of what it prints looks as if something were missing.
    let environment = TestEnvironment::new();
    let (magis, run) = solved_by(
        &environment,
        "echo 'sh: 1: pkg-config: not found' && python3 -m unittest -q",
    )
    .await;
    assert_eq!(magis.state(run).unwrap().base_tests().unwrap().passed, 1);

    // It fails on the base already, and says nothing of the change then.
    let environment = TestEnvironment::new();
    let (magis, run) = solved_by(&environment, "echo in_period && false").await;
    let state = magis.state(run).unwrap();
    assert_eq!(state.checks().len(), 1, "{:?}", state.checks());
    assert!(state.proof().is_shown(), "{}", state.proof());

    let environment = TestEnvironment::new();
    let fails_with_the_change = "python3 -m unittest -q && ! grep 'entry.day <= until' tally/filters.py";
    let (magis, run) = solved_by(&environment, fails_with_the_change).await;
    let Proof::NotShown { why } = magis.state(run).unwrap().proof() else {
        panic!("the command fails with the change")
    };
    assert_eq!(why, "1 test fails that passed on the base");
}

#[tokio::test]
async fn a_slow_command_that_cannot_be_narrowed_down_judges_all_the_same() {
    let environment = TestEnvironment::new();
    // Longer than tests may take where an example of the issue shows the fault.
    let slow = "sleep 17 && ! grep 'entry.day <= until' tally/filters.py";
    let (magis, run) = solved_by(&environment, slow).await;
    let state = magis.state(run).unwrap();
    assert_eq!(state.base_tests().unwrap().passed, 1, "{:?}", state.base_tests());
    let Proof::NotShown { why } = state.proof() else {
        panic!("the command fails with the change")
    };
    assert_eq!(why, "1 test fails that passed on the base");
}

#[tokio::test]
async fn tests_of_a_folder_with_a_command_of_its_own_are_given_from_the_root() {
    let environment = TestEnvironment::new();
    let tests = "import unittest\n\n\nclass Until(unittest.TestCase):\n    def test_both(self):\n        \
                 with open('../tally/filters.py') as code:\n            self.assertIn('entry.day <= until', code.read())\n\n    \
                 def test_other(self):\n        pass\n";
    let path = "api/test_until.py";
    std::fs::create_dir(environment.repository().join("api")).unwrap();
    std::fs::write(environment.repository().join(path), tests).unwrap();
    environment.git(&["add", path]);
    environment.commit(path, tests);
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let line = "python3 -m unittest -v";
    let command = magis.test_command_of(repo, &BaseChoice::Head, line, "api").unwrap();
    magis.allow_tests(repo, &command, IsolationTerm::Required).unwrap();
    let word = format!("{path}::Until::test_both");
    let wish = SolveRequest {
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: line.to_owned(),
                folder: "api".to_owned(),
            }),
            failing: vec![word.clone()],
            checks: IssueChecks::Skip,
        },
        ..wish
    };
    let (run, _) = solve(&magis, wish, wrong_then_right()).await;
    let state = magis.state(run).unwrap();
    let sources: Vec<&CheckSource> = state.checks().iter().map(|check| &check.source).collect();
    assert_eq!(
        sources,
        [&CheckSource::Given { test: word }],
        "{}",
        remarks(&environment, run)
    );
    assert!(state.proof().is_shown(), "{}", state.proof());
}

#[test]
fn a_command_that_is_allowed_without_isolation_allows_nothing_of_an_issue_so() {
    let environment = TestEnvironment::new();
    let (magis, _) = with_tests(&environment, ISSUE, 1);
    let repo = magis.add_repository(&environment.repository()).unwrap();
    let command = magis.test_commands(repo, &BaseChoice::Head, None).unwrap().remove(0);
    magis.allow_tests(repo, &command, IsolationTerm::Waived).unwrap();
    let of_issues = || magis.issue_code_permission(repo).unwrap();
    assert_eq!(of_issues(), Some(IsolationTerm::Required));
    magis.allow_issue_code(repo, IsolationTerm::Waived).unwrap();
    assert_eq!(of_issues(), Some(IsolationTerm::Waived));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_what_to_do() {
    let environment = TestEnvironment::new();
    let (magis, run) = solved_by(&environment, "no-such-runner --all").await;
    let said = remarks(&environment, run);
    let expected = "no-such-runner is not installed here; install it, or give another test command";
    assert!(said.contains(expected), "{said}");
    assert!(
        magis.state(run).unwrap().proof().is_shown(),
        "the example of the issue decides"
    );
}

#[tokio::test]
async fn reports_in_a_folder_of_builds_are_read_in_every_run() {
    let environment = TestEnvironment::new();
    let maven = "#!/bin/sh\nmkdir -p target/surefire-reports\n\
                 if grep -q 'entry.day < until' tally/filters.py; then failure='<failure message=\"March\"/>'; fi\n\
                 echo \"<testsuite><testcase classname='ListTest' name='march'>$failure</testcase></testsuite>\" > target/surefire-reports/TEST-list.xml\n";
    for (path, text) in [("mvn", maven), ("pom.xml", "<project/>\n"), (".gitignore", "/target\n")] {
        std::fs::write(environment.repository().join(path), text).unwrap();
    }
    let script = environment.repository().join("mvn");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    environment.git(&["add", "."]);
    environment.commit("pom.xml", "<project/>\n");
    for built_before in [false, true] {
        if built_before {
            std::fs::create_dir(environment.repository().join("target")).unwrap();
        }
        let (magis, run) = solved_by(&environment, "./mvn test").await;
        let state = magis.state(run).unwrap();
        let with_patch = state.patch_tests().and_then(|tests| tests.tests.clone());
        let mended = with_patch.map(|tests| tests.newly_passing);
        assert_eq!(mended.map(|tests| tests.len()), Some(1), "{:?}", state.base_tests());
    }
}

#[tokio::test]
async fn a_package_of_the_project_that_is_named_like_an_environment_stays_whole() {
    let environment = TestEnvironment::new();
    let package = environment.repository().join("env");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "").unwrap();
    std::fs::write(package.join("core.py"), "ZONE = 'UTC'\n").unwrap();
    environment.git(&["add", "."]);
    add_tests(
        &environment,
        "import unittest\n\nfrom env.core import ZONE\n\n\nclass Zoned(unittest.TestCase):\n    def test_zone(self):\n        self.assertEqual(ZONE, 'UTC')\n",
    );
    let (magis, wish) = with_tests(&environment, ISSUE, 2);
    allow(&environment, &magis);
    let run = solve(&magis, wish, wrong_then_right()).await.0;
    let state = magis.state(run).unwrap();
    assert!(state.proof().is_shown(), "{}", state.proof());
    assert_eq!(state.base_tests().unwrap().wavering, []);
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

/// Makes a virtual environment with nothing in it.
fn make_environment(at: &Path) {
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(at)
        .status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn a_runner_that_is_not_installed_is_named_and_the_example_of_the_issue_decides() {
    let environment = TestEnvironment::new();
    make_environment(&environment.repository().join(".venv"));
    let (magis, run) = solved_by(&environment, ".venv/bin/python -m pytest").await;
    assert_eq!(magis.state(run).unwrap().outcome(), Some(&RunOutcome::Approved));
    let said = remarks(&environment, run);
    assert!(
        said.contains("pytest, a module of .venv/bin/python, is not installed here"),
        "{said}"
    );
    assert!(magis.state(run).unwrap().proof().is_shown());
}

#[tokio::test]
async fn a_package_that_is_not_found_is_named_where_the_example_of_the_issue_needs_it() {
    let environment = TestEnvironment::new();
    let text = environment.read("tally/filters.py");
    environment.commit("tally/filters.py", &format!("import exchange_rates\n\n{text}"));
    let (magis, wish) = with_tests(&environment, ISSUE, 1);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, script()).await;
    let said = remarks(&environment, run);
    assert!(
        said.contains("the package 'exchange_rates' is not found where it runs; install what the project needs"),
        "{said}"
    );
}

#[tokio::test]
async fn packages_of_an_environment_that_is_linked_into_the_repository_are_there() {
    let environment = TestEnvironment::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let installed = elsewhere.path().join("environment");
    make_environment(&installed);
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
