//! Running a command without a helper, on systems other than Linux: limits of time and output hold, and what it started ends with its
//! process group.

use crate::captured;
use crate::error::SandboxError;
use crate::files;
use crate::job::{Limits, SandboxJob, Streams};
use crate::layer::WORK;
use crate::outcome::{Captured, End, Outcome};
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd as OwnedPipe;
#[cfg(windows)]
use std::os::windows::io::OwnedHandle as OwnedPipe;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::io::AsyncRead;
use tokio::process::{ChildStdout, Command};
use tokio::sync::watch;

/// How long output is waited for when the command has ended: a process that left its group may keep the streams open.
const LEAVING: Duration = Duration::from_secs(1);

/// Runs `words`, a job's command or what leads to it, to its end.
///
/// # Errors
/// When the job's files cannot be written, or the output not be read.
pub async fn run(job: &SandboxJob, words: &[String]) -> Result<Outcome, SandboxError> {
    files::write(job)?;
    let started = Instant::now();
    let ended = |end, took, stdout, stderr| Outcome {
        end,
        stdout,
        stderr,
        took,
        peak_memory: 0,
        refused: vec![],
    };
    let mut command = command(job, words);
    let merged = match job.streams {
        Streams::Apart => None,
        Streams::Merged => Some(merge(&mut command).map_err(SandboxError::Helper)?),
    };
    let spawned = command.spawn();
    // Its copies of the pipe's other end would keep it open.
    drop(command);
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let program = words.first().map_or("", String::as_str);
            return Ok(ended(
                End::NotStarted(format!("{program}: {error}")),
                started.elapsed(),
                Captured::default(),
                Captured::default(),
            ));
        }
    };
    let group = Group(child.id());
    let stdout = merged.or_else(|| child.stdout.take());
    let stderr = child.stderr.take();
    let (printed, mut counted) = watch::channel(0_u64);
    let (reading, go_on) = watch::channel(());
    let end = async move {
        let end = tokio::select! {
            status = child.wait() => end_of(status.map_err(SandboxError::Helper)?, &job.limits),
            Ok(_) = counted.wait_for(|printed| *printed > job.limits.output) => End::TooMuchOutput(job.limits.output),
            () = tokio::time::sleep(job.limits.time) => End::TimeUsedUp(job.limits.time),
        };
        let took = started.elapsed();
        // Both end what is left of them.
        drop(group);
        drop(child);
        // Nothing is read any more as soon as both streams are closed; those who read go on until `reading` goes.
        let _ = tokio::time::timeout(LEAVING, reading.closed()).await;
        Ok::<_, SandboxError>((end, took))
    };
    let (end, stdout, stderr) = tokio::join!(
        end,
        read(stdout, &printed, go_on.clone()),
        read(stderr, &printed, go_on)
    );
    let (end, took) = end?;
    Ok(ended(end, took, stdout, stderr))
}

/// Returns the folder for a command's home and temporary files: in the layer of the first folder that it may change, beside the changes.
pub fn temporary_folder(job: &SandboxJob) -> Option<PathBuf> {
    job.scratch.first().map(|scratch| scratch.layer.join(WORK))
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
        .kill_on_drop(true);
    if let Some(folder) = temporary_folder(job) {
        command.env("HOME", &folder).env("TMPDIR", &folder);
    }
    command.envs(&job.environment);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// Sends both streams of a command into one pipe, in the order in which they are written, and returns the end to read from.
fn merge(command: &mut Command) -> io::Result<ChildStdout> {
    let (reading, writing) = io::pipe()?;
    command.stdout(writing.try_clone()?).stderr(writing);
    ChildStdout::from_std(OwnedPipe::from(reading).into())
}

/// Reads a stream, where there is one of its own, until it is closed or the sender of `go_on` is gone.
async fn read(
    from: Option<impl AsyncRead + Unpin>,
    printed: &watch::Sender<u64>,
    mut go_on: watch::Receiver<()>,
) -> Captured {
    let Some(from) = from else {
        return Captured::default();
    };
    let over = async { while go_on.changed().await.is_ok() {} };
    captured::read(from, printed, over).await
}

/// Returns how a command ended. A signal by which the system holds a limit names that limit; the shell sets the processor's time and the size
/// of files, see `seatbelt`.
#[cfg(unix)]
fn end_of(status: ExitStatus, limits: &Limits) -> End {
    use nix::sys::signal::Signal;
    use std::os::unix::process::ExitStatusExt as _;
    if let Some(code) = status.code() {
        return End::Exited(code);
    }
    let signal = status.signal().unwrap_or(0);
    match Signal::try_from(signal) {
        Ok(Signal::SIGXFSZ) => End::FileTooLarge(limits.file),
        Ok(Signal::SIGXCPU) => End::TimeUsedUp(limits.time),
        _ => End::Signalled(signal),
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus, _: &Limits) -> End {
    End::Exited(status.code().unwrap_or(-1))
}

/// The process group of a command, by the id of its first process. What is left of it is ended when the value goes.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        end_group(self.0);
    }
}

