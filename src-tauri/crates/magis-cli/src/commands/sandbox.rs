//! `magis sandbox`: runs a command as tests are run, to see what it can and cannot do.

use super::{Place, runtime, sandbox_helper};
use crate::args::SandboxArgs;
use crate::failure::Failure;
use crate::render::{bytes, clean, count, span};
use crate::screen::tell;
use magis_engine::EngineError;
use magis_engine::sandbox::{End, Outcome, Sandbox, SandboxJob, ScratchFolder, Toolchains};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Exit codes beside the command's own, as `timeout` and the shells have them.
const STOPPED: u8 = 125;
const NOT_RUN: u8 = 126;
/// Files named one by one; more are counted.
const NAMED: usize = 20;

/// Runs `magis sandbox`.
pub fn sandbox(place: &Place, args: &SandboxArgs) -> Result<ExitCode, Failure> {
    let folder = absolute(args.folder.as_deref().unwrap_or(Path::new(".")))?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    if folder.parent().is_none() || home.canonicalize().is_ok_and(|home| home.starts_with(&folder)) {
        return Err(Failure::error(
            format!(
                "{} holds your home, and a command would see all of it",
                folder.display()
            ),
            "name the folder of a project with --folder",
        ));
    }
    let mut job = SandboxJob::new(args.command.clone(), &folder);
    let tools = Toolchains::of_person();
    job.environment = tools.environment;
    job.readable.extend(tools.readable);
    for path in &args.read {
        job.readable.push(absolute(path)?);
    }
    job.limits.time = Duration::from_secs(args.time);
    job.limits.memory = args.memory << 20;
    let mut scratch = ScratchFolder::create(&place.data()?)?;
    for (original, at) in &tools.changeable {
        scratch.allow_change(&mut job, original, at)?;
    }
    scratch.allow_change(&mut job, &folder, &folder)?;
    let helper = sandbox_helper()?;
    let (outcome, isolation) = runtime()?.block_on(async {
        let sandbox = Sandbox::confined(helper).await?;
        Ok::<_, EngineError>(sandbox.run_and_tell(&job).await?)
    })?;
    let changed = scratch.changed_files(&folder, isolation);
    if args.json {
        print_json(place, &outcome, &changed)?;
    } else {
        print(place, &outcome, &changed)?;
    }
    Ok(exit_code(&outcome.end))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::error(
            format!("cannot open {}: {error}", path.display()),
            "name a folder or file that is there",
        )
    })
}

/// The command's output goes where it would have gone; what is said about it goes to standard error.
fn print(place: &Place, outcome: &Outcome, changed: &[PathBuf]) -> Result<(), Failure> {
    for line in outcome.stdout.text().lines() {
        place.screen.line(&clean(line))?;
    }
    for line in outcome.stderr.text().lines() {
        tell(&clean(line));
    }
    let peak = bytes(outcome.peak_memory);
    tell(&format!(
        "sandbox: {}, after {}, with {peak} of memory at most",
        outcome.end,
        span(outcome.took)
    ));
    for refused in &outcome.refused {
        tell(&clean(&format!("sandbox: {refused}")));
    }
    if !changed.is_empty() {
        tell(&format!(
            "sandbox: {} changed, thrown away:",
            count(changed.len(), "file")
        ));
    }
    for path in changed.iter().take(NAMED) {
        tell(&clean(&format!("  {}", path.display())));
    }
    if changed.len() > NAMED {
        tell(&format!("  and {} more", changed.len() - NAMED));
    }
    Ok(())
}

fn print_json(place: &Place, outcome: &Outcome, changed: &[PathBuf]) -> Result<(), Failure> {
    let refused: Vec<String> = outcome.refused.iter().map(ToString::to_string).collect();
    let changed: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
    let value = json!({
        "end": outcome.end,
        "sentence": outcome.end.to_string(),
        "seconds": outcome.took.as_secs_f64(),
        "peak_memory": outcome.peak_memory,
        "refused": refused,
        "changed": changed,
        "stdout": outcome.stdout.text(),
        "stderr": outcome.stderr.text(),
    });
    place.screen.json(&value)
}

/// Returns the exit code that stands for the end of a command.
pub fn exit_code(end: &End) -> ExitCode {
    match end {
        End::Exited(status) => ExitCode::from(u8::try_from(*status).unwrap_or(u8::MAX)),
        End::Signalled(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        End::NotStarted(_) => ExitCode::from(NOT_RUN),
        End::TimeUsedUp(_)
        | End::MemoryUsedUp(_)
        | End::TooManyProcesses(_)
        | End::FileTooLarge(_)
        | End::DiskUsedUp(_)
        | End::TooMuchOutput(_) => ExitCode::from(STOPPED),
    }
}
