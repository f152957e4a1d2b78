//! `magis-eval reproduce`: makes the checks that a program can make out of each issue's text, runs them in the sandbox on the base, and, where
//! the set has a reference, on the tree with it. Where it makes none that fails, a QA Engineer may write tests, as in a run.
//!
//! Only the issue's text reaches the making of checks; the reference judges them. The environments are those of the judge that stands beside the
//! set (`run.py`), made by it where they are missing.

mod written;

use super::environments::{JudgeEnvironments, copy_installed};
use super::{chosen, runtime, sandbox_helper};
use crate::args::ReproduceArgs;
use anyhow::{Context as _, Result, bail};
use magis_core::{Grade, RepoPath};
use magis_engine::sandbox::Toolchains;
use magis_eval::instances::{Instance, InstanceId, rows};
use magis_eval::repositories::Repositories;
use magis_eval::table::MarkdownTable;
use magis_evidence::reproduction::{self, Check, CheckVerdict, Marker, RunEnd, RunOutput};
use magis_sandbox::{End, JobFile, Limits, Sandbox, SandboxJob, Scratch, ScratchLayer, remove_tree};
use magis_syntax::SourceLanguage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use written::TestWriter;

/// Where a check's files lie and its command runs.
const FOLDER: &str = "/check";
/// How long a check may take.
const TIME: Duration = Duration::from_mins(1);

/// What a check said of an issue.
#[derive(Debug, Serialize)]
struct Row {
    id: InstanceId,
    checks: usize,
    /// The best grade among the checks that reproduce the issue on the base; none where none does.
    grade: Option<Grade>,
    /// Who made those checks.
    made_by: Option<MadeBy>,
    /// What the base shows, or why no check reproduces the issue.
    base: String,
    /// What the check that reproduces the issue best says of the tree with the reference; none where the set has none.
    reference: Option<String>,
    /// A check fails on the base as the issue says and passes with the reference: by which grade.
    decided: Option<Grade>,
    seconds: f64,
}

impl Row {
    /// Returns that of an issue whose checks could not be run.
    fn failed(id: InstanceId, error: &anyhow::Error) -> Self {
        Self {
            id,
            checks: 0,
            grade: None,
            made_by: None,
            base: format!("{error:#}"),
            reference: None,
            decided: None,
            seconds: 0.0,
        }
    }
}

/// Who made a check.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum MadeBy {
    /// A program, out of what the issue shows.
    Program,
    /// A QA Engineer wrote it.
    Model,
}

/// Runs `magis-eval reproduce`.
pub fn reproduce(args: &ReproduceArgs) -> Result<ExitCode> {
    let issues = chosen(&args.which)?;
    let references = references(&args.which.instances)?;
    let environments = JudgeEnvironments::new(
        Repositories::new(&args.which.repos)?,
        &args.work,
        args.judge.as_ref(),
        &args.which.instances,
    )?;
    let runtime = runtime()?;
    let sandbox = runtime.block_on(Sandbox::confined(sandbox_helper()?))?;
    let writer = if args.with_model {
        Some(runtime.block_on(TestWriter::open(environments.work(), &args.engine))?)
    } else {
        None
    };
    let (mut rows, mut failed) = (Vec::new(), 0);
    for (number, issue) in (1..).zip(&issues) {
        let row = runtime
            .block_on(one(
                &environments,
                issue,
                references.get(&issue.id).map(String::as_str),
                &sandbox,
                writer.as_ref(),
            ))
            .with_context(|| format!("reproducing {}", issue.id));
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                eprintln!("[{number}/{}] {error:#}", issues.len());
                failed += 1;
                Row::failed(issue.id.clone(), &error)
            }
        };
        eprintln!(
            "[{number}/{}] {}: {} checks, base {}, decided {} in {:.1} s",
            issues.len(),
            row.id,
            row.checks,
            said(row.grade),
            said(row.decided),
            row.seconds
        );
        rows.push(row);
    }
    if let Some(writer) = writer {
        runtime.block_on(writer.close());
    }
    if args.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&serde_json::json!({ "issues": rows }))?
        );
    } else {
        print(&rows);
    }
    if failed > 0 {
        eprintln!("{failed} of {} issues could not be run; why is with each", issues.len());
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn said(value: Option<impl Serialize>) -> String {
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    value
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| "-".to_owned())
}

