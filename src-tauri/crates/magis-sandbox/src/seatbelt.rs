//! Isolation on macOS: `sandbox-exec`, with a profile made for the job. It forbids the network, reading the home and writing elsewhere; the
//! shell's `ulimit` sets what limits it can. What a command leaves behind is ended by its process group, so a process that left the group goes
//! on, under the same profile.
//!
//! Written after the manual and the profiles that macOS brings along; it was never run.

use crate::job::SandboxJob;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What programs need to start, beside what the job names.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library",
    "/opt",
    "/private/etc/ssl",
    "/private/var/db/timezone",
    "/private/var/select",
    "/dev",
    "/Applications/Xcode.app",
];
/// Devices that may be written.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/dtracehelper",
];

/// Returns the words that run a job's command under the profile.
pub fn command(job: &SandboxJob) -> Vec<String> {
    let limits = &job.limits;
    // In units of the shell: 512 bytes for files, seconds, kilobytes.
    let script = format!(
        "ulimit -c 0; ulimit -f {}; ulimit -t {}; ulimit -u {} 2>/dev/null; ulimit -v {} 2>/dev/null; exec \"$@\"",
        limits.file.div_ceil(512),
        limits.time.as_secs().max(1) * 4,
        limits.processes + 512,
        limits.memory / 1024,
    );
    let words = ["/usr/bin/sandbox-exec", "-p"]
        .map(str::to_owned)
        .into_iter()
        .chain([profile(job)]);
    let shell = ["/bin/sh", "-c"]
        .map(str::to_owned)
        .into_iter()
        .chain([script, "sh".to_owned()]);
    words.chain(shell).chain(job.command.iter().cloned()).collect()
}

/// Returns the profile for a job, in the language of `sandbox-exec`.
pub fn profile(job: &SandboxJob) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow process-exec)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n\
         (allow file-read-metadata)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n(allow network* (remote unix-socket))\n",
    );
    let readable = SYSTEM
        .map(Path::new)
        .into_iter()
        .chain(job.readable.iter().map(PathBuf::as_path));
    for path in readable {
        rule(&mut text, "file-read*", "subpath", path);
    }
    for scratch in &job.scratch {
        rule(&mut text, "file-read* file-write*", "subpath", &scratch.at);
    }
    for device in DEVICES {
        rule(&mut text, "file-write*", "literal", Path::new(device));
    }
    text
}

fn rule(text: &mut String, what: &str, how: &str, path: &Path) {
    let quoted = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "(allow {what} ({how} \"{quoted}\"))");
}

#[cfg(test)]
mod tests {
    use super::{command, profile};
    use crate::job::{SandboxJob, Scratch};

    fn job() -> SandboxJob {
        let mut job = SandboxJob::new(["pytest", "-q"], "/Users/ada/a \"b\"");
        job.scratch.push(Scratch {
            at: "/Users/ada/a \"b\"".into(),
            original: "/original".into(),
            layer: "/layer".into(),
        });
        job.readable.push("/Users/ada/.pyenv".into());
        job
    }

    #[test]
    fn a_profile_allows_what_the_job_names_and_loopback_alone() {
        let profile = profile(&job());
        assert!(profile.starts_with("(version 1)\n(deny default)\n"));
        assert!(
            profile.contains("(allow file-read* file-write* (subpath \"/Users/ada/a \\\"b\\\"\"))\n"),
            "{profile}"
        );
        assert!(profile.contains("(allow file-read* (subpath \"/Users/ada/.pyenv\"))\n"));
        assert!(!profile.contains("/Users/ada\""));
        assert!(!profile.contains("/original"));
    }

    #[test]
    fn the_command_comes_last_and_whole() {
        let words = command(&job());
        assert_eq!(words[0], "/usr/bin/sandbox-exec");
        assert_eq!(words[words.len() - 2..], ["pytest", "-q"]);
    }
}
