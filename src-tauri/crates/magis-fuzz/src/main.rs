//! The program `magis-fuzz`: a campaign, one of its processes, or one input again. `cargo xtask fuzz` builds and starts it.

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand, ValueEnum as _};
use magis_fuzz::campaign::{Campaign, folder_in_memory, new_folder, table};
use magis_fuzz::target::{Reading, TargetName, answer_madly, record, write_conversations};
use magis_fuzz::work::{self, Work};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Parser)]
#[command(
    name = "magis-fuzz",
    about = "Mutated inputs against everything that reads what strangers wrote"
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Try mutated inputs on all targets and print a table; fails where there is a finding.
    Campaign {
        /// How long it takes.
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// One target alone.
        #[arg(long)]
        target: Option<TargetName>,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many processes try inputs at a time; as many as there are cores where it is not given.
        #[arg(long)]
        jobs: Option<usize>,
        /// Save mutated inputs that led to something new here, to choose among them for the corpus.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// The program was built to watch its memory: git is read in that very process, which has no limit.
        #[arg(long)]
        sanitised: bool,
    },
    /// Try one input again, and say what it leads to.
    Replay {
        target: TargetName,
        input: PathBuf,
        #[arg(long)]
        in_process: bool,
    },
    /// Try inputs on one target, as a process of a campaign.
    #[command(hide = true)]
    Work {
        #[arg(long)]
        target: TargetName,
        #[arg(long)]
        seed: u64,
        #[arg(long)]
        seconds: u64,
        #[arg(long, default_value_t = u64::MAX)]
        inputs: u64,
        #[arg(long)]
        place: PathBuf,
        #[arg(long)]
        findings: PathBuf,
        #[arg(long)]
        keep: Option<PathBuf>,
        #[arg(long)]
        memory: Option<u64>,
        #[arg(long)]
        in_process: bool,
    },
    /// Serve as a git worker.
    #[command(hide = true)]
    GitWorker,
    /// Serve as a git worker that answers what lies in a folder.
    #[command(hide = true)]
    MadGitWorker { folder: PathBuf },
    /// Write a conversation in the form of each template that is given.
    #[command(hide = true)]
    WriteConversations,
    /// Serve as a git worker and write down what is said.
    #[command(hide = true)]
    RecordGitWorker { folder: PathBuf },
}

fn main() -> ExitCode {
    // A git worker gives up its rights before it starts a thread, so it comes before everything else.
    if std::env::args_os().nth(1).is_some_and(|word| word == "git-worker") {
        return magis_repo::serve_git();
    }
    match perform(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> Result<ExitCode> {
    match task {
        Task::Campaign {
            minutes,
            target,
            seed,
            jobs,
            keep,
            sanitised,
        } => {
            let program = std::env::current_exe().context("finding this program")?;
            let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let place = folder_in_memory().context("making a folder to work in")?;
            let findings = new_folder().context("making a folder for findings")?.keep();
            campaign(&Campaign {
                targets: target.map_or_else(|| usual_targets(sanitised), |target| vec![target]),
                time: Duration::from_secs(minutes * 60),
                seed,
                jobs: jobs.unwrap_or(cores),
                program,
                place: place.path().to_owned(),
                findings,
                keep,
                is_sanitised: sanitised,
            })
        }
        Task::Replay {
            target,
            input,
            in_process,
        } => replay(target, &input, in_process),
        Task::Work {
            target,
            seed,
            seconds,
            inputs,
            place,
            findings,
            keep,
            memory,
            in_process,
        } => {
            work::run(&Work {
                target,
                seed,
                time: Duration::from_secs(seconds),
                inputs,
                place,
                findings,
                keep,
                memory,
                reading: reading(in_process)?,
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Task::GitWorker => Ok(magis_repo::serve_git()),
        Task::MadGitWorker { folder } => Ok(answer_madly(&folder)),
        Task::WriteConversations => Ok(write_conversations()),
        Task::RecordGitWorker { folder } => {
            record(&folder)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn reading(in_process: bool) -> Result<Reading> {
    Ok(if in_process {
        Reading::InThisProcess
    } else {
        Reading::InWorkers(std::env::current_exe().context("finding this program")?)
    })
}

fn campaign(campaign: &Campaign) -> Result<ExitCode> {
    println!(
        "{} targets, {} minutes, {} at a time, seed {}",
        campaign.targets.len(),
        campaign.time.as_secs() / 60,
        campaign.jobs,
        campaign.seed
    );
    let totals = campaign.run()?;
    print!("{}", table(&totals));
    list(
        "inputs that git workers were lost over",
        &campaign.findings.join(work::CONTAINED),
    )?;
    let count: u64 = totals.values().map(|totals| totals.counts.findings).sum();
    if count == 0 {
        // It stays where it holds anything.
        let _empty = fs::remove_dir(&campaign.findings);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{count} findings");
    list("their inputs", &campaign.findings)?;
    Ok(ExitCode::FAILURE)
}

/// Prints which inputs lie in a folder, and what is known of each.
fn list(what: &str, folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    println!("{what}, in {}:", folder.display());
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some()) {
        let said = fs::read_to_string(file).context("reading what is known of an input")?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("  {name}: {}", said.lines().next().unwrap_or_default());
    }
    Ok(())
}

/// Returns all targets; with the sanitiser, those in which C reads in the process that it watches.
fn usual_targets(is_sanitised: bool) -> Vec<TargetName> {
    if is_sanitised {
        vec![
            TargetName::Repository,
            TargetName::Locate,
            TargetName::Source,
            TargetName::Diff,
            TargetName::Patch,
            TargetName::RunArchive,
            TargetName::MemoryFile,
        ]
    } else {
        TargetName::value_variants().to_vec()
    }
}

fn replay(target: TargetName, input: &Path, in_process: bool) -> Result<ExitCode> {
    let bytes = fs::read(input).with_context(|| format!("reading {}", input.display()))?;
    let place = folder_in_memory().context("making a folder to work in")?;
    let outcome = work::replay(target, &bytes, place.path(), &reading(in_process)?)?;
    for sentence in &outcome.sentences {
        println!("{sentence}");
    }
    for how in &outcome.lost {
        println!("contained: {how}");
    }
    Ok(ExitCode::SUCCESS)
}