fn print(rows: &[Row]) {
    let mut table = MarkdownTable::new(["issue", "checks", "made by", "base", "decided", "reference"]);
    for row in rows {
        let reference = row.reference.clone().unwrap_or_else(|| row.base.clone());
        table.row([
            row.id.to_string(),
            row.checks.to_string(),
            said(row.made_by),
            said(row.grade),
            said(row.decided),
            reference,
        ]);
    }
    print!("{}", table.text());
    let decided = rows.iter().filter_map(|row| row.decided);
    let strong = decided.clone().filter(|grade| grade.is_strong()).count();
    println!(
        "\n{} issues, {} reproduced, {} decided, {strong} of them strongly",
        rows.len(),
        rows.iter().filter(|row| row.grade.is_some()).count(),
        decided.count()
    );
}

/// Reads the reference changes as they stand, for `git apply`.
fn references(file: &Path) -> Result<BTreeMap<InstanceId, String>> {
    #[derive(Deserialize)]
    struct Reference {
        instance_id: InstanceId,
        #[serde(default)]
        patch: String,
    }
    let all = rows::<Reference>(file)?
        .into_iter()
        .filter(|row| !row.patch.trim().is_empty());
    Ok(all.map(|row| (row.instance_id, row.patch)).collect())
}

/// A check with what its run on the base says.
struct Reproduced {
    check: Check,
    base: reproduction::Observation,
    found: reproduction::Reproduction,
}

