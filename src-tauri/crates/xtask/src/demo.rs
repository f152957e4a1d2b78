//! `cargo xtask demo`: the program at work on the built-in sample, from a pasted issue to tests that pass.
//!
//! It starts `magis` as a person would and judges the outcome by the sample's own tests and by the files that the patch touches. It keeps its runs in
//! the cache, apart from the user's; only the model is shared with them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use magis_sample::BuiltInIssue;
use serde_json::Value;

use crate::catalog::{self, ModelFolders};
use crate::step::{self, Finished};
use crate::{cargo, folders};

/// The model of the demo, which is the program's default.
pub const DEFAULT_MODEL: &str = "qwen2.5-coder-1.5b";

/// How long the sample's tests may take.
const TEST_LIMIT: Duration = Duration::from_mins(1);

/// What the main job on the built-in sample is to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demo {
    /// The issue to solve.
    pub issue: BuiltInIssue,
    /// The model, by its name in the catalogue.
    pub model: String,
    /// The number that fixes the model's dice.
    pub seed: u64,
}

/// Runs the demo; succeeds when the sample's tests failed before the patch and pass after it, and the patch touches no file but those that have to
/// change. It says how long solving took; a slow machine is no failure.
///
/// # Errors
/// When a step that the rest needs cannot be done; the message says which, and the demo can be started again.
pub fn run(demo: &Demo) -> Result<ExitCode> {
    let start = Instant::now();
    let scene = Scene::new(&folders::cache()?.join("demo"));
    let mut steps = Vec::new();
    let shown = show(demo, &scene, &mut steps);

    println!("\n=== summary after {}", step::time(start.elapsed()));
    for finished in &steps {
        println!("{}", step::line(finished));
    }
    let solved = shown?;
    println!("The issue is resolved: the tests failed before the patch and pass after it.");
    println!("Solving it took {:.0} s.", solved.as_secs_f64());
    println!("The patch: {}", scene.patch.display());
    Ok(ExitCode::SUCCESS)
}

/// Returns what opens the window with the sample and the issue: the model is fetched, the repository and the issue are
/// written.
///
/// # Errors
/// When one of these cannot be done; the demo can be started again.
pub fn window_arguments(demo: &Demo) -> Result<Vec<OsString>> {
    let scene = Scene::new(&folders::cache()?.join("demo"));
    let magis = cargo::build("magis-cli", "magis")?;
    let of_user = ModelFolders::of_user()?;
    catalog::fetch(&magis, &demo.model, &of_user)?;
    write_scene(&scene, &demo.issue)?;
    let mut arguments = Vec::new();
    for (name, path) in [
        ("--data-dir", &scene.data),
        ("--models-dir", &of_user.models),
        ("--repo", &scene.repository),
        ("--issue", &scene.issue),
    ] {
        arguments.extend([name.into(), path.into()]);
    }
    Ok(arguments)
}

/// The files and folders of a demo.
struct Scene {
    /// The data folder of the program, for the demo's runs and their memory.
    data: PathBuf,
    /// The sample's repository, as the user would have it.
    repository: PathBuf,
    /// A second copy, in which the tests run and the patch is applied.
    scratch: PathBuf,
    issue: PathBuf,
    patch: PathBuf,
}

impl Scene {
    fn new(root: &Path) -> Self {
        Self {
            data: root.join("data"),
            repository: root.join("tally"),
            scratch: root.join("scratch"),
            issue: root.join("issue.md"),
            patch: root.join("tally.patch"),
        }
    }
}

/// Carries out the steps, and returns how long solving took.
fn show(demo: &Demo, scene: &Scene, steps: &mut Vec<Finished>) -> Result<Duration> {
    let issue = &demo.issue;
    let magis = step::kept(steps, "build magis", || {
        let path = cargo::build("magis-cli", "magis")?;
        Ok((path.display().to_string(), path))
    })?;
    let models = step::kept(steps, "download the model", || {
        let of_user = ModelFolders::of_user()?;
        let path = catalog::fetch(&magis, &demo.model, &of_user)?;
        Ok((path.display().to_string(), of_user.models))
    })?;
    step::kept(steps, "write the sample repository", || {
        write_scene(scene, issue)?;
        println!(
            "The repository: {}\nThe issue:\n\n{}",
            scene.repository.display(),
            indented(issue.text)
        );
        println!("The sample's tests are going to run twice, before and after the patch, in the sandbox.");
        Ok((scene.repository.display().to_string(), ()))
    })?;
    step::kept(steps, "tests before the patch (they have to fail)", || {
        let run = tests(&magis, scene)?;
        if run.passed {
            bail!("the tests pass although the issue is open: the sample is not what it should be");
        }
        Ok((run.counts, ()))
    })?;
    let solved = step::kept(steps, "solve the issue", || {
        let begun = Instant::now();
        let judged = solve(&magis, &models, demo, scene)?;
        let took = begun.elapsed();
        Ok((format!("{:.0} s; {judged}", took.as_secs_f64()), took))
    })?;
    step::kept(steps, "take the patch", || {
        let run = newest_run(&magis, scene)?;
        magis_in(
            &magis,
            scene,
            &["apply", &run, "--patch", &scene.patch.to_string_lossy()],
        )?;
        let patch = fs::read_to_string(&scene.patch).with_context(|| format!("reading {}", scene.patch.display()))?;
        println!("\n{patch}");
        let touched = touched(&patch);
        let needless = needless(&touched, issue);
        if !needless.is_empty() {
            bail!("the patch touches what it need not: {}", needless.join(", "));
        }
        let of_tests = said_of_tests(&magis, scene, &run)?;
        println!("The run says of its patch: {of_tests}");
        succeed(
            Command::new("git")
                .args(["apply", "--verbose"])
                .arg(&scene.patch)
                .current_dir(&scene.scratch),
        )?;
        let files = touched.into_iter().collect::<Vec<_>>().join(", ");
        Ok((
            format!("run {run}: {files}; {of_tests}; applied to the scratch copy"),
            (),
        ))
    })?;
    step::kept(steps, "tests after the patch (they have to pass)", || {
        let run = tests(&magis, scene)?;
        if !run.passed {
            bail!("{}: the patch does not resolve the issue", run.counts);
        }
        Ok((run.counts, ()))
    })?;
    Ok(solved)
}

