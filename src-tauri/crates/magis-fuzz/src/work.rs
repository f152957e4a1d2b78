//! A process that tries inputs on one target until its time is over. It may be lost: what it is at stands in a file.

use crate::case_file::{CaseCounts, CaseFile};
use crate::corpus;
use crate::dice::Dice;
use crate::features::kind_of;
use crate::mutate::{Material, mutate};
use crate::target::{self, CaseOutcome, FuzzTarget, Reading, TargetName};
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most inputs that are kept to be mutated further.
const MOST_KEPT: usize = 2_000;
/// So many inputs are saved of findings of one kind.
const MOST_SAVED: u64 = 3;
/// How long an input that breaks a promise is made smaller.
const SMALLER: Duration = Duration::from_secs(2);

/// The work of one process.
#[derive(Debug, Clone)]
pub struct Work {
    pub target: TargetName,
    /// The same seed gives the same inputs, as long as they are tried in one process.
    pub seed: u64,
    pub time: Duration,
    /// The most inputs that are tried, also where there is time left.
    pub inputs: u64,
    /// A folder of its own.
    pub place: PathBuf,
    /// Where inputs that led to a finding are saved; in a folder in it, those that a git worker was lost over.
    pub findings: PathBuf,
    /// Where mutated inputs that led to something new are saved, for the corpus; none: nowhere.
    pub keep: Option<PathBuf>,
    /// The most bytes of memory that this process may take; none: as many as there are.
    pub memory: Option<u64>,
    pub reading: Reading,
}

/// The name of the file with the input that is tried, in the folder of a [`Work`].
pub const CASE_FILE: &str = "case";
/// The name of the file that says how git workers were lost, in the folder of a [`Work`].
pub const LOST_FILE: &str = "lost";

/// The name of the folder with inputs that a git worker was lost over, among the findings.
pub const CONTAINED: &str = "contained";
/// Longer inputs are not kept in the corpus, in bytes.
const MOST_OF_CORPUS: usize = 2 << 10;

/// What a panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Tries inputs until the time is over, in a process that may be ended by one of them.
///
/// # Errors
/// When the target cannot be opened, or its folder cannot be written.
pub fn run(work: &Work) -> Result<CaseCounts> {
    if let Some(bytes) = work.memory {
        limit_memory(bytes)?;
    }
    keep_panics();
    let begun = Instant::now();
    let place = work.place.join("target");
    fs::create_dir_all(&place)?;
    let mut worker = Worker {
        target: target::open(work.target, &place, &work.reading)?,
        place,
        work,
        counts: CaseCounts::default(),
        file: CaseFile::create(&work.place.join(CASE_FILE)).context("creating the file of cases")?,
        known: BTreeSet::new(),
        kept: Vec::new(),
        lost: BTreeMap::new(),
        saved: BTreeMap::new(),
    };
    let mut dice = Dice::new(work.seed);
    let kept = corpus::kept(work.target).context("reading the kept inputs")?;
    let mut first = worker.target.seeds();
    first.extend(kept.into_iter().map(|(_, input)| input));
    for input in first {
        worker.try_input(&input)?;
        worker.kept.push(input);
    }
    let given = worker.kept.len();
    let words = worker.target.words();
    let is_json = worker.target.is_json();
    while worker.counts.inputs < work.inputs && begun.elapsed() < work.time {
        let mut input = dice.pick(&worker.kept).cloned().unwrap_or_default();
        let material = Material {
            words,
            others: &worker.kept,
            is_json,
        };
        mutate(&mut input, material, &mut dice);
        if dice.one_in(2) {
            worker.target.seal(&mut input);
        }
        worker.try_input(&input)?;
    }
    worker.file.begin(worker.counts, b"")?;
    if let Some(folder) = &work.keep {
        let folder = folder.join(work.target.name());
        fs::create_dir_all(&folder)?;
        for input in worker.kept[given..]
            .iter()
            .filter(|input| input.len() <= MOST_OF_CORPUS)
        {
            let [one, two, three, four, ..] = crate::sha1::sha1(input);
            fs::write(folder.join(format!("{one:02x}{two:02x}{three:02x}{four:02x}")), input)?;
        }
    }
    let lost: Vec<String> = worker
        .lost
        .iter()
        .map(|(how, count)| format!("{count} {how}\n"))
        .collect();
    fs::write(work.place.join(LOST_FILE), lost.concat())?;
    Ok(worker.counts)
}

