//! Programs that git runs for a commit: those of the person run, those that the repository names are asked about first.
#![cfg(unix)]

use crate::apply::{Case, head};
use crate::git;
use magis_repo::{Applied, DecidedProgram, ProgramDecision, RepoError, RepositoryProgram};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n";

fn program(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn signer(case: &Case) -> std::path::PathBuf {
    let signer = case.fixture.beside("signer");
    let script = format!("cat > /dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; printf '%b' '{SIGNATURE}'");
    program(&signer, &script);
    signer
}

/// What a branch cannot be made without a decision about.
fn undecided(case: &Case, decided: &[DecidedProgram]) -> Vec<RepositoryProgram> {
    let error = case.branch_with("undecided", decided).unwrap_err();
    let RepoError::ProgramsUndecided { programs, .. } = error else {
        unreachable!("{error}")
    };
    let branches = git(case.fixture.root(), &["branch", "--list", "undecided"]);
    assert_eq!(branches, "", "no branch is made before");
    programs
}

fn decided(programs: Vec<RepositoryProgram>, decision: ProgramDecision) -> Vec<DecidedProgram> {
    let decided = |program| DecidedProgram { program, decision };
    programs.into_iter().map(decided).collect()
}

fn names(programs: &[RepositoryProgram]) -> Vec<&str> {
    programs.iter().map(|program| program.named_by.as_str()).collect()
}

fn skipped(applied: Applied) -> Vec<String> {
    match applied {
        Applied::Branch { skipped, .. } => skipped,
        other @ Applied::Worktree { .. } => unreachable!("{other:?}"),
    }
}

#[test]
fn the_message_hook_runs_once_it_is_allowed_and_the_others_are_named() {
    let case = head();
    let hooks = case.fixture.git_dir().join("hooks");
    program(
        &hooks.join("commit-msg"),
        "touch hook-ran; echo 'Change-Id: I1' >> \"$1\"",
    );
    program(&hooks.join("pre-commit"), "touch was-run; exit 1");
    let found = undecided(&case, &[]);
    assert_eq!(names(&found), ["commit-msg"]);
    assert!(found[0].program.ends_with("hooks/commit-msg"), "{}", found[0].program);
    assert!(!case.fixture.exists("hook-ran"), "nothing ran unasked");

    let allowed = decided(found, ProgramDecision::Run);
    let left = skipped(case.branch_with("fix", &allowed).unwrap());
    assert_eq!(left, ["The hook 'pre-commit' was not run: it looks at a work tree."]);
    assert!(!case.fixture.exists("was-run"));
    assert!(git(case.fixture.root(), &["log", "-1", "--format=%B", "fix"]).contains("Change-Id: I1"));

    program(&hooks.join("commit-msg"), "echo 'no ticket' >&2; exit 1");
    let changed = undecided(&case, &allowed);
    assert_eq!(names(&changed), ["commit-msg"], "another script is another program");
    let error = case
        .branch_with("second", &decided(changed, ProgramDecision::Run))
        .unwrap_err();
    assert!(
        matches!(&error, RepoError::HookRefused { output, .. } if output == "no ticket"),
        "{error}"
    );
}

#[test]
fn what_is_left_out_is_not_run_and_said() {
    let case = head();
    program(&case.fixture.root().join("theirs/commit-msg"), "touch hook-ran");
    let signer = signer(&case);
    case.fixture
        .config("core.hooksPath", "theirs")
        .config("commit.gpgsign", "true")
        .config("gpg.program", signer.to_str().unwrap());
    let found = undecided(&case, &[]);
    assert_eq!(names(&found), ["commit-msg", "gpg.program"]);
    let left = skipped(
        case.branch_with("fix", &decided(found, ProgramDecision::LeaveOut))
            .unwrap(),
    );
    assert_eq!(
        left,
        [
            "The hook 'commit-msg' was not run, as decided.",
            "The commit is not signed: 'gpg.program' of the repository was not run, as decided."
        ]
    );
    assert!(!case.fixture.exists("hook-ran"));
    assert!(!git(case.fixture.root(), &["cat-file", "commit", "fix"]).contains("gpgsig"));
}

#[test]
fn a_commit_is_signed_where_the_configuration_asks_for_it() {
    let case = head();
    let signer = signer(&case);
    case.fixture
        .config("commit.gpgsign", "true")
        .config("gpg.program", signer.to_str().unwrap());
    case.branch_with("signed", &decided(undecided(&case, &[]), ProgramDecision::Run))
        .unwrap();
    assert!(git(case.fixture.root(), &["cat-file", "commit", "signed"]).contains("gpgsig -----BEGIN PGP SIGNATURE"));
    program(&signer, "echo 'no secret key' >&2; exit 1");
    let error = case
        .branch_with("other", &decided(undecided(&case, &[]), ProgramDecision::Run))
        .unwrap_err();
    assert!(
        matches!(&error, RepoError::Signing(why) if why.contains("failed to sign")),
        "{error}"
    );
}

#[test]
fn what_a_repository_names_and_no_commit_needs_is_never_run() {
    let case = head();
    let theirs = case.fixture.root().join("theirs");
    program(&theirs, "touch \"$(dirname \"$0\")/program-ran\"");
    let theirs = theirs.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.alternateRefsCommand",
        "diff.external",
        "filter.theirs.clean",
        "filter.theirs.smudge",
        "filter.theirs.process",
        "gpg.program",
        "credential.helper",
    ] {
        case.fixture.config(key, theirs);
    }
    case.fixture.write(".gitattributes", "* filter=theirs diff=theirs\n");
    // The hook makes git itself run, with all of that in force.
    program(&case.fixture.git_dir().join("hooks/commit-msg"), "exit 0");
    let found = undecided(&case, &[]);
    assert_eq!(names(&found), ["commit-msg"]);
    case.branch_with("fix", &decided(found, ProgramDecision::Run)).unwrap();
    assert!(!case.fixture.exists("program-ran"));
}