#[cfg(unix)]
fn end_group(first: Option<u32>) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    // The first process may have been waited for just now. Its id is not given away while its group has a process, and otherwise not so soon.
    if let Some(id) = first {
        let _ = killpg(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: Option<u32>) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::job::Scratch;
    use std::os::unix::process::ExitStatusExt as _;

    /// More than any command here takes on a busy machine.
    const PATIENCE: Duration = Duration::from_mins(2);

    fn job(script: &str) -> SandboxJob {
        let mut job = SandboxJob::new(["sh", "-c", script], "/");
        job.limits.time = PATIENCE;
        job
    }

    async fn ended(job: &SandboxJob) -> Outcome {
        run(job, &job.command).await.expect("a run")
    }

    #[tokio::test]
    async fn streams_are_apart_or_merged_as_the_job_says() {
        for (streams, stdout, stderr) in [(Streams::Apart, "1\n3\n", "2\n"), (Streams::Merged, "1\n2\n3\n", "")] {
            let mut job = job("echo 1; echo 2 >&2; echo 3");
            job.streams = streams;
            let outcome = ended(&job).await;
            assert_eq!(outcome.end, End::Exited(0), "{outcome:#?}");
            assert_eq!(
                (outcome.stdout.text().as_str(), outcome.stderr.text().as_str()),
                (stdout, stderr)
            );
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_not_started() {
        for streams in [Streams::Apart, Streams::Merged] {
            let mut job = SandboxJob::new(["no-such-program"], "/");
            job.streams = streams;
            let outcome = ended(&job).await;
            let End::NotStarted(why) = &outcome.end else {
                panic!("{outcome:#?}")
            };
            assert!(why.starts_with("no-such-program: "), "{why}");
        }
    }

    #[tokio::test]
    async fn what_the_command_left_in_its_group_is_ended_and_not_waited_for() {
        let begun = Instant::now();
        let outcome = ended(&job("sleep 100 & echo out")).await;
        assert_eq!(outcome.end, End::Exited(0), "{outcome:#?}");
        assert_eq!(outcome.stdout.text(), "out\n");
        assert!(begun.elapsed() < Duration::from_secs(50), "{outcome:#?}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_process_that_left_the_group_and_keeps_the_streams_is_not_waited_for() {
        let begun = Instant::now();
        let outcome = ended(&job("setsid sleep 30 & sleep 0.3; echo out")).await;
        assert_eq!(outcome.end, End::Exited(0), "{outcome:#?}");
        assert_eq!(outcome.stdout.text(), "out\n");
        assert!(begun.elapsed() < Duration::from_secs(25), "{outcome:#?}");
    }

    #[tokio::test]
    async fn limits_of_time_and_output_are_named() {
        let mut endless = job("sleep 100 & sleep 100");
        endless.limits.time = Duration::from_millis(300);
        assert_eq!(ended(&endless).await.end, End::TimeUsedUp(Duration::from_millis(300)));
        let mut talkative = job("while true; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done");
        talkative.limits.output = 1 << 16;
        assert_eq!(ended(&talkative).await.end, End::TooMuchOutput(1 << 16));
    }

    #[test]
    fn a_signal_of_a_limit_names_the_limit() {
        use nix::sys::signal::Signal;
        let limits = Limits::default();
        for (signal, end) in [
            (Signal::SIGXFSZ, End::FileTooLarge(limits.file)),
            (Signal::SIGXCPU, End::TimeUsedUp(limits.time)),
            (Signal::SIGSEGV, End::Signalled(11)),
        ] {
            assert_eq!(end_of(ExitStatus::from_raw(signal as i32), &limits), end);
        }
        assert_eq!(end_of(ExitStatus::from_raw(3 << 8), &limits), End::Exited(3));
    }

    #[tokio::test]
    async fn home_and_temporary_files_lie_in_the_layer_beside_the_changes() {
        let mut job = job("echo $HOME $TMPDIR $OWN");
        job.environment.insert("OWN".into(), "own".into());
        job.scratch.push(Scratch {
            at: "/layer/changed".into(),
            original: "/original".into(),
            layer: "/layer".into(),
        });
        assert_eq!(ended(&job).await.stdout.text(), "/layer/work /layer/work own\n");
    }
}
