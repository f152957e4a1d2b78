//! What bad input gets: a sentence, what to do, and an exit code.

use crate::support::Program;
use magis_testkit::FixtureRepo;

fn repository() -> FixtureRepo {
    let repository = FixtureRepo::new();
    repository
        .write("app.py", "def main():\n    return 1\n")
        .commit("First");
    repository
}

/// Returns what `magis solve` says, with the places of temporary folders taken out.
fn solve(program: &Program, repository: &str, issue: &str, more: &[&str]) -> (Option<i32>, String) {
    let mut arguments = vec!["solve", "--repo", repository, "--issue", issue];
    arguments.extend(more);
    let answer = program.run(&arguments);
    assert_eq!(answer.out, "");
    (answer.code, program.neutral(&answer.err))
}

#[test]
fn a_folder_outside_any_repository_is_named() {
    let program = Program::new();
    let issue = program.file("issue.md", "It crashes");
    std::fs::create_dir(program.beside("plain")).unwrap();
    let (code, said) = solve(&program, program.beside("plain").to_str().unwrap(), &issue, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @r"
    error: 'TMP/plain' is not inside a git repository
      what to do: Choose a folder of a git repository, or run 'git init' and commit once.
    ");
}

#[test]
fn an_issue_that_says_nothing_is_refused() {
    let (program, repository) = (Program::new(), repository());
    let issue = program.file("issue.md", " \n\t\n");
    let (code, said) = solve(&program, repository.root().to_str().unwrap(), &issue, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @"error: the issue is empty; paste its text");
}

#[test]
fn an_address_instead_of_an_issue_is_refused() {
    let (program, repository) = (Program::new(), repository());
    let issue = program.file("issue.md", "https://example.com/issues/1\n");
    let (code, said) = solve(&program, repository.root().to_str().unwrap(), &issue, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @"error: the issue is only the address https://example.com/issues/1; nothing is fetched from the network, so paste its text");
}

#[test]
fn an_issue_that_is_not_there_or_no_text_is_refused() {
    let (program, repository) = (Program::new(), repository());
    let root = repository.root().to_str().unwrap();
    let (code, said) = solve(&program, root, program.beside("none.md").to_str().unwrap(), &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @r"
    error: cannot read the issue from TMP/none.md: No such file or directory (os error 2)
      what to do: give a file with the issue's text, or '-' and the text on standard input
    ");
    let binary = program.file("issue.bin", [0xff, 0xfe, 0x00, 0x80]);
    let (code, said) = solve(&program, root, &binary, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @r"
    error: the issue in TMP/issue.bin is not UTF-8 text
      what to do: save it as UTF-8 and try again
    ");
}

#[test]
fn a_model_nobody_knows_is_refused_and_the_known_ones_are_named() {
    let (program, repository) = (Program::new(), repository());
    let issue = program.file("issue.md", "It crashes");
    let (code, said) = solve(
        &program,
        repository.root().to_str().unwrap(),
        &issue,
        &["--model", "nonsense"],
    );
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("error: no model and no file is called \"nonsense\"; known models: "),
        "{said}"
    );
    assert!(said.contains("what to do: see 'magis models list'"), "{said}");
}

#[test]
fn a_model_that_is_not_here_is_said_with_the_command_that_fetches_it() {
    let (program, repository) = (Program::new(), repository());
    let issue = program.file("issue.md", "It crashes");
    let (code, said) = solve(&program, repository.root().to_str().unwrap(), &issue, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(said, @r"
    error: the model qwen2.5-coder-1.5b is not on this machine; download it first (1.1 GB)
      what to do: download it with 'magis models fetch qwen2.5-coder-1.5b'
    ");
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let (program, repository) = (Program::new(), repository());
    let issue = program.file("issue.md", "It crashes");
    let garbage = program.file("garbage.gguf", "this is no model");
    let (code, said) = solve(
        &program,
        repository.root().to_str().unwrap(),
        &issue,
        &["--model", &garbage],
    );
    assert_eq!(code, Some(1));
    assert!(said.contains("TMP/garbage.gguf is not a GGUF model file"), "{said}");
    let answer = program.run(["models", "add", &garbage]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("is not a GGUF model file"), "{answer:?}");
}

#[test]
fn a_run_nobody_knows_is_refused_by_every_command_on_runs() {
    let program = Program::new();
    for arguments in [
        &["runs", "show", "7"] as &[&str],
        &["runs", "show", "7", "--calls"],
        &["runs", "export", "7"],
        &["runs", "resume", "7"],
        &["runs", "delete", "7", "--yes"],
        &["rerun", "7", "--from", "code"],
        &["steer", "7", "hint", "text"],
        &["apply", "7", "--worktree"],
        &["apply", "7", "--patch", "-"],
    ] {
        let answer = program.run(arguments);
        assert_eq!(
            (answer.code, answer.out.as_str()),
            (Some(1), ""),
            "{arguments:?}: {answer:?}"
        );
        assert!(answer.err.contains("there is no run 7"), "{arguments:?}: {answer:?}");
    }
}

#[test]
fn what_cannot_be_understood_is_misuse() {
    let program = Program::new();
    for (arguments, part) in [
        (
            &["rerun", "1", "--from", "nowhere"] as &[&str],
            "locate, team, meeting, plan, code, merge",
        ),
        (&["rerun", "1", "--take", "T1.4"], "T1.1.4"),
        (&["runs", "show", "first"], "a run is named by its number"),
        (&["steer", "1", "task", "X", "text"], "T1, T2"),
        (&["apply", "1"], "--worktree"),
        (&["apply", "1", "--worktree", "--branch", "b"], "cannot be used with"),
        (
            &["apply", "1", "--worktree", "--hunks", "5-3"],
            "'5-3' is no list of hunks",
        ),
        (
            &[
                "solve",
                "--repo",
                ".",
                "--issue",
                "-",
                "--base",
                "main",
                "--include-uncommitted",
            ],
            "cannot be used with",
        ),
        (
            &["solve", "--repo", ".", "--issue", "-", "--max-rounds", "0"],
            "0 is not in 1..=20",
        ),
        (&["runs", "list", "--status", "odd"], "possible values"),
    ] {
        let answer = program.run(arguments);
        assert_eq!(
            (answer.code, answer.out.as_str()),
            (Some(2), ""),
            "{arguments:?}: {answer:?}"
        );
        assert!(answer.err.contains(part), "{arguments:?}: {answer:?}");
    }
}

#[test]
fn a_damaged_database_is_said_and_not_replaced() {
    let program = Program::new();
    std::fs::create_dir(program.data()).unwrap();
    let answer = program.run(["runs", "list"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let database = std::fs::read_dir(program.data())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension != "db-wal") && path.is_file())
        .unwrap();
    for file in std::fs::read_dir(program.data()).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() && file != database {
            std::fs::remove_file(file).unwrap();
        }
    }
    std::fs::write(&database, vec![b'x'; 8192]).unwrap();
    let answer = program.run(["runs", "list"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.err.contains("what to do:"), "{answer:?}");
    assert_eq!(std::fs::read(&database).unwrap(), vec![b'x'; 8192]);
}

#[cfg(unix)]
#[test]
fn a_data_folder_with_other_files_or_open_to_others_is_refused_and_left_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let program = Program::new();
    let data = program.data();
    let open_to = |mode| std::fs::set_permissions(&data, std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = || std::fs::metadata(&data).unwrap().permissions().mode() & 0o777;
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("thesis.txt"), "mine").unwrap();
    open_to(0o755);
    let refused = program.run(["runs", "list"]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(program.neutral(&refused.err), @r"
    error: the folder TMP/data holds 'thesis.txt', which is not of this program, and none of its data
      what to do: give an empty folder, or one that is not there yet, with --data-dir
    ");
    assert_eq!(
        std::fs::read_dir(&data).unwrap().count(),
        1,
        "nothing was put beside it"
    );
    assert_eq!(mode(), 0o755);

    std::fs::remove_file(data.join("thesis.txt")).unwrap();
    assert_eq!(program.run(["runs", "list"]).code, Some(0), "an empty folder is taken");
    assert_eq!(mode(), 0o700);
    open_to(0o770);
    let refused = program.run(["runs", "list"]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(program.neutral(&refused.err), @r"
    error: the data folder TMP/data belongs to somebody else, or others may write in it
      what to do: make it yours alone, with 'chown' and 'chmod go-w TMP/data', or give another folder with --data-dir
    ");
}
