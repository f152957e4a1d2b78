//! `cargo xtask test`: every check and test, cheap ones first, all of them even when one fails, and a summary.
//!
//! What each check demands stands in its own configuration (`Cargo.toml`, `.deny.toml`, `.config/nextest.toml`), not here.

use std::env;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::catalog::{self, ModelFolders, TEST_MODEL};
use crate::step::{self, Finished};
use crate::{bundled, cargo, desktop, docs, folders, layers, names, network, tools, window};

/// The variable in which those tests look for its file.
const TEST_MODEL_VARIABLE: &str = "MAGIS_TEST_MODEL";

/// Runs everything and prints a line for each step; the last line counts the tests.
pub fn run() -> ExitCode {
    let start = Instant::now();
    let mut counts = Counts::default();
    let mut model = None;
    let mut steps = vec![
        step::run("layers", || listed(layers::check()?)),
        step::run("names", || listed(names::check()?)),
        step::run("comments", || listed(docs::check()?)),
        step::run("front end", || {
            window::packages()?;
            // The window's program holds what is built here, so it comes before all that compiles the program.
            for script in ["check", "test", "build", "size"] {
                window::npm(&["run", "--silent", script])?;
            }
            Ok("types, components, build, size".to_owned())
        }),
        step::run("front end in a browser", || {
            let network = network::least();
            window::npm_with(network, &["run", "--silent", "e2e"], &[])?;
            Ok(network.remark().to_owned())
        }),
        step::run("formatting", || plain(cargo::cargo().args(["fmt", "--all", "--check"]))),
        step::run("licences, bans and sources", deny),
        step::run("advisories", advisories),
        step::run("libraries in C", || listed(bundled::check()?)),
        step::run("clippy", || {
            plain(cargo::cargo().args([
                "clippy",
                "--locked",
                "--workspace",
                "--all-targets",
                "--",
                "--deny",
                "warnings",
            ]))
        }),
        step::run("documentation", || {
            let mut command = cargo::cargo();
            plain(
                command
                    .args(["doc", "--locked", "--no-deps", "--workspace"])
                    .env("RUSTDOCFLAGS", "--deny warnings"),
            )
        }),
        step::run("programs and test model", || {
            let path = test_model()?;
            let remark = path.display().to_string();
            model = Some(path);
            Ok(remark)
        }),
    ];
    steps.push(step::run("tests", || tests(model.as_ref(), &mut counts)));
    steps.push(step::run("the real window", || desktop::test(model.as_deref())));
    steps.push(step::run("tests in documentation", || documentation_tests(&mut counts)));

    println!("\n=== summary after {}", step::time(start.elapsed()));
    for finished in &steps {
        println!("{}", step::line(finished));
    }
    let failed: Vec<&str> = steps
        .iter()
        .filter(|step| step.outcome.is_err())
        .map(|step: &Finished| step.name)
        .collect();
    if failed.is_empty() && counts.failed == 0 {
        println!("{} passed, {} failed", counts.passed, counts.failed);
        return ExitCode::SUCCESS;
    }
    println!(
        "not green: {} ({} tests passed, {} failed)",
        failed.join(", "),
        counts.passed,
        counts.failed
    );
    ExitCode::FAILURE
}

/// How many tests ran, passed and were skipped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Returns the remark of a check, or all that breaks it as one error.
fn listed(checked: Result<String, Vec<String>>) -> Result<String> {
    checked.map_err(|broken| anyhow::anyhow!(broken.join("\n       ")))
}

fn plain(command: &mut Command) -> Result<String> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{status}");
    }
    Ok(String::new())
}

fn deny() -> Result<String> {
    let program = tools::obtain(&tools::DENY)?;
    plain(cargo::in_checkout(program).args(["--config", ".deny.toml", "check", "licenses", "bans", "sources"]))
}

/// Holds the dependencies against the database of advisories, where somebody fetched it: the test command fetches nothing that
/// changes overnight.
fn advisories() -> Result<String> {
    let databases = folders::cargo_home()?.join("advisory-dbs");
    if !databases.is_dir() {
        return Ok("not checked: no database here; 'cargo deny fetch db' brings it".to_owned());
    }
    let program = tools::obtain(&tools::DENY)?;
    plain(cargo::in_checkout(program).args(["--config", ".deny.toml", "check", "--disable-fetch", "advisories"]))
}

