//! Measures what isolation costs a command: `cargo run --release -p magis-sandbox --example overhead -- [SECONDS [ROUNDS]]`.
//!
//! A loop of the shell that computes for so many seconds (10 where nothing is said), and writes a file from time to time as tests do, runs bare and
//! isolated in turn, three times or as often as is said. Isolated, it has a folder to change, as a suite of tests has. A ratio holds also for a machine
//! that does something else meanwhile; the times do not.

use magis_sandbox::{HelperCommand, Sandbox, SandboxJob, Scratch, ScratchLayer, helper};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The word with which this program is its own helper.
const HELPER: &str = "sandbox-helper";
/// Counts to its first argument, and writes the count down at every 20,000th.
const LOOP: &str =
    "i=0; while [ $i -lt $1 ]; do i=$((i + 1)); if [ $((i % 20000)) -eq 0 ]; then echo $i > counted; fi; done";
/// How far is counted to find out how fast this machine counts.
const TRIED: u32 = 400_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == HELPER) {
        return helper::serve();
    }
    match measure(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("overhead: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(words: &[String]) -> Result<(), Box<dyn Error>> {
    let seconds: f64 = words.first().map_or(Ok(10.0), |word| word.parse())?;
    let rounds: u32 = words.get(1).map_or(Ok(3), |word| word.parse())?;
    let place = tempfile::tempdir()?;
    let project = place.path().join("project");
    fs::create_dir(&project)?;
    let count = (f64::from(TRIED) * seconds / bare(&project, TRIED)?.as_secs_f64()) as u32;

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let sandbox = runtime.block_on(Sandbox::confined(HelperCommand {
        program: std::env::current_exe()?,
        args: vec![HELPER.into()],
    }))?;
    let mut times = [Vec::new(), Vec::new()];
    for round in 1..=rounds.max(1) {
        times[0].push(bare(&project, count)?);
        let layer = ScratchLayer::create(place.path().join(format!("layer-{round}")))?;
        times[1].push(runtime.block_on(isolated(&sandbox, &project, &layer, count))?);
        for (how, times) in ["bare", "isolated"].iter().zip(&times) {
            let took = times.last().copied().unwrap_or_default();
            println!("{how}: {:.2} s", took.as_secs_f64());
        }
    }
    let [bare, isolated] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    });
    println!(
        "medians: {bare:.2} s bare, {isolated:.2} s isolated; {:.2} s more, ratio {:.3}",
        isolated - bare,
        isolated / bare
    );
    Ok(())
}

fn command(count: u32) -> [String; 5] {
    ["sh", "-c", LOOP, "sh", &count.to_string()].map(str::to_owned)
}

/// Runs the loop as it is, and returns how long it took.
fn bare(project: &Path, count: u32) -> Result<Duration, Box<dyn Error>> {
    let [program, arguments @ ..] = command(count);
    let begun = Instant::now();
    let status = Command::new(program).args(arguments).current_dir(project).status()?;
    if !status.success() {
        return Err(format!("the loop failed: {status}").into());
    }
    Ok(begun.elapsed())
}

/// Runs the loop in the sandbox, and returns how long it took, with what setting isolation up takes.
async fn isolated(
    sandbox: &Sandbox,
    project: &Path,
    layer: &ScratchLayer,
    count: u32,
) -> Result<Duration, Box<dyn Error>> {
    let mut job = SandboxJob::new(command(count), project);
    job.scratch.push(Scratch {
        at: project.to_owned(),
        original: project.to_owned(),
        layer: layer.folder().to_owned(),
    });
    let begun = Instant::now();
    let outcome = sandbox.run(&job).await?;
    if !outcome.end.success() {
        return Err(format!("the loop failed in the sandbox: {}", outcome.end).into());
    }
    Ok(begun.elapsed())
}