/// Returns the files that a patch in git's form touches, by their names before and after.
fn touched(patch: &str) -> BTreeSet<&str> {
    let mut files = BTreeSet::new();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        files.extend(line.strip_prefix("rename from "));
        files.extend(line.strip_prefix("rename to "));
        // A deleted line may begin like a header, so both of its lines have to stand there.
        let after = lines.peek().copied().and_then(|next| next.strip_prefix("+++ "));
        if let (Some(before), Some(after)) = (line.strip_prefix("--- "), after) {
            files.extend(before.strip_prefix("a/"));
            files.extend(after.strip_prefix("b/"));
        }
    }
    files
}

/// Returns the files that a patch touches beside those that have to change for an issue.
fn needless<'patch>(touched: &BTreeSet<&'patch str>, issue: &BuiltInIssue) -> Vec<&'patch str> {
    let is_expected = |file: &str| issue.expected_files.contains(&file);
    touched.iter().copied().filter(|file| !is_expected(file)).collect()
}

/// Returns what a run's own tests of its patch came to, by its record.
fn said_of_tests(magis: &Path, scene: &Scene, run: &str) -> Result<String> {
    let output = Command::new(magis)
        .args(["runs", "show", run, "--json", "--data-dir"])
        .arg(&scene.data)
        .output()
        .context("starting magis runs show")?;
    if !output.status.success() {
        bail!(
            "magis runs show failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let record = serde_json::from_slice(&output.stdout).context("reading what magis runs show printed")?;
    Ok(tests_in(&record))
}

/// Returns what the tests of the patch came to in the record of a run.
fn tests_in(record: &Value) -> String {
    let stored = record["events"].as_array().into_iter().flatten();
    let mut events = stored.map(|stored| &stored["event"]);
    let tested = events.rfind(|event| event["event"] == "patch_tested");
    let tests = tested.map(|event| &event["result"]["tests"]);
    let Some(tests) = tests.filter(|tests| tests.is_object()) else {
        return "no tests were run on it".to_owned();
    };
    let failing = tests["newly_failing"].as_array().map_or(0, Vec::len);
    format!("{} tests pass, {failing} fail that passed before", tests["passed"])
}

fn write_scene(scene: &Scene, issue: &BuiltInIssue) -> Result<()> {
    for folder in [&scene.repository, &scene.scratch] {
        if folder.exists() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("removing the sample of an earlier demo, {}", folder.display()))?;
        }
        magis_sample::write_repository(folder)
            .with_context(|| format!("writing the sample to {}", folder.display()))?;
    }
    // `magis apply --patch` overwrites nothing; what an earlier demo wrote is the demo's to remove.
    if scene.patch.exists() {
        fs::remove_file(&scene.patch).with_context(|| format!("removing {}", scene.patch.display()))?;
    }
    magis_sample::write_file(&scene.scratch, &issue.check).context("writing the tests of the issue")?;
    fs::write(&scene.issue, issue.text).with_context(|| format!("writing {}", scene.issue.display()))
}

/// What came of the sample's tests.
struct SampleTests {
    passed: bool,
    /// "30 passed, 2 failed, …", in the program's own words.
    counts: String,
}

/// Runs the tests of the scratch copy, with the patch where it is applied, by the program itself.
fn tests(magis: &Path, scene: &Scene) -> Result<SampleTests> {
    let mut command = Command::new(magis);
    command
        .args(["tests", "run", "--include-uncommitted", "--yes", "--time"])
        .arg(TEST_LIMIT.as_secs().to_string())
        .arg("--repo")
        .arg(&scene.scratch)
        .arg("--data-dir")
        .arg(&scene.data);
    println!("$ {}", typed(&command));
    let output = command
        .output()
        .with_context(|| format!("starting {}", magis.display()))?;
    let (printed, said) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    println!("{}", indented(&printed));
    println!("{}", indented(&said));
    let counts = last_line(&printed);
    if !counts.contains(" passed, ") {
        bail!("the tests did not run to their end: {}", last_line(&said));
    }
    Ok(SampleTests {
        passed: output.status.success(),
        counts,
    })
}

