//! `magis-eval kill`: what `kill -9` of the program and its worker costs a run on the built-in sample, with a real model.
//!
//! A run that nothing disturbs comes first. Then the same run, each time from the beginning in a folder of its own, is
//! killed after so many recorded calls, every second time in the midst of the next one, and gone on with. It is the program `magis` that is killed, with its worker in one
//! process group; this one only watches the data folder.

use super::open;
use crate::args::KillArgs;
use anyhow::{Context as _, Result, bail};
use magis_core::RunId;
use magis_engine::Magis;
use magis_eval::record::RunRecord;
use magis_eval::table::MarkdownTable;
use magis_store::Call;
use magis_testkit::{fingerprint, sample};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// The run in its own data folder.
const RUN: RunId = RunId(1);
/// How often the data folder is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What became of a run that was killed.
struct Point {
    /// Calls that were recorded when it was killed.
    recorded: usize,
    /// Calls of the ended run.
    calls: usize,
    /// Recorded calls that changed or went.
    lost: usize,
    /// Recorded calls that were made again.
    again: usize,
    /// Whether the run came to its end.
    ended: bool,
    outcome: String,
    /// Whether the patch is that of the run nothing disturbed.
    same_patch: bool,
    /// Whether work tree, index, refs and objects are as before.
    untouched: bool,
}

impl Point {
    fn holds(&self) -> bool {
        self.lost == 0 && self.again == 0 && self.ended && self.untouched
    }
}

/// A run in a folder of its own.
struct Trial<'a> {
    args: &'a KillArgs,
    folder: PathBuf,
}

