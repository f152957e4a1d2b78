//! Past runs: listed, shown, found, carried over, deleted.

use crate::past_run::{PATCH, events, record};
use crate::support::{Answer, Program};
use std::path::Path;

fn check(snapshot: &str, answer: &Answer) {
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
    assert!(
        !answer.out.contains(|c: char| c.is_control() && c != '\n'),
        "control characters in plain output"
    );
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
        insta::assert_snapshot!(snapshot, answer.out);
    });
}

/// Returns a data folder with one run that ended.
fn program() -> Program {
    let program = Program::new();
    record(&program.data(), Path::new("/nowhere/tally"), usize::MAX);
    program
}

#[test]
fn no_run_yet_is_said_with_the_way_to_the_first() {
    let answer = Program::new().run(["runs", "list"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(answer.out, @"There is no such run yet. Begin one with: magis solve --repo PATH --issue FILE");
}

#[test]
fn runs_are_listed_one_a_line_and_their_number_begins_it() {
    let program = program();
    record(&program.data(), Path::new("/nowhere/tally"), 8);
    check("list", &program.run(["runs", "list"]));
    let ended = program.run(["runs", "list", "--status", "ended", "--json"]);
    let ended: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(ended.as_array().unwrap().len(), 1);
    assert_eq!(
        (&ended[0]["id"], &ended[0]["outcome"]["kind"]),
        (&1.into(), &"approved".into())
    );
}

#[test]
fn a_run_is_shown_from_its_issue_to_its_costs() {
    check("show", &program().run(["runs", "show", "1"]));
}

#[test]
fn a_stage_is_shown_alone() {
    check(
        "show-meeting",
        &program().run(["runs", "show", "1", "--stage", "meeting"]),
    );
}

#[test]
fn calls_are_shown_one_a_line() {
    check("show-calls", &program().run(["runs", "show", "1", "--calls"]));
}

#[test]
fn a_patch_goes_into_a_pipe_byte_by_byte() {
    let program = program();
    assert_eq!(program.run(["runs", "show", "1", "--patch"]).out, PATCH);
    assert_eq!(program.run(["apply", "1", "--patch", "-"]).out, PATCH);
}

#[test]
fn a_run_that_stopped_half_way_says_how_to_go_on() {
    let program = Program::new();
    record(&program.data(), Path::new("/nowhere/tally"), 8);
    let answer = program.run(["runs", "show", "1"]);
    assert!(answer.out.contains("interrupted"), "{}", answer.out);
    assert!(answer.out.contains("To go on: magis runs resume 1"), "{}", answer.out);
    assert_eq!(program.run(["runs", "show", "1", "--patch"]).code, Some(1));
}

#[test]
fn every_event_is_in_the_json() {
    let answer = program().run(["runs", "show", "1", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let shown = shown["events"].as_array().unwrap();
    assert_eq!(shown.len(), events().len());
    assert_eq!(shown[0]["event"]["event"], "run_started");
    assert_eq!(shown.last().unwrap()["event"]["outcome"]["kind"], "approved");
}

#[test]
fn an_exported_run_looks_the_same_where_it_is_imported() {
    let (from, to) = (program(), Program::new());
    let file = from.beside("run.json");
    let file = file.to_str().unwrap();
    assert_eq!(from.run(["runs", "export", "1", "--out", file]).code, Some(0));
    let again = from.run(["runs", "export", "1", "--out", file]);
    assert_eq!(again.code, Some(1), "a file that is there is not overwritten");
    let imported = to.run(["runs", "import", file]);
    assert!(imported.out.starts_with("Imported as run 1."), "{imported:?}");
    let mut shown = to.run(["runs", "show", "1"]);
    let (before, from_date) = shown.out.split_once("run.json on ").unwrap();
    let (_, behind) = from_date.split_once(';').unwrap();
    shown.out = format!("{before}run.json on TODAY;{behind}");
    check("show-imported", &shown);
    let resumed = to.run(["runs", "resume", "1"]);
    assert_eq!(resumed.code, Some(1), "what is over does not go on: {resumed:?}");
}

#[test]
fn a_run_can_be_read_as_markdown() {
    let text = program().run(["runs", "export", "1", "--format", "markdown"]).out;
    assert!(
        text.starts_with("# list --until leaves out that day\n\n```text\nRun 1: "),
        "{text}"
    );
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(
        titles,
        [
            "Locate: which files does the issue touch?",
            "Team: a task for each file, a Developer for each task",
            "Meeting",
            "Plan",
            "Code and review",
            "Merge",
            "Outcome",
            "Patch",
            "Calls, tokens and time"
        ]
    );
    assert!(
        text.contains("\n## Meeting\n\n```text\n  Manager, opening:\n    We have one task."),
        "{text}"
    );
    assert!(text.contains("\n## Patch\n\n```diff\ndiff --git "), "{text}");
    assert!(!text.contains("magis runs"), "a file says no command: {text}");
}

#[test]
fn runs_are_found_by_what_was_said_in_them() {
    let program = program();
    let found = program.run(["runs", "search", "turns", "filter"]);
    insta::assert_snapshot!(found.out, @r"
    Run 1: list --until leaves out that day (model review passed)
      said: This turns the filter around.
    ");
    let none = program.run(["runs", "search", "unheard"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), "No run says 'unheard'.\n"));
}

#[test]
fn a_deleted_run_is_gone_and_nobody_is_asked_without_a_terminal() {
    let program = program();
    let unasked = program.run(["runs", "delete", "1"]);
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.err.contains("what to do: give --yes"), "{unasked:?}");
    let deleted = program.run(["runs", "delete", "1", "--yes"]);
    assert_eq!(deleted.code, Some(0));
    assert!(deleted.out.contains("No byte of its texts is left"), "{deleted:?}");
    assert_eq!(program.run(["runs", "show", "1"]).code, Some(1));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let program = program();
    let mut child = program
        .command(["runs", "show", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), b"".as_slice())
    );
}

#[test]
fn an_attempt_that_a_person_takes_ends_its_task() {
    let program = Program::new();
    // Up to the first attempt, which no review has seen.
    record(&program.data(), Path::new("/nowhere/tally"), 16);
    let missing = program.run(["steer", "1", "take", "T1", "1", "2"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.err.contains("attempt 2 of round 1"), "{missing:?}");
    let taken = program.run(["steer", "1", "take", "T1", "1", "1"]);
    assert_eq!(taken.code, Some(0), "{taken:?}");
    let shown = program.run(["runs", "show", "1"]).out;
    assert!(shown.contains("you: took attempt 1 of round 1 of T1"), "{shown}");
}

#[test]
fn steering_is_an_event_of_the_run() {
    let program = Program::new();
    record(&program.data(), Path::new("/nowhere/tally"), 9);
    for arguments in [
        ["steer", "1", "task", "T1", "Only the upper bound."].as_slice(),
        &["steer", "1", "role", "1", "--focus", "Only bounds."],
        &["steer", "1", "hint", "see since()"],
        &["steer", "1", "say", "Be brief."],
        &["steer", "1", "drop", "tally/cli.py"],
    ] {
        let answer = program.run(arguments);
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    }
    let shown = program.run(["runs", "show", "1"]).out;
    for part in [
        "you: T1 now: modify; Only the upper bound.",
        "you: T1 Developer is now Date filter engineer: Only bounds.",
        "you: hint: see since()",
        "You:\n    Be brief.",
        "you: dropped tally/cli.py",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    let over = self::program().run(["steer", "1", "hint", "too late"]);
    assert_eq!(over.code, Some(1));
    assert!(over.err.contains("run 1 is over"), "{over:?}");
}