async fn one(
    environments: &JudgeEnvironments,
    issue: &Instance,
    reference: Option<&str>,
    sandbox: &Sandbox,
    writer: Option<&TestWriter>,
) -> Result<Row> {
    let begun = std::time::Instant::now();
    let environment = environments.environment(&issue.id, &issue.repo, &issue.base_commit)?;
    let folder = environments.work().join("reproduce").join(&issue.id.0);
    // What a command left there may forbid its removal to a plain `rm`.
    if folder.exists() {
        remove_tree(&folder)?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let tree = folder.join("base");
    environments
        .repositories()
        .check_out(&issue.repo, &issue.base_commit, &tree)?;
    if let Some(installed) = &environment.installed {
        copy_installed(installed, &tree)?;
    }
    let mut seen = Setting {
        issue,
        environment: environment.folder,
        folder: folder.clone(),
        tree: tree.clone(),
        at: environments.tree(&issue.id),
        sandbox,
        runs: 0,
    };
    let paths = files(&tree)?;
    let text = |path: &RepoPath| fs::read_to_string(tree.join(path.as_str())).ok();
    let project = reproduction::project_in_use(&paths, &text);
    let checks = reproduction::checks(&issue.problem_statement, &project, &marker()?);
    let (mut reproduced, mut why) = (Vec::new(), "the issue shows nothing that could be run".to_owned());
    for check in &checks {
        let base = reproduction::observe(check, &seen.run(check).await?);
        match reproduction::reproduces(check, &base) {
            Ok(found) => reproduced.push(Reproduced {
                check: check.clone(),
                base,
                found,
            }),
            Err(nothing) => why = nothing.to_string(),
        }
    }
    reproduced.sort_by_key(|one| std::cmp::Reverse(one.found.grade));
    let mut written = Vec::new();
    if let Some(writer) = writer.filter(|_| reproduced.is_empty()) {
        match writer.written(environments, issue).await? {
            Ok(tests) => written = tests,
            Err(nothing) => why = format!("{why}; {nothing}"),
        }
    }
    let by_program = reproduced.first().map(|best| (best.found.grade, MadeBy::Program));
    let best = by_program.or_else(|| Some((written.first()?.grade, MadeBy::Model)));
    let (mut said, mut decided) = (None, None);
    if let Some(patch) = reference.filter(|_| best.is_some()) {
        apply(&tree, patch)?;
        for one in &reproduced {
            let changed = reproduction::observe(&one.check, &seen.run(&one.check).await?);
            let verdict = reproduction::verdict(&one.check, &one.found, &one.base, &changed);
            // As in a run, what the issue states as the result has to be there.
            let instead = one.found.instead(&one.check, &changed);
            if let (CheckVerdict::Gone { grade, .. }, None) = (&verdict, &instead) {
                decided = decided.max(Some(*grade));
            }
            said.get_or_insert_with(|| instead.unwrap_or_else(|| format!("{verdict:?}")));
        }
        for test in &written {
            let check = match project.language {
                SourceLanguage::JavaScript => Check::of_node_script(&test.script, marker()?),
                SourceLanguage::Rust => Check::of_rust_script(&test.script, &project, marker()?),
                _ => Check::of_script(&test.script, marker()?),
            };
            let run = seen.run(&check).await?;
            if run.ending == RunEnd::Exited(0) {
                decided = decided.max(Some(test.grade));
            }
            said.get_or_insert_with(|| format!("{:?}: {}", run.ending, run.stderr.trim()));
        }
    }
    remove_tree(&folder)?;
    Ok(Row {
        id: issue.id.clone(),
        checks: checks.len(),
        grade: best.map(|(grade, _)| grade),
        made_by: best.map(|(_, by)| by),
        base: if best.is_some() {
            "as the issue says".to_owned()
        } else {
            why
        },
        reference: said,
        decided,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// One issue's tree and environment.
struct Setting<'a> {
    issue: &'a Instance,
    environment: PathBuf,
    folder: PathBuf,
    tree: PathBuf,
    at: PathBuf,
    sandbox: &'a Sandbox,
    runs: usize,
}

impl Setting<'_> {
    /// Runs a check on the tree as it is now.
    async fn run(&mut self, check: &Check) -> Result<RunOutput> {
        let command = check.command.words("python", &self.at);
        let mut job = self.job(command, Path::new(FOLDER));
        job.environment
            .insert("PYTHONPATH".into(), self.at.display().to_string());
        let files = check.files.iter().map(|file| JobFile {
            path: Path::new(FOLDER).join(&file.path),
            contents: Some(file.text.clone().into_bytes()),
        });
        job.files = files.collect();
        let (outcome, _layers) = self.start(job).await?;
        Ok(RunOutput {
            stdout: outcome.stdout.text(),
            stderr: outcome.stderr.text(),
            ending: match outcome.end {
                End::Exited(status) => RunEnd::Exited(status),
                End::TimeUsedUp(_) => RunEnd::TimedOut,
                _ => RunEnd::Killed,
            },
        })
    }

    fn job(&self, command: Vec<String>, folder: &Path) -> SandboxJob {
        let tools = Toolchains::of_person();
        let mut job = SandboxJob::new(command, folder);
        job.environment = tools.environment;
        let path = job
            .environment
            .get("PATH")
            .cloned()
            .unwrap_or_else(|| "/usr/bin:/bin".to_owned());
        let programs = self.environment.join("bin");
        let variables = [
            ("PATH", format!("{}:{path}", programs.display())),
            ("VIRTUAL_ENV", self.environment.display().to_string()),
            ("PYTHONHASHSEED", "0".to_owned()),
            ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ];
        job.environment
            .extend(variables.map(|(name, value)| (name.to_owned(), value)));
        job.readable.extend(tools.readable);
        job.readable.push(self.environment.clone());
        job.limits = Limits {
            time: TIME,
            ..Limits::default()
        };
        job
    }

    /// Runs a job on the tree and an empty folder; returns what it changed in them as well.
    async fn start(&mut self, mut job: SandboxJob) -> Result<(magis_sandbox::Outcome, Vec<ScratchLayer>)> {
        let empty = self.folder.join("empty");
        fs::create_dir_all(&empty)?;
        let mut layers = Vec::new();
        for (at, original) in [(self.at.clone(), self.tree.clone()), (FOLDER.into(), empty)] {
            self.runs += 1;
            let layer = ScratchLayer::create(self.folder.join(format!("layer{}", self.runs)))?;
            job.scratch.push(Scratch {
                at,
                original,
                layer: layer.folder().to_owned(),
            });
            layers.push(layer);
        }
        let outcome = self
            .sandbox
            .run(&job)
            .await
            .with_context(|| format!("running a check of {}", self.issue.id))?;
        Ok((outcome, layers))
    }
}

/// Returns the files of a tree that was written out.
fn files(tree: &Path) -> Result<Vec<RepoPath>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(tree)
        .args(["ls-files", "-z"])
        .output()
        .with_context(|| format!("listing {}", tree.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split('\0').filter_map(|path| RepoPath::new(path).ok()).collect())
}

fn apply(tree: &Path, patch: &str) -> Result<()> {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(tree)
        .args(["apply", "--whitespace=nowarn", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .context("starting git apply")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(patch.as_bytes()).context("writing the reference")?;
    }
    if !child.wait().context("waiting for git apply")?.success() {
        bail!("the reference does not apply to {}", tree.display());
    }
    Ok(())
}

/// Draws a marker that the code of a check cannot know beforehand.
fn marker() -> Result<Marker> {
    let mut bytes = [0; 12];
    std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(Marker::new(magis_platform::hex::encode(bytes))?)
}
