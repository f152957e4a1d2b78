//! Running a job by the helper: gives it the job, reads what the command prints and what became of it.

use crate::captured;
use crate::error::SandboxError;
use crate::helper::HelperCommand;
use crate::hidden::HiddenNear;
use crate::job::SandboxJob;
use crate::outcome::{End, Outcome};
use crate::wire::{Answer, Confinement, INNER, Isolation, Request};
use std::future::pending;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::watch;

/// How much longer than the command's time its helper is waited for: where the file system allows no overlay, folders are copied before.
const GRACE: Duration = Duration::from_mins(5);

/// Runs a job to its end. Dropping the future closes the helper's standard input, at which it ends everything.
///
/// With name spaces the helper is killed as well, and the kernel ends what is in them. Without, only the helper knows what the command started, so
/// it is left to end that.
///
/// # Errors
/// When isolation cannot be set up, or the helper fails.
pub async fn run(
    helper: &HelperCommand,
    job: &SandboxJob,
    confinement: Confinement,
) -> Result<(Outcome, Isolation), SandboxError> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(SandboxError::Helper)?;
    ours.set_nonblocking(true).map_err(SandboxError::Helper)?;
    let mut command = Command::new(&helper.program);
    // Only a process of one thread can take new name spaces. WebKit, which the window's program loads before it knows what it is to be, starts a thread of
    // its allocator at once, unless it is told to use the system's.
    command.env("Malloc", "1");
    command.args(&helper.args);
    if confinement == Confinement::LimitsOnly {
        command.arg(INNER);
    }
    let mut process = command
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(confinement == Confinement::Namespaces)
        .spawn()
        .map_err(SandboxError::Helper)?;
    // The command's copies of the socket's other end would keep it open.
    drop(command);
    let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) else {
        return Err(SandboxError::Helper(io::ErrorKind::BrokenPipe.into()));
    };
    let (reading, mut writing) = UnixStream::from_std(ours).map_err(SandboxError::Helper)?.into_split();
    let request = Request {
        job: job.clone(),
        confinement,
    };
    let (printed, mut counted) = watch::channel(0);
    let conversation = async {
        let mut line = serde_json::to_vec(&request).map_err(io::Error::from)?;
        line.push(b'\n');
        // A helper that ended before reading everything has said why.
        let _ = writing.write_all(&line).await;
        let mut answer = String::new();
        let mut answers = BufReader::new(reading);
        let too_much = tokio::select! {
            read = answers.read_line(&mut answer) => { read?; false }
            Ok(_) = counted.wait_for(|printed| *printed > job.limits.output) => true,
        };
        if too_much {
            writing.shutdown().await?;
            answers.read_line(&mut answer).await?;
        }
        Ok::<_, io::Error>((answer, too_much))
    };
    let all = async {
        tokio::join!(
            conversation,
            captured::read(stdout, &printed, pending()),
            captured::read(stderr, &printed, pending())
        )
    };
    let Ok((talked, stdout, stderr)) = tokio::time::timeout(job.limits.time + GRACE, all).await else {
        return Err(SandboxError::Helper(io::ErrorKind::TimedOut.into()));
    };
    let (answer, too_much) = talked.map_err(SandboxError::Helper)?;
    let _ = process.wait().await;
    let report = match serde_json::from_str(answer.lines().next().unwrap_or_default()) {
        Ok(Answer::Ended(report)) => report,
        Ok(Answer::NoIsolation { part, step, reason }) => return Err(SandboxError::NoIsolation { part, step, reason }),
        Err(_) => return Err(SandboxError::Helper(io::ErrorKind::UnexpectedEof.into())),
    };
    let end = if too_much {
        End::TooMuchOutput(job.limits.output)
    } else {
        report.end
    };
    let mut refused = report.refused;
    let near = HiddenNear::new(job);
    refused.extend(report.absent.into_iter().filter(|absent| near.has(absent)));
    let outcome = Outcome {
        end,
        stdout,
        stderr,
        took: report.took,
        peak_memory: report.peak_memory,
        refused,
    };
    Ok((outcome, report.isolation))
}
