//! A campaign: processes that try inputs, side by side, watched from outside, and the table of what they did.

use crate::case_file::{self, CaseCounts};
use crate::target::TargetName;
use crate::work::{CASE_FILE, LOST_FILE, save};
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{Builder, TempDir};

/// How the names of our folders begin.
const PREFIX: &str = "magis-fuzz-";
/// How long one input may take, git's processes included.
const DEADLINE: Duration = Duration::from_mins(1);
/// A process is not started for less.
const SHORTEST: Duration = Duration::from_secs(1);
/// And the first one, before which repositories are made.
const BEGIN: Duration = Duration::from_mins(2);
/// How often a process is looked at.
const GLANCE: Duration = Duration::from_millis(100);
/// The most memory that a process may take, which is a parent of git workers as our programs are.
const MEMORY: u64 = 1 << 30;
/// A target whose processes end so often is given up.
const MOST_ENDS: u64 = 200;

/// The name of the file with what a process says before it ends, in its folder.
const SAID_FILE: &str = "said";
/// How what watches memory begins its last line about a fault.
const FAULT: &str = "SUMMARY: AddressSanitizer: ";
/// Functions in C with faults that are known, and over which our programs lose no more than a git worker: libgit2 believes where the index of a pack says that an
/// object lies.
const KNOWN_FAULTS: [&str; 1] = ["in git_packfile_unpack_header"];

/// Makes a new folder for findings.
///
/// # Errors
/// When it cannot be made.
pub fn new_folder() -> io::Result<TempDir> {
    Builder::new().prefix(PREFIX).tempdir()
}

