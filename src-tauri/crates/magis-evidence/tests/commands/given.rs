//! Lines that people give as test commands.

use crate::{Project, test, worded};
use magis_evidence::commands::{TestSelection, given};
use proptest::prelude::*;

#[test]
fn a_given_line_is_recognised() {
    let project = Project::new(&[("package.json", r#"{"scripts": {"test": "jest"}}"#)]);
    let cases = [
        ("pytest -x 'tests/a b'", "pytest", "pytest -x tests/a b"),
        ("A=1 python3.11 -m pytest", "pytest", "python3.11 -m pytest"),
        ("uv run --offline pytest", "pytest", "uv run --offline pytest"),
        (
            "cargo +nightly test -- --nocapture",
            "cargo test",
            "cargo +nightly test -- --nocapture",
        ),
        ("npx jest", "Jest", "npx jest"),
        ("npm test", "Jest", "npm test --"),
        ("yarn test", "Jest", "yarn test"),
        ("./mvnw verify", "Maven", "./mvnw verify"),
        ("bundle exec rspec", "RSpec", "bundle exec rspec"),
        ("./run-tests.sh --all", "", "./run-tests.sh --all"),
        ("cd api && pytest", "", "sh -c cd api && pytest"),
        ("pytest tests/*.py", "", "sh -c pytest tests/*.py"),
        ("pytest \"$DIR\"", "", "sh -c pytest \"$DIR\""),
        ("pytest -k 'a and (b | c)'", "pytest", "pytest -k a and (b | c)"),
    ];
    for (line, runner, words) in cases {
        let command = given(line, &project).unwrap();
        assert_eq!(command.runner.map_or("", |runner| runner.name()), runner, "{line}");
        assert_eq!(command.words.join(" "), words);
    }
    let variables = given("A=1 B='x y' pytest", &project).unwrap().variables;
    assert_eq!(
        variables,
        [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "x y".to_owned())]
    );
    let cargo = given("cargo test -- --nocapture", &project).unwrap();
    assert_eq!(
        worded(&cargo, TestSelection::Whole),
        "cargo test --no-fail-fast --color never -- --nocapture"
    );
}

#[test]
fn a_line_that_is_no_command_is_refused() {
    let error = |line: &str| given(line, &Project::new(&[])).unwrap_err().to_string();
    assert_eq!(
        error("  "),
        "the test command is empty; give a program and its arguments"
    );
    assert_eq!(
        error("pytest 'a"),
        "the test command 'pytest 'a' has a quote that is not closed; close it"
    );
    assert_eq!(
        error("pytest\nrm"),
        "the test command \"pytest\\nrm\" holds a control character; give it on one line"
    );
    assert_eq!(
        error("A=1"),
        "the test command 'A=1' only sets variables; put the program behind them"
    );
    let unknown = given("./run.sh", &Project::new(&[])).unwrap();
    let tests = [test("", "", "a")];
    let expected = "the test command './run.sh' is not of a known runner, so it cannot be narrowed down; run all tests";
    assert_eq!(worded(&unknown, TestSelection::Tests(&tests)), expected);
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(line in "\\PC{0,80}") {
        if let Ok(command) = given(&line, &Project::new(&[])) {
            let _ = command.run(TestSelection::Whole, "/s");
        }
    }
}
