//! The sample holds what the demo promises: one history everywhere, tests that fail before a patch and pass after it.
//! It judges reference fixes only, no model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use magis_sample::{self as sample, BuiltInIssue, CATEGORY_CASE, EMPTY_REPORT, ISSUES, ONE_DECIMAL, UNTIL};

#[test]
fn history_is_the_same_at_each_writing() {
    let folder = written("history");
    assert_eq!(output(&folder, "git", &["rev-parse", "HEAD"]).trim(), sample::HEAD);
    assert_eq!(output(&folder, "git", &["rev-list", "--count", "HEAD"]).trim(), "6");
    assert_eq!(output(&folder, "git", &["status", "--porcelain"]), "");
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = written("in-use");
    let error = sample::write_repository(&folder).expect_err("the folder holds a repository");
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn own_tests_pass_with_every_fault_in_place() {
    assert!(tests_pass(&written("own-tests"), "discover"));
}

#[test]
fn inclusive_bound_resolves_until() {
    check(
        &UNTIL,
        &[("tally/filters.py", "entry.day < until", "entry.day <= until")],
    );
}

#[test]
fn padding_resolves_one_decimal() {
    check(
        &ONE_DECIMAL,
        &[(
            "tally/money.py",
            "int(fraction or \"0\")",
            "int(fraction.ljust(2, \"0\"))",
        )],
    );
}

#[test]
fn early_return_resolves_empty_report() {
    let line = "    amounts = {name: format_amount(cents) for name, cents in sums.items()}\n";
    check(
        &EMPTY_REPORT,
        &[(
            "tally/report.py",
            line,
            &format!("    if not sums:\n        return []\n{line}"),
        )],
    );
}

#[test]
fn comparing_folded_names_resolves_category_case() {
    let folded = "entry.category.casefold() == category.casefold()";
    check(
        &CATEGORY_CASE,
        &[
            ("tally/filters.py", "entry.category == category", folded),
            ("tally/budget.py", "entry.category == category", folded),
        ],
    );
}

/// Fails before the fix, still fails when any of its files is left out, passes with all of them, and so do the project's own tests.
fn check(issue: &BuiltInIssue, fix: &[(&str, &str, &str)]) {
    assert!(ISSUES.contains(issue));
    let mut changed: Vec<&str> = fix.iter().map(|(path, ..)| *path).collect();
    changed.dedup();
    assert_eq!(changed, issue.expected_files);

    let folder = written(issue.name);
    sample::write_file(&folder, &issue.check).expect("the scratch folder is ours");
    let module = issue.check.path.trim_end_matches(".py").replace('/', ".");
    for (path, before, after) in fix {
        assert!(!tests_pass(&folder, &module), "{} passes without {path}", issue.name);
        let text = fs::read_to_string(folder.join(path)).expect("the sample has this file");
        assert_eq!(text.matches(before).count(), 1, "{before} in {path}");
        fs::write(folder.join(path), text.replace(before, after)).expect("the scratch folder is ours");
    }
    assert!(tests_pass(&folder, &module), "{} fails with its fix", issue.name);
    assert!(
        tests_pass(&folder, "discover"),
        "the project's own tests fail with the fix of {}",
        issue.name
    );
}

fn written(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sample").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an earlier test run can be removed");
    }
    sample::write_repository(&folder).expect("git is installed");
    folder
}

fn tests_pass(folder: &Path, what: &str) -> bool {
    Command::new("python3")
        .args(["-B", "-m", "unittest", what])
        .current_dir(folder)
        .output()
        .expect("python3 is installed")
        .status
        .success()
}

fn output(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program is installed");
    assert!(output.status.success(), "{program} {arguments:?}");
    String::from_utf8(output.stdout).expect("git writes UTF-8")
}
