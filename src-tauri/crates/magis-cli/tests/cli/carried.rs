//! Runs that come from elsewhere: a file that anybody may have written says no more than its events show, opens nothing and
//! steers no terminal.

use crate::past_run::{base, record};
use crate::support::{Answer, Program};
use magis_testkit::sample;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the exported run that every test changes: one task, two rounds, over.
fn exported() -> Value {
    let program = Program::new();
    record(&program.data(), Path::new("/nowhere/tally"), usize::MAX);
    serde_json::from_str(&program.run(["runs", "export", "1"]).out).unwrap()
}

/// Imports the run after `change`.
fn imported(program: &Program, change: impl FnOnce(&mut Value)) -> Answer {
    let mut archive = exported();
    change(&mut archive);
    let file = program.file("run.json", archive.to_string());
    program.run(["runs", "import", &file])
}

/// Leaves the events that `kept` lets through, numbered anew.
fn keep_events(archive: &mut Value, kept: impl Fn(&Value) -> bool) {
    archive["run"]["calls"] = json!([]);
    let events = archive["run"]["events"].as_array_mut().unwrap();
    events.retain(|stored| kept(&stored["event"]));
    for (index, stored) in events.iter_mut().enumerate() {
        stored["seq"] = json!(index + 1);
    }
}

fn check_refused(change: impl FnOnce(&mut Value), why: &str) {
    let program = Program::new();
    let answer = imported(&program, change);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{answer:?}");
    assert!(answer.err.contains(why), "{answer:?}");
    assert!(
        program.run(["runs", "list"]).out.starts_with("There is no such run"),
        "nothing of it is taken in"
    );
}

#[test]
fn an_end_that_the_events_do_not_lead_to_is_refused() {
    let is = |event: &Value, names: &[&str]| names.iter().any(|name| event["event"] == *name);
    check_refused(
        |archive| keep_events(archive, |event| is(event, &["run_started", "merged", "run_ended"])),
        "the log says that there is a patch, but no change of a task was accepted",
    );
    check_refused(
        |archive| keep_events(archive, |event| is(event, &["run_started", "run_ended"])),
        "the log says that the run ended with a patch, but nothing was merged",
    );
    check_refused(
        |archive| keep_events(archive, |event| event["verdict"]["decision"] != "approved"),
        "the log says that the change of T1 is approved, but no review of it says so",
    );
    check_refused(
        |archive| keep_events(archive, |event| event["event"] != "code_written"),
        "contradicts itself",
    );
}

#[test]
fn a_patch_of_files_that_no_task_changed_is_refused() {
    let elsewhere = |archive: &mut Value| {
        for stored in archive["run"]["events"].as_array_mut().unwrap() {
            if stored["event"]["event"] == "merged" {
                let patch = stored["event"]["result"]["patch"].as_str().unwrap();
                stored["event"]["result"]["patch"] = patch.replace("tally/filters.py", "setup.py").into();
            }
        }
    };
    check_refused(elsewhere, "its patch touches setup.py, which no task changed");
}

#[test]
fn another_request_in_the_head_than_in_the_first_event_is_refused() {
    check_refused(
        |archive| archive["run"]["request"]["qa"] = "skip".into(),
        "what was asked for differs",
    );
}

#[test]
fn a_path_that_an_archive_calls_its_model_is_told_and_never_opened() {
    let program = Program::new();
    let repository = program.beside("tally");
    sample::write_repository(&repository).unwrap();
    let root = repository.to_str().unwrap();
    let planted = repository.join("planted.gguf");
    std::fs::write(&planted, "not a model, and nobody may find out").unwrap();
    let issue = program.file("issue.md", sample::UNTIL.text);
    // The repository becomes known, so that the run finds its home in it.
    assert_eq!(program.run(["locate", "--repo", root, "--issue", &issue]).code, Some(0));
    let git = |what: &str| {
        let output = std::process::Command::new("git")
            .args(["-C", root, "rev-parse", what])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (commit, tree) = (git("HEAD"), git("HEAD^{tree}"));
    let answer = imported(&program, |archive| {
        archive["run"]["events"].as_array_mut().unwrap().truncate(8);
        let text = archive.to_string();
        let text = text.replace(&base().commit.0, &commit).replace(&base().tree.0, &tree);
        let text = text.replace("\"qwen2.5-coder-1.5b\"", &json!(planted).to_string());
        *archive = serde_json::from_str(&text).unwrap();
    });
    assert!(answer.out.starts_with("Imported as run 1."), "{answer:?}");
    let shown = program.run(["runs", "show", "1"]).out;
    assert!(shown.contains("planted.gguf"), "it is told as it stands: {shown}");
    for arguments in [&["runs", "resume", "1"] as &[&str], &["rerun", "1", "--from", "code"]] {
        let answer = program.run(arguments);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert!(answer.err.contains("the library has no model called"), "{answer:?}");
        assert!(answer.err.contains("--model MODEL"), "{answer:?}");
        assert!(!answer.err.contains("GGUF model file"), "it was opened: {answer:?}");
    }
}

#[test]
fn what_others_wrote_steers_no_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let program = Program::new();
    let format = imported(&program, |archive| archive["format"] = hostile.into());
    assert_eq!(format.code, Some(1));
    assert!(
        format.err.contains("its format is '␛]0;owned␇␛[2J<U+009B>31m<U+202E>'"),
        "{format:?}"
    );
    let named = imported(&program, |archive| archive["run"]["repository"] = hostile.into());
    assert_eq!(named.code, Some(0), "{named:?}");
    for arguments in [
        &["runs", "list"] as &[&str],
        &["runs", "show", "1"],
        &["apply", "1", "--worktree"],
    ] {
        let answer = program.run(arguments);
        let said = answer.out + &answer.err;
        assert!(
            !said.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{arguments:?}: {said:?}"
        );
    }
}