impl Trial<'_> {
    /// Returns the sample and an empty data folder.
    fn new<'a>(args: &'a KillArgs, name: &str) -> Result<Trial<'a>> {
        let folder = std::path::absolute(args.out.join(name))?;
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("emptying {}", folder.display()))?;
        }
        let trial = Trial { args, folder };
        sample::write_repository(&trial.repository()).context("writing the sample")?;
        let issue = sample::ISSUES
            .iter()
            .find(|issue| issue.name == args.issue)
            .with_context(|| format!("the sample has no issue {:?}", args.issue))?;
        fs::write(trial.issue(), issue.text)?;
        Ok(trial)
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("sample")
    }

    fn issue(&self) -> PathBuf {
        self.folder.join("issue.md")
    }

    /// Starts `magis` in a process group of its own.
    fn magis(&self, words: &[&str]) -> Result<Child> {
        let engine = &self.args.engine;
        let mut command = Command::new(&self.args.magis);
        command.args(words).arg("--data-dir").arg(self.folder.join("data"));
        if let Some(models) = &engine.models_dir {
            command.arg("--models-dir").arg(std::path::absolute(models)?);
        }
        if let Some(threads) = engine.threads {
            command.args(["--threads", &threads.to_string()]);
        }
        if let Some(context) = engine.context {
            command.args(["--context", &context.to_string()]);
        }
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("log"))?;
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {}", self.args.magis.display()))
    }

    fn solve(&self) -> Result<Child> {
        let seed = self.args.seed.to_string();
        let mut words = vec!["solve", "--repo", "sample", "--issue", "issue.md", "--seed", &seed];
        if let Some(model) = &self.args.engine.model {
            words.extend(["--model", model]);
        }
        self.magis(&words)
    }

    /// Returns the data folder, once the program has made the run.
    fn data(&self, program: &mut Child) -> Result<Magis> {
        let database = self.folder.join("data/magis.sqlite3");
        loop {
            let over = program.try_wait()?.is_some();
            if database.exists() {
                let magis = open(&self.folder.join("data"), self.args.engine.models_dir.as_ref())?;
                if magis.run(RUN).is_ok() {
                    return Ok(magis);
                }
            }
            if over {
                bail!("the run did not begin; {} says why", self.folder.join("log").display());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Lets the program work until so many calls are recorded and that much longer, and kills it and its worker.
    fn killed_after(&self, calls: usize, longer: Duration) -> Result<Magis> {
        let mut program = self.solve()?;
        let magis = self.data(&mut program)?;
        while magis.calls(RUN)?.len() < calls && program.try_wait()?.is_none() {
            std::thread::sleep(LOOK);
        }
        std::thread::sleep(longer);
        let group = rustix::process::Pid::from_child(&program);
        // Where it ended by itself in between there is no group left.
        let _ended_before = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        program.wait()?;
        Ok(magis)
    }
}

/// Kills runs and prints what became of them.
pub fn kill(args: &KillArgs) -> Result<ExitCode> {
    fs::create_dir_all(&args.out).with_context(|| format!("making {}", args.out.display()))?;
    let undisturbed = Trial::new(args, "undisturbed")?;
    let mut program = undisturbed.solve()?;
    let magis = undisturbed.data(&mut program)?;
    program.wait()?;
    let whole = record(&magis)?;
    println!("undisturbed: {} calls, {}", whole.calls.len(), whole.outcome());
    if whole.calls.is_empty() {
        bail!(
            "the run made no call; {} says why",
            undisturbed.folder.join("log").display()
        );
    }
    let mut points = Vec::new();
    for at in 0..args.points {
        let point = one(args, at, &whole)?;
        println!("[{}/{}] {}", at + 1, args.points, point.outcome);
        points.push(point);
    }
    print!("{}", text(&points));
    Ok(if points.iter().all(Point::holds) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn one(args: &KillArgs, at: usize, whole: &RunRecord) -> Result<Point> {
    let after = at * whole.calls.len() / args.points;
    let next = &whole.calls[after];
    let longer = match at % 2 {
        0 => Duration::ZERO,
        _ => Duration::from_millis(u32::midpoint(next.prompt_ms, next.generate_ms).into()),
    };
    let trial = Trial::new(args, &format!("point-{:02}", at + 1))?;
    let untouched = fingerprint(&trial.repository());
    let magis = trial.killed_after(after, longer)?;
    let known = magis.calls(RUN)?;
    trial.magis(&["runs", "resume", "1"])?.wait()?;
    let now = magis.calls(RUN)?;
    let record = record(&magis)?;
    let fresh = now.iter().skip(known.len());
    Ok(Point {
        recorded: known.len(),
        calls: now.len(),
        lost: known.iter().filter(|call| !now.contains(call)).count(),
        again: fresh
            .filter(|call| known.iter().any(|old| same_question(call, old)))
            .count(),
        ended: record.state.outcome().is_some(),
        outcome: record.outcome(),
        same_patch: record.patch() == whole.patch(),
        untouched: fingerprint(&trial.repository()) == untouched,
    })
}

/// Returns whether two calls asked the same at the same place of the run.
fn same_question(one: &Call, other: &Call) -> bool {
    (one.record.after_seq, &one.record.request) == (other.record.after_seq, &other.record.request)
}

fn record(magis: &Magis) -> Result<RunRecord> {
    RunRecord::of(magis.archive(RUN)?)
}

fn text(points: &[Point]) -> String {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let mut table = MarkdownTable::new([
        "kill",
        "recorded",
        "calls",
        "lost",
        "made again",
        "same patch",
        "untouched",
        "ended",
    ]);
    for (at, point) in points.iter().enumerate() {
        table.row([
            (at + 1).to_string(),
            point.recorded.to_string(),
            point.calls.to_string(),
            point.lost.to_string(),
            point.again.to_string(),
            yes(point.same_patch).to_owned(),
            yes(point.untouched).to_owned(),
            point.outcome.clone(),
        ]);
    }
    format!(
        "{}{} of {} hold: nothing lost, nothing made again, the repository untouched, the run ended; the patch is the undisturbed run's in {}\n",
        table.text(),
        points.iter().filter(|point| point.holds()).count(),
        points.len(),
        points.iter().filter(|point| point.same_patch).count(),
    )
}