/// Returns the file of the model for tests, fetched where it is not there.
///
/// # Errors
/// When it cannot be fetched, or the variable names no file.
pub fn test_model() -> Result<PathBuf> {
    if let Some(given) = env::var_os(TEST_MODEL_VARIABLE).map(PathBuf::from) {
        if given.is_file() {
            return Ok(given);
        }
        bail!("{TEST_MODEL_VARIABLE} names {}, which is no file", given.display());
    }
    // Built as the tests are: a build of its own would compile half of the dependencies twice.
    let magis = cargo::built_with_tests("magis")?;
    catalog::fetch(
        &magis,
        TEST_MODEL,
        &ModelFolders::inside(folders::cache()?.join("test-data")),
    )
}

fn tests(model: Option<&PathBuf>, counts: &mut Counts) -> Result<String> {
    let program = tools::obtain(&tools::NEXTEST)?;
    let mut command = cargo::in_checkout(program);
    command.args(["nextest", "run", "--locked", "--workspace", "--no-fail-fast"]);
    if let Some(model) = model {
        command.env(TEST_MODEL_VARIABLE, model);
    }
    if std::io::stderr().is_terminal() {
        command.args(["--color", "always"]);
    }
    // nextest reports on the error stream; it is passed on as it comes and read on the way.
    let mut child = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting nextest")?;
    let stream = child.stderr.take().context("nextest has no error stream")?;
    let mut found = None;
    for line in BufReader::new(stream).split(b'\n') {
        let line = String::from_utf8_lossy(&line.context("reading nextest's report")?).into_owned();
        writeln!(std::io::stderr(), "{line}").context("passing nextest's report on")?;
        found = nextest_summary(&without_colours(&line)).or(found);
    }
    let status = child.wait().context("waiting for nextest")?;
    counts.add(found.unwrap_or_default());
    let remark = found.map(|counts| format!("{} passed, {} failed", counts.passed, counts.failed));
    match (status.success(), remark) {
        (true, Some(remark)) => Ok(remark),
        (true, None) => bail!("nextest ended well, but printed no summary"),
        (false, Some(remark)) => bail!("{remark}"),
        (false, None) => bail!("{status}, before any test ran"),
    }
}

fn documentation_tests(counts: &mut Counts) -> Result<String> {
    let output = cargo::cargo()
        .args(["test", "--locked", "--workspace", "--doc", "--no-fail-fast"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo test")?;
    let report = String::from_utf8_lossy(&output.stdout);
    let mut found = Counts::default();
    for counted in report.lines().filter_map(libtest_summary) {
        found.add(counted);
    }
    counts.add(found);
    if !output.status.success() {
        println!("{report}");
        bail!("{}", output.status);
    }
    Ok(format!("{} passed, {} failed", found.passed, found.failed))
}

/// Returns the counts of a line such as `Summary [ 1.316s] 7 tests run: 6 passed (1 slow), 1 failed, 0 skipped`.
fn nextest_summary(line: &str) -> Option<Counts> {
    let counts = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?.1;
    let of = |words: &[&str]| {
        let parts = counts.split(", ").filter_map(|part| part.split_once(' '));
        parts
            .filter(|(_, word)| words.iter().any(|wanted| word.starts_with(wanted)))
            .filter_map(|(n, _)| n.parse::<u64>().ok())
            .sum()
    };
    Some(Counts {
        passed: of(&["passed"]),
        failed: of(&["failed", "timed out", "exec failed"]),
    })
}

/// Returns the counts of a line such as `test result: ok. 2 passed; 0 failed; 1 ignored; …`.
fn libtest_summary(line: &str) -> Option<Counts> {
    let counts = line.trim_start().strip_prefix("test result: ")?.split_once(". ")?.1;
    let mut numbers = counts
        .split("; ")
        .filter_map(|part| part.split_once(' ')?.0.parse::<u64>().ok());
    Some(Counts {
        passed: numbers.next()?,
        failed: numbers.next()?,
    })
}

/// Returns the text without the codes that colour it on a terminal.
fn without_colours(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(piece.split_once('m').map_or(piece, |(_, rest)| rest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_counts_are_read_in_each_form() {
        let check = |line: &str, passed: u64, failed: u64| {
            assert_eq!(
                nextest_summary(&without_colours(line)),
                Some(Counts { passed, failed }),
                "{line}"
            );
        };
        check("     Summary [   1.316s] 7 tests run: 7 passed, 0 skipped", 7, 0);
        check(
            "     Summary [  61.002s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 4 skipped",
            6,
            3,
        );
        check(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m passed, 0 skipped",
            1,
            0,
        );
        assert_eq!(nextest_summary("        PASS [   0.067s] a Summary"), None);
    }

    #[test]
    fn libtest_counts_are_read() {
        let line = "test result: FAILED. 2 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(libtest_summary(line), Some(Counts { passed: 2, failed: 1 }));
        assert_eq!(libtest_summary("running 3 tests"), None);
    }
}
