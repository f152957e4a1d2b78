//! Help, completions and colour.

use crate::support::Program;

fn check(arguments: &[&str], snapshot: &str) {
    let program = Program::new();
    let answer = program.run(arguments);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
        insta::assert_snapshot!(snapshot, answer.out);
    });
}

#[test]
fn help_of_the_program() {
    check(&["--help"], "help");
}

#[test]
fn help_of_solve() {
    check(&["solve", "--help"], "help-solve");
}

#[test]
fn help_of_apply() {
    check(&["apply", "--help"], "help-apply");
}

#[test]
fn without_a_command_the_help_is_shown_and_the_exit_code_is_that_of_misuse() {
    let program = Program::new();
    let answer = program.run([] as [&str; 0]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("Usage: magis"), "{answer:?}");
}

#[test]
fn each_shell_gets_its_completions() {
    let program = Program::new();
    for (shell, part) in [
        ("bash", "_magis()"),
        ("zsh", "#compdef magis"),
        ("fish", "complete -c magis"),
    ] {
        let answer = program.run(["completions", shell]);
        assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
        assert!(answer.out.contains(part), "{shell}");
        assert!(!answer.out.contains("worker"), "{shell} offers what is not to be typed");
    }
}

#[test]
fn colour_is_used_when_it_is_asked_for_and_not_otherwise() {
    let program = Program::new();
    let escapes = |arguments: &[&str]| program.run(arguments).out.contains('\u{1b}');
    assert!(!escapes(&["models", "list"]), "a pipe gets plain text");
    assert!(!escapes(&["models", "list", "--color", "never"]));
    assert!(escapes(&["models", "list", "--color", "always"]));
}
