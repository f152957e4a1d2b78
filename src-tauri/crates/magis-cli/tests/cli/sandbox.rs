//! `magis sandbox`, and what `magis doctor` says of it.

use crate::support::Program;
use serde_json::Value;

/// Runs a shell script in the sandbox, on a folder with one file.
fn sandbox(script: &str, options: &[&str]) -> (crate::support::Answer, String) {
    let program = Program::new();
    let folder = program.beside("project");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("kept"), "as it was").unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let arguments = ["sandbox", "--folder", &folder]
        .into_iter()
        .chain(options.iter().copied());
    // What the program adds at the end are words of the script, which it does not read.
    let answer = program.run(arguments.chain(["--", "sh", "-c", script]));
    let kept = std::fs::read_to_string(program.beside("project/kept")).unwrap();
    assert_eq!(
        std::fs::read_dir(program.beside("project")).unwrap().count(),
        1,
        "{answer:?}"
    );
    (answer, kept)
}

#[test]
fn a_command_is_shown_with_its_output_its_code_and_what_it_changed() {
    let (answer, kept) = sandbox("echo out; echo err >&2; echo new > made; echo x >> kept; exit 3", &[]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    assert_eq!(answer.out, "out\n");
    assert!(answer.err.contains("err\n"), "{answer:?}");
    assert!(answer.err.contains("sandbox: ended with exit code 3"), "{answer:?}");
    assert!(
        answer.err.contains("2 files changed, thrown away:\n  kept\n  made\n"),
        "{answer:?}"
    );
    assert_eq!(kept, "as it was");
}

#[test]
fn a_command_that_is_stopped_says_why() {
    let (answer, _) = sandbox("sleep 60", &["--time", "1"]);
    assert_eq!(answer.code, Some(125), "{answer:?}");
    assert!(
        answer.err.contains("sandbox: stopped after 1 s, the time it had"),
        "{answer:?}"
    );
}

#[test]
fn what_a_command_was_kept_from_is_named() {
    let (answer, _) = sandbox(
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.7\", 80))'",
        &["--json"],
    );
    let value: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(
        value["refused"],
        serde_json::json!(["it tried to reach the network"]),
        "{value:#}"
    );
    assert_eq!(value["end"]["exited"], 1);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let answer = Program::new().run(["sandbox", "--folder", "/no/such/folder", "--", "true"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.err.contains("cannot open /no/such/folder"), "{answer:?}");
}

#[test]
fn a_folder_that_holds_the_home_is_refused() {
    let program = Program::new();
    let home = program.beside("");
    for folder in [home.to_str().unwrap(), "/"] {
        let answer = program.run(["sandbox", "--folder", folder, "--", "true"]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert!(answer.err.contains("holds your home"), "{answer:?}");
    }
}

#[test]
fn terminal_codes_in_the_output_are_made_visible() {
    let (answer, _) = sandbox("printf '\\033]0;title\\007\\n'", &[]);
    assert!(!answer.out.contains('\u{1b}'), "{answer:?}");
}

#[test]
fn a_command_that_nothing_isolates_is_not_run() {
    let program = Program::new();
    let folder = program.beside("project");
    std::fs::create_dir(&folder).unwrap();
    let made = program.beside("made");
    let script = format!("echo new > '{}'", made.display());
    let folder = folder.to_str().unwrap();
    let answer = program.run_without_isolation(["sandbox", "--folder", folder, "--", "sh", "-c", &script]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(
        answer.err.contains("commands cannot be isolated from this machine"),
        "{answer:?}"
    );
    assert!(!made.exists());
}

#[test]
fn the_doctor_notes_that_nothing_is_run_where_nothing_isolates_it_and_what_would_change_that() {
    let answer = Program::new().run_without_isolation(["doctor"]);
    let notes = [
        "note     sandbox      tests are not run: commands cannot be kept from the rest of this machine: taking name spaces of its own failed",
        "note     sandbox      to change that: allow name spaces to ordinary users",
    ];
    for note in notes {
        assert!(answer.out.contains(note), "{answer:?}");
    }
}

#[test]
fn the_doctor_tells_what_isolates_commands() {
    let answer = Program::new().run(["doctor"]);
    assert!(
        answer.out.contains("sandbox      tests run isolated: name spaces"),
        "{answer:?}"
    );
}
