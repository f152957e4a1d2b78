//! The built-in sample: `tally`, a small Python project with a git history, issues as its users would write them, and for each issue the tests
//! that fail until it is resolved.
//!
//! One repository serves every issue: each has its own fault in it, and the project's own tests pass all the same. The tests in
//! [`BuiltInIssue::check`] are no part of the repository; whoever judges a patch copies them in.
//! The history is written by the `git` program with fixed dates and identities and without the user's configuration, so it has the same commit ids everywhere.
//! It uses the standard library alone: the window ships it, and xtask compiles it on a machine that has nothing but Rust yet.
//! It does not run any test and does not know how an issue is resolved.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// A file by its path in the repository, with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleFile {
    /// Path below the repository's root, with `/`.
    pub path: &'static str,
    pub text: &'static str,
}

/// An issue of the sample project, with what is needed to judge a patch for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInIssue {
    /// A short name, for choosing one.
    pub name: &'static str,
    /// What the user wrote: a title, an empty line, the text.
    pub text: &'static str,
    /// Tests that fail before the issue is resolved and pass after; not in the repository.
    pub check: SampleFile,
    /// The files that have to change.
    pub expected_files: &'static [&'static str],
}

/// `list --until DAY` leaves out that day.
pub const UNTIL: BuiltInIssue = BuiltInIssue {
    name: "until",
    text: include_str!("../sample/issues/until.md"),
    check: SampleFile {
        path: "tests/test_until.py",
        text: include_str!("../sample/checks/test_until.py"),
    },
    expected_files: &["tally/filters.py"],
};

/// An amount with one decimal is read as hundredths.
pub const ONE_DECIMAL: BuiltInIssue = BuiltInIssue {
    name: "one-decimal",
    text: include_str!("../sample/issues/one_decimal.md"),
    check: SampleFile {
        path: "tests/test_one_decimal.py",
        text: include_str!("../sample/checks/test_one_decimal.py"),
    },
    expected_files: &["tally/money.py"],
};

/// The issue of the demo: a report without expenses fails.
pub const EMPTY_REPORT: BuiltInIssue = BuiltInIssue {
    name: "empty-report",
    text: include_str!("../sample/issues/empty_report.md"),
    check: SampleFile {
        path: "tests/test_empty_report.py",
        text: include_str!("../sample/checks/test_empty_report.py"),
    },
    expected_files: &["tally/report.py"],
};

/// Categories are told apart by case; takes a change in each of two files.
pub const CATEGORY_CASE: BuiltInIssue = BuiltInIssue {
    name: "category-case",
    text: include_str!("../sample/issues/category_case.md"),
    check: SampleFile {
        path: "tests/test_category_case.py",
        text: include_str!("../sample/checks/test_category_case.py"),
    },
    expected_files: &["tally/filters.py", "tally/budget.py"],
};

/// All issues, the demo's first.
pub const ISSUES: [BuiltInIssue; 4] = [EMPTY_REPORT, UNTIL, ONE_DECIMAL, CATEGORY_CASE];

/// The text of the demo's issue.
pub const ISSUE: &str = EMPTY_REPORT.text;

/// The text of the issue that needs changes in two files, and so two tasks.
pub const TWO_TASK_ISSUE: &str = CATEGORY_CASE.text;

/// The id of the last commit that [`write_repository`] makes.
///
/// Its parent lacks `tally/budget.py` and has an older `tally/filters.py`, so a memory that was filled there has one summary to bring up to date and one to write.
pub const HEAD: &str = "e62345b94ef989c9998e75c0cdf7cbee34b0d5cc";

/// Writes the sample's repository, history and work tree, into a folder that is empty or does not exist yet.
///
/// # Errors
/// When the folder cannot be written, holds something already, or `git` is missing or fails; the message has git's own words.
pub fn write_repository(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "writing the sample into {}: the folder is not empty, choose another",
                folder.display()
            ),
        ));
    }
    git(
        folder,
        &["init", "--quiet", "--initial-branch=main", "--template="],
        &HISTORY[0],
    )?;
    for step in &HISTORY {
        for file in step.files {
            write_file(folder, file)?;
        }
        git(folder, &["add", "--all"], step)?;
        git(
            folder,
            &["commit", "--quiet", "--no-verify", "--message", step.message],
            step,
        )?;
    }
    Ok(())
}

/// Writes one file below a folder, with the folders in between.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(folder: &Path, file: &SampleFile) -> io::Result<()> {
    let path = folder.join(file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, file.text)
}

