//! Running a command without a helper, on systems other than Linux: limits of time and output hold, and what it started ends with its
//! process group.

use crate::captured;
use crate::error::SandboxError;
use crate::files;
use crate::job::SandboxJob;
use crate::outcome::{Captured, End, Outcome};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Instant;
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// Runs `words`, a job's command or what leads to it, to its end.
///
/// # Errors
/// When the job's files cannot be written, or the output not be read.
pub async fn run(job: &SandboxJob, words: &[String]) -> Result<Outcome, SandboxError> {
    files::write(job)?;
    let started = Instant::now();
    let ended = |end, stdout, stderr| Outcome {
        end,
        stdout,
        stderr,
        took: started.elapsed(),
        peak_memory: 0,
        refused: vec![],
    };
    let mut child = match command(job, words).spawn() {
        Ok(child) => child,
        Err(error) => {
            return Ok(ended(
                End::NotStarted(error.to_string()),
                Captured::default(),
                Captured::default(),
            ));
        }
    };
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(SandboxError::Helper(io::ErrorKind::BrokenPipe.into()));
    };
    let (printed, mut counted) = watch::channel(0);
    let end = async {
        let end = tokio::select! {
            status = child.wait() => end_of(status.map_err(SandboxError::Helper)?),
            Ok(_) = counted.wait_for(|printed| *printed > job.limits.output) => End::TooMuchOutput(job.limits.output),
            () = tokio::time::sleep(job.limits.time) => End::TimeUsedUp(job.limits.time),
        };
        end_group(&mut child);
        Ok::<_, SandboxError>(end)
    };
    let (end, stdout, stderr) = tokio::join!(end, captured::read(stdout, &printed), captured::read(stderr, &printed));
    Ok(ended(end?, stdout, stderr))
}

fn command(job: &SandboxJob, words: &[String]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command
        .args(words)
        .current_dir(&job.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .envs(&job.environment)
        .kill_on_drop(true);
    if let Some(scratch) = job.scratch.first() {
        command.env("HOME", &scratch.layer).env("TMPDIR", &scratch.layer);
    }
    #[cfg(unix)]
    command.process_group(0);
    command
}

#[cfg(unix)]
fn end_of(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    status
        .code()
        .map_or_else(|| End::Signalled(status.signal().unwrap_or(0)), End::Exited)
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus) -> End {
    End::Exited(status.code().unwrap_or(-1))
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    // One that was waited for has no id any more, and then nothing of its group is known to be left.
    if let Some(id) = child.id() {
        let _ = killpg(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.start_kill();
}
