//! The command as it is started, with its environment.

use super::paths::HOME;
use crate::job::{SandboxJob, Streams};
use crate::wire::Confinement;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// Returns the command, ready to start in a group of its own, with nothing of the helper's environment.
pub fn prepare(job: &SandboxJob, confinement: Confinement) -> Command {
    let mut words = job.command.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    let (home, temporary) = match confinement {
        Confinement::Namespaces => (HOME.to_owned(), "/tmp".to_owned()),
        Confinement::LimitsOnly => {
            let home = job.scratch.first().map_or(&job.folder, |scratch| &scratch.layer);
            (home.display().to_string(), std::env::temp_dir().display().to_string())
        }
    };
    command
        .args(words)
        .current_dir(&job.folder)
        .stdin(Stdio::null())
        .process_group(0)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
        .env("HOME", home)
        .env("USER", "sandbox")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("TMPDIR", temporary)
        .envs(&job.environment);
    if job.streams == Streams::Merged
        && let Ok(output) = io::stdout().as_fd().try_clone_to_owned()
    {
        command.stderr(output);
    }
    command
}