/// One commit: who, when, why, and the files as they are from then on.
struct SampleCommit {
    author: &'static str,
    date: &'static str,
    message: &'static str,
    files: &'static [SampleFile],
}

/// A file of the project in its last form.
macro_rules! last {
    ($path:literal) => {
        SampleFile {
            path: $path,
            text: include_str!(concat!("../sample/tree/", $path)),
        }
    };
}

/// A file in the form it had at an earlier step.
macro_rules! earlier {
    ($step:literal, $path:literal) => {
        SampleFile {
            path: $path,
            text: include_str!(concat!("../sample/earlier/", $step, "/", $path)),
        }
    };
}

const HISTORY: [SampleCommit; 6] = [
    SampleCommit {
        author: "Ana",
        date: "2024-01-06T10:12:00+0100",
        message: "Read and write amounts and dates",
        files: &[
            earlier!("1", "README.md"),
            last!("tally/__init__.py"),
            last!("tally/money.py"),
            earlier!("1", "tally/dates.py"),
            last!("tests/__init__.py"),
            last!("tests/test_money.py"),
            earlier!("1", "tests/test_dates.py"),
        ],
    },
    SampleCommit {
        author: "Ana",
        date: "2024-01-07T16:40:00+0100",
        message: "Keep entries in a CSV file\n\nThe file is replaced as a whole, so a crash never leaves half of it.",
        files: &[
            last!("tally/entries.py"),
            last!("tally/storage.py"),
            last!("tests/test_storage.py"),
        ],
    },
    SampleCommit {
        author: "Ana",
        date: "2024-01-13T11:05:00+0100",
        message: "Add and list expenses on the command line",
        files: &[
            earlier!("3", "README.md"),
            last!("tally/__main__.py"),
            earlier!("3", "tally/cli.py"),
            earlier!("3", "tally/filters.py"),
            earlier!("3", "tally/report.py"),
            earlier!("3", "tests/test_cli.py"),
            earlier!("3", "tests/test_filters.py"),
        ],
    },
    SampleCommit {
        author: "Ben",
        date: "2024-01-21T20:31:00+0100",
        message: "Report totals by category and month, and who owes whom",
        files: &[
            earlier!("4", "README.md"),
            earlier!("4", "tally/cli.py"),
            last!("tally/report.py"),
            earlier!("4", "tests/test_cli.py"),
            last!("tests/test_report.py"),
        ],
    },
    SampleCommit {
        author: "Ana",
        date: "2024-02-04T09:50:00+0100",
        message: "Write down what comes back every month\n\nRent on the 31st is due on the last day of a shorter month.",
        files: &[
            earlier!("5", "README.md"),
            earlier!("5", "tally/cli.py"),
            last!("tally/dates.py"),
            last!("tally/recurring.py"),
            last!("tests/test_cli.py"),
            last!("tests/test_dates.py"),
            last!("tests/test_recurring.py"),
        ],
    },
    SampleCommit {
        author: "Ben",
        date: "2024-02-18T18:22:00+0100",
        message: "Compare a month with its limits\n\nlist --text looks at the payer too: we wanted to see who is behind the greatest sums.",
        files: &[
            last!("README.md"),
            last!("tally/budget.py"),
            last!("tally/cli.py"),
            last!("tally/filters.py"),
            last!("tests/test_budget.py"),
            last!("tests/test_filters.py"),
        ],
    },
];

/// Settings that would otherwise come from the machine and change ids, or run a program of the user's.
const FIXED_SETTINGS: [&str; 7] = [
    "core.autocrlf=false",
    "core.eol=lf",
    "core.fileMode=false",
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "i18n.commitEncoding=UTF-8",
    "gc.auto=0",
];

fn git(folder: &Path, arguments: &[&str], step: &SampleCommit) -> io::Result<()> {
    let mut command = Command::new("git");
    for setting in FIXED_SETTINGS {
        command.args(["-c", setting]);
    }
    // A caller inside a git hook has these set, and they would point git at another repository.
    for inherited in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
    ] {
        command.env_remove(inherited);
    }
    let email = format!("{}@flat.example", step.author.to_lowercase());
    let output = command
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_DEFAULT_HASH", "sha1")
        .env("GIT_AUTHOR_NAME", step.author)
        .env("GIT_AUTHOR_EMAIL", &email)
        .env("GIT_AUTHOR_DATE", step.date)
        .env("GIT_COMMITTER_NAME", step.author)
        .env("GIT_COMMITTER_EMAIL", &email)
        .env("GIT_COMMITTER_DATE", step.date)
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("starting git to write the sample: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "git {} in {}: {}",
        arguments[0],
        folder.display(),
        said.trim()
    )))
}