/// Makes a folder to work in, in memory where that is possible: repositories are written and read hundreds of times a second.
///
/// # Errors
/// When it cannot be made.
pub fn folder_in_memory() -> io::Result<TempDir> {
    let in_memory = Path::new("/dev/shm");
    if in_memory.is_dir() {
        Builder::new().prefix(PREFIX).tempdir_in(in_memory)
    } else {
        new_folder()
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub targets: Vec<TargetName>,
    /// How long it takes in all.
    pub time: Duration,
    pub seed: u64,
    /// How many processes try inputs at a time.
    pub jobs: usize,
    pub program: PathBuf,
    /// A folder to work in.
    pub place: PathBuf,
    /// Where inputs that led to a finding are saved.
    pub findings: PathBuf,
    /// Where mutated inputs that led to something new are saved, for the corpus; none: nowhere.
    pub keep: Option<PathBuf>,
    /// Whether memory is watched by who built the program: no limits then, and git in the process that is watched.
    pub is_sanitised: bool,
}

/// What was done for one target.
#[derive(Debug, Clone, Default)]
pub struct TargetTotals {
    pub counts: CaseCounts,
    /// How long its processes worked together.
    pub time: Duration,
    /// How git workers were lost, and how often.
    pub lost: BTreeMap<String, u64>,
}

/// A share of a campaign: one target, for some time.
#[derive(Debug, Clone)]
struct Share {
    number: usize,
    target: TargetName,
    time: Duration,
    seed: u64,
}

impl Campaign {
    /// Carries it out.
    ///
    /// # Errors
    /// When a process cannot be started, or a folder cannot be written.
    pub fn run(&self) -> Result<BTreeMap<TargetName, TargetTotals>> {
        let left = Mutex::new(self.shares());
        let totals = Mutex::new(BTreeMap::new());
        let failed = Mutex::new(None);
        let take = || left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    while let Some(share) = take() {
                        match self.carry_out(&share) {
                            Ok(done) => {
                                let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                                add(totals.entry(share.target).or_default(), done);
                            }
                            Err(error) => *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
                        }
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(totals.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Half of the time is for repositories, where an input costs most.
    fn shares(&self) -> VecDeque<Share> {
        let weight = |target| match target {
            TargetName::Repository => 11,
            _ => 1,
        };
        let all: u32 = self.targets.iter().copied().map(weight).sum();
        let whole = self.time * self.jobs as u32;
        let mut shares = VecDeque::new();
        for target in &self.targets {
            // One that takes long is cut, so that all processes are done at about the same time.
            let cut = if weight(*target) > 1 || self.targets.len() == 1 {
                self.jobs
            } else {
                1
            };
            for _ in 0..cut {
                let number = shares.len();
                shares.push_back(Share {
                    number,
                    target: *target,
                    time: whole * weight(*target) / all.max(1) / cut as u32,
                    seed: self.seed.wrapping_mul(1_000).wrapping_add(number as u64),
                });
            }
        }
        shares
    }

    /// Tries inputs for a share, in one process after the other where one ends.
    fn carry_out(&self, share: &Share) -> Result<TargetTotals> {
        let mut totals = TargetTotals::default();
        let begun = Instant::now();
        for process in 0..MOST_ENDS {
            let Some(time) = share.time.checked_sub(begun.elapsed()).filter(|time| *time >= SHORTEST) else {
                break;
            };
            let place = self
                .place
                .join(format!("{}-{}-{process}", share.number, share.target.name()));
            fs::create_dir_all(&place)?;
            let ended = self.watch(share, process, time, &place);
            let (counts, input) = case_file::read(&place.join(CASE_FILE)).unwrap_or_default();
            let mut done = TargetTotals {
                counts,
                time: Duration::ZERO,
                lost: lost(&place),
            };
            match ended? {
                Ended::Done => {}
                Ended::Failed(status) => match fault(&place) {
                    Some(fault) if KNOWN_FAULTS.iter().any(|known| fault.contains(known)) => {
                        done.counts.contained += 1;
                        *done.lost.entry(fault).or_default() += 1;
                    }
                    fault => {
                        done.counts.findings += 1;
                        let how = fault.map(|fault| format!(": {fault}")).unwrap_or_default();
                        self.save(share, "end", &input, &format!("the process ended with {status}{how}"))?;
                    }
                },
                // A worker would be given up, see its parent's deadlines.
                Ended::Hung if self.is_sanitised => {
                    done.counts.contained += 1;
                    *done.lost.entry("no end in this process".to_owned()).or_default() += 1;
                }
                Ended::Hung => {
                    done.counts.findings += 1;
                    self.save(share, "hang", &input, &format!("no end within {DEADLINE:?}"))?;
                }
            }
            add(&mut totals, done);
            // What is left there may be a pipe or a link without end; it is removed by name.
            let _left = fs::remove_dir_all(&place);
        }
        totals.time = begun.elapsed();
        Ok(totals)
    }

    fn save(&self, share: &Share, what: &str, input: &[u8], said: &str) -> Result<()> {
        save(&self.findings, share.target, what, input, said).map(drop)
    }

    /// Starts a process and waits until it is done, ends otherwise, or hangs.
    fn watch(&self, share: &Share, process: u64, time: Duration, place: &Path) -> Result<Ended> {
        let mut command = Command::new(&self.program);
        command.arg("work").args(["--target", share.target.name()]);
        command.args(["--seed", &share.seed.wrapping_add(process << 32).to_string()]);
        command.args(["--seconds", &time.as_secs().max(1).to_string()]);
        command.arg("--place").arg(place).arg("--findings").arg(&self.findings);
        if let Some(folder) = &self.keep {
            command.arg("--keep").arg(folder);
        }
        if self.is_sanitised {
            command.arg("--in-process");
        } else {
            command.args(["--memory", &MEMORY.to_string()]);
        }
        let child = command
            .env("TMPDIR", place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(place.join(SAID_FILE))?)
            .spawn()
            .context("starting a process that tries inputs")?;
        let mut child = Ending(child);
        let file = place.join(CASE_FILE);
        let (mut last, mut since) = (0, Instant::now());
        loop {
            if let Some(status) = child.0.try_wait()? {
                return Ok(if status.success() {
                    Ended::Done
                } else {
                    Ended::Failed(status)
                });
            }
            let now = case_file::read(&file).map_or(0, |(counts, _)| counts.inputs);
            if now != last {
                (last, since) = (now, Instant::now());
            }
            if since.elapsed() > if last == 0 { BEGIN } else { DEADLINE } {
                return Ok(Ended::Hung);
            }
            thread::sleep(GLANCE);
        }
    }
}

enum Ended {
    Done,
    Failed(ExitStatus),
    Hung,
}

/// A process that ends with this.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // One that has ended already keeps its status.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Returns the fault that a process met, in what watches its memory says of it: the kind, and in which function.
fn fault(place: &Path) -> Option<String> {
    let said = String::from_utf8_lossy(&fs::read(place.join(SAID_FILE)).ok()?).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix(FAULT))?;
    // Between them stands where in the program that is, in brackets or as a path.
    let (kind, function) = (line.split(' ').next()?, line.rsplit(" in ").next()?);
    Some(format!("{kind} in {function}"))
}

fn lost(place: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(place.join(LOST_FILE)).unwrap_or_default();
    let line = |line: &str| {
        let (count, how) = line.split_once(' ')?;
        Some((how.to_owned(), count.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn add(totals: &mut TargetTotals, more: TargetTotals) {
    totals.counts.inputs += more.counts.inputs;
    totals.counts.contained += more.counts.contained;
    totals.counts.kept += more.counts.kept;
    totals.counts.findings += more.counts.findings;
    totals.time += more.time;
    for (how, count) in more.lost {
        *totals.lost.entry(how).or_default() += count;
    }
}

/// Returns the table of what was done, with a line for each target and one for all.
pub fn table(totals: &BTreeMap<TargetName, TargetTotals>) -> String {
    let line = |name: &str, totals: &TargetTotals| {
        let CaseCounts {
            inputs,
            contained,
            kept,
            findings,
        } = totals.counts;
        let seconds = totals.time.as_secs_f64();
        let speed = if seconds > 0.0 { inputs as f64 / seconds } else { 0.0 };
        format!("{name:<16}{inputs:>11}{seconds:>9.0}{speed:>10.0}{kept:>8}{contained:>11}{findings:>10}\n")
    };
    let mut text = format!(
        "{:<16}{:>11}{:>9}{:>10}{:>8}{:>11}{:>10}\n",
        "target", "inputs", "seconds", "a second", "kept", "contained", "findings"
    );
    let mut all = TargetTotals::default();
    for (target, of_target) in totals {
        text += &line(target.name(), of_target);
        add(&mut all, of_target.clone());
    }
    text += &line("all", &all);
    for (how, count) in &all.lost {
        text += &format!("contained, {count} times: {how}\n");
    }
    text
}