/// Tries one input in this process, and returns what it led to.
///
/// # Errors
/// When the target cannot be opened.
pub fn replay(name: TargetName, input: &[u8], place: &Path, reading: &Reading) -> Result<CaseOutcome> {
    Ok(target::open(name, place, reading)?.run(input))
}

struct Worker<'w> {
    target: Box<dyn FuzzTarget>,
    place: PathBuf,
    work: &'w Work,
    counts: CaseCounts,
    file: CaseFile,
    known: BTreeSet<String>,
    kept: Vec<Vec<u8>>,
    lost: BTreeMap<String, u64>,
    saved: BTreeMap<String, u64>,
}

impl Worker<'_> {
    fn try_input(&mut self, input: &[u8]) -> Result<()> {
        self.counts.inputs += 1;
        self.file.begin(self.counts, input)?;
        match self.outcome(input)? {
            Ok(outcome) => {
                if !outcome.lost.is_empty() {
                    self.counts.contained += 1;
                }
                for how in outcome.lost {
                    let count = self.lost.entry(kind_of(&how)).or_default();
                    *count += 1;
                    if *count == 1 {
                        save(
                            &self.work.findings.join(CONTAINED),
                            self.work.target,
                            "lost",
                            input,
                            &how,
                        )?;
                    }
                }
                let before = self.known.len();
                self.known.extend(outcome.sentences);
                if self.known.len() > before && self.kept.len() < MOST_KEPT {
                    self.counts.kept += 1;
                    self.kept.push(input.to_vec());
                }
            }
            // A git worker would end with it, which its parent says.
            Err(said) if self.work.reading == Reading::InThisProcess && said.contains("/git2-") => {
                self.counts.contained += 1;
                *self.lost.entry(kind_of(&said)).or_default() += 1;
            }
            Err(said) => {
                self.counts.findings += 1;
                let count = self.saved.entry(kind_of(&said)).or_default();
                *count += 1;
                if *count <= MOST_SAVED {
                    let smaller = self.smaller(input, &said)?;
                    save(&self.work.findings, self.work.target, "panic", &smaller, &said)?;
                }
            }
        }
        Ok(())
    }

    /// Tries an input; what a panic said is the error.
    fn outcome(&mut self, input: &[u8]) -> Result<Result<CaseOutcome, String>> {
        let target = &mut self.target;
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| target.run(input)));
        if let Ok(outcome) = outcome {
            return Ok(Ok(outcome));
        }
        let said = std::mem::take(&mut *PANIC.lock().unwrap_or_else(PoisonError::into_inner));
        // What it was about may be half done.
        self.target = target::open(self.work.target, &self.place, &self.work.reading)?;
        let _seeds = self.target.seeds();
        Ok(Err(said))
    }

    /// Returns a part of an input that leads to the same panic.
    fn smaller(&mut self, input: &[u8], said: &str) -> Result<Vec<u8>> {
        let (begun, kind) = (Instant::now(), kind_of(said));
        let mut best = input.to_vec();
        let mut size = best.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < best.len() {
                if begun.elapsed() > SMALLER {
                    return Ok(best);
                }
                let end = (at + size).min(best.len());
                let less = [&best[..at], &best[end..]].concat();
                if self.outcome(&less)?.is_err_and(|said| kind_of(&said) == kind) {
                    best = less;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        Ok(best)
    }
}

/// Saves the input of a finding and what is known of it, unless enough of its kind are saved. Returns where.
///
/// # Errors
/// When the folder cannot be written.
pub fn save(folder: &Path, target: TargetName, what: &str, input: &[u8], said: &str) -> Result<Option<PathBuf>> {
    fs::create_dir_all(folder)?;
    let hash = crate::sha1::sha1(kind_of(said).as_bytes());
    let kind = format!("{}-{what}-{:02x}{:02x}{:02x}", target.name(), hash[0], hash[1], hash[2]);
    for number in 1..=MOST_SAVED {
        let file = folder.join(format!("{kind}-{number}"));
        if !file.exists() {
            fs::write(&file, input)?;
            fs::write(file.with_extension("txt"), format!("{said}\n"))?;
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("something that is no text");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let mut kept = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        // The first one of an input is the reason for the others.
        if kept.is_empty() {
            *kept = format!("{place}: {said}");
        }
    }));
}

fn limit_memory(bytes: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    setrlimit(Resource::Data, limit).context("setting the limit of memory")
}