/// Lets `magis` solve the issue and says how it judged its own patch.
fn solve(magis: &Path, models: &Path, demo: &Demo, scene: &Scene) -> Result<String> {
    let mut command = Command::new(magis);
    command
        .args(["solve", "--allow-tests"])
        .arg("--repo")
        .arg(&scene.repository)
        .arg("--issue")
        .arg(&scene.issue);
    command
        .arg("--model")
        .arg(&demo.model)
        .args(["--seed", &demo.seed.to_string()])
        .arg("--data-dir")
        .arg(&scene.data)
        .arg("--models-dir")
        .arg(models);
    println!("$ {}", typed(&command));
    let status = command
        .status()
        .with_context(|| format!("starting {}", magis.display()))?;
    match status.code() {
        Some(0) => Ok("patch made, shown to work or approved; see above".to_owned()),
        Some(3) => Ok("there is a patch, but it is not shown to work, or its model review did not pass".to_owned()),
        Some(4) => bail!("the run ended without a change; its reason is above"),
        _ => bail!("magis solve failed ({status}); its message is above"),
    }
}

/// Returns the number of the newest run in the demo's data folder.
fn newest_run(magis: &Path, scene: &Scene) -> Result<String> {
    let output = Command::new(magis)
        .args(["runs", "list", "--data-dir"])
        .arg(&scene.data)
        .output()
        .context("starting magis runs list")?;
    if !output.status.success() {
        bail!(
            "magis runs list failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let list = String::from_utf8_lossy(&output.stdout);
    newest(&list)
        .map(|run| run.to_string())
        .with_context(|| format!("magis runs list shows no run:\n{list}"))
}

/// Returns the greatest number that begins a line: runs are numbered in the order of their start.
fn newest(list: &str) -> Option<u64> {
    list.lines()
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .max()
}

fn magis_in(magis: &Path, scene: &Scene, arguments: &[&str]) -> Result<()> {
    succeed(Command::new(magis).args(arguments).arg("--data-dir").arg(&scene.data))
}

fn succeed(command: &mut Command) -> Result<()> {
    println!("$ {}", typed(command));
    let status = command
        .status()
        .with_context(|| format!("starting {}", typed(command)))?;
    if !status.success() {
        bail!("{} failed ({status}); its message is above", typed(command));
    }
    Ok(())
}

/// Returns a command as a person would type it.
fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
        .collect()
}

fn last_line(text: &str) -> String {
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no output")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_run_has_the_greatest_number() {
        assert_eq!(
            newest("RUN  STATE     ISSUE\n9    finished  list --until\n10   stopped   3 amounts\n"),
            Some(10)
        );
        assert_eq!(newest("There is no run yet.\n"), None);
    }

    #[test]
    fn a_patch_that_touches_another_file_than_the_samples_is_found_out() {
        let of =
            |file: &str| format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
        let right = of("tally/report.py");
        assert_eq!(needless(&touched(&right), &magis_sample::EMPTY_REPORT), [""; 0]);
        let both = right + &of("tally/money.py");
        assert_eq!(
            needless(&touched(&both), &magis_sample::EMPTY_REPORT),
            ["tally/money.py"]
        );
        let new = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+-- a/x\n";
        assert_eq!(touched(new), BTreeSet::from(["n.py"]));
        let gone =
            "diff --git a/n.py b/n.py\ndeleted file mode 100644\n--- a/n.py\n+++ /dev/null\n@@ -1 +0,0 @@\n--- a/x\n";
        assert_eq!(touched(gone), BTreeSet::from(["n.py"]));
        let moved = "diff --git a/n.py b/m.py\nsimilarity index 100%\nrename from n.py\nrename to m.py\n";
        assert_eq!(touched(moved), BTreeSet::from(["m.py", "n.py"]));
    }

    #[test]
    fn the_tests_of_a_run_are_those_of_its_last_patch() {
        let tested = |passed: u32| {
            let tests = serde_json::json!({ "passed": passed, "newly_failing": [] });
            serde_json::json!({ "seq": 1, "event": { "event": "patch_tested", "result": { "tests": tests } } })
        };
        let record = serde_json::json!({ "events": [tested(29), tested(30)] });
        assert_eq!(tests_in(&record), "30 tests pass, 0 fail that passed before");
        let record = serde_json::json!({ "events": [{ "seq": 1, "event": { "event": "run_started" } }] });
        assert_eq!(tests_in(&record), "no tests were run on it");
    }

    #[test]
    fn summary_has_the_last_line_of_the_tests() {
        assert_eq!(
            last_line("failed  test_until\n\n30 passed, 2 failed, 0 errored, 0 skipped\n\n"),
            "30 passed, 2 failed, 0 errored, 0 skipped"
        );
        assert_eq!(last_line(""), "no output");
    }
}
