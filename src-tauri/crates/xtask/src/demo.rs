//! `cargo xtask demo`: the program at work on the built-in sample, from a pasted issue to tests that pass.
//!
//! It starts `magis` as a person would and judges the outcome by the sample's own tests. It keeps its runs in the cache, apart from the user's;
//! only the model is shared with them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use magis_sample::BuiltInIssue;

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

/// Runs the demo; succeeds when the sample's tests failed before the patch and pass after it.
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
    shown?;
    println!("The issue is resolved: the tests failed before the patch and pass after it.");
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

fn show(demo: &Demo, scene: &Scene, steps: &mut Vec<Finished>) -> Result<()> {
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
    step::kept(steps, "solve the issue", || {
        Ok((solve(&magis, &models, demo, scene)?, ()))
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
        succeed(
            Command::new("git")
                .args(["apply", "--verbose"])
                .arg(&scene.patch)
                .current_dir(&scene.scratch),
        )?;
        Ok((format!("run {run}, applied to the scratch copy"), ()))
    })?;
    step::kept(steps, "tests after the patch (they have to pass)", || {
        let run = tests(&magis, scene)?;
        if !run.passed {
            bail!("{}: the patch does not resolve the issue", run.counts);
        }
        Ok((run.counts, ()))
    })
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
    fn summary_has_the_last_line_of_the_tests() {
        assert_eq!(
            last_line("failed  test_until\n\n30 passed, 2 failed, 0 errored, 0 skipped\n\n"),
            "30 passed, 2 failed, 0 errored, 0 skipped"
        );
        assert_eq!(last_line(""), "no output");
    }
}
