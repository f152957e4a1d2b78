//! Isolation on macOS: `sandbox-exec`, with a profile made for the job. It forbids the network, reading the home, writing elsewhere and the
//! sockets of other programs; the shell's `ulimit` sets what limits it can. What a command leaves behind is ended by its process group, so a
//! process that left the group goes on, under the same profile.
//!
//! Written after the manual and the profiles that macOS brings along; it was never run.

use crate::job::SandboxJob;
use crate::plain::temporary_folder;
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
    // In units of the shell: 512 bytes for files, seconds, kilobytes. The processor's time is that of all threads together.
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

/// Returns the profile for a job, in the language of `sandbox-exec`. Of the rules that fit, the last one counts.
///
/// A socket that has a path is the command's own where it lies in a folder that the command may write. The sockets of the person's programs, an
/// agent that holds keys or a container engine say, lie elsewhere; so does the one that looks up names in the network.
pub fn profile(job: &SandboxJob) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow process-exec)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n\
         (allow file-read-metadata)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n\
         (allow system-socket (socket-domain AF_UNIX))\n",
    );
    let readable = SYSTEM
        .map(Path::new)
        .into_iter()
        .chain(job.readable.iter().map(PathBuf::as_path));
    for path in readable {
        rule(&mut text, "allow file-read*", &below(path));
    }
    let temporary = temporary_folder(job);
    for folder in job.scratch.iter().map(|scratch| &scratch.at).chain(&temporary) {
        let inside = below(folder);
        rule(&mut text, "allow file-read* file-write*", &inside);
        // A link in the folder's own place would lead those who read the changes elsewhere.
        rule(&mut text, "deny file-write-unlink", &exactly(folder));
        rule(
            &mut text,
            "allow network-bind network-inbound",
            &format!("(local unix-socket {inside})"),
        );
        rule(
            &mut text,
            "allow network-outbound",
            &format!("(remote unix-socket {inside})"),
        );
    }
    for device in DEVICES {
        rule(&mut text, "allow file-write*", &exactly(Path::new(device)));
    }
    text
}

fn rule(text: &mut String, what: &str, which: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "({what} {which})");
}

/// Returns the filter for a file or folder and all below it.
fn below(path: &Path) -> String {
    format!("(subpath {})", quoted(path))
}

/// Returns the filter for a file or folder alone.
fn exactly(path: &Path) -> String {
    format!("(literal {})", quoted(path))
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::{command, profile};
    use crate::job::{SandboxJob, Scratch};
    use crate::plain::temporary_folder;

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
    fn home_and_temporary_files_are_where_writing_is_allowed_and_no_folder_can_be_replaced() {
        let profile = profile(&job());
        let temporary = temporary_folder(&job()).expect("a folder that may be changed");
        for folder in [r#"/Users/ada/a \"b\""#, &temporary.display().to_string()] {
            let allowed = format!("(allow file-read* file-write* (subpath \"{folder}\"))\n");
            let kept = format!("(deny file-write-unlink (literal \"{folder}\"))\n");
            let (allowed, kept) = (profile.find(&allowed), profile.find(&kept));
            assert!(allowed.is_some() && allowed < kept, "{folder}: {profile}");
        }
        assert!(!profile.contains("(subpath \"/layer\")"), "{profile}");
    }

    #[test]
    fn sockets_with_a_path_are_allowed_in_the_folders_it_may_write_alone() {
        let profile = profile(&job());
        let sockets: Vec<&str> = profile.lines().filter(|line| line.contains("unix-socket")).collect();
        assert_eq!(
            sockets,
            [
                r#"(allow network-bind network-inbound (local unix-socket (subpath "/Users/ada/a \"b\"")))"#,
                r#"(allow network-outbound (remote unix-socket (subpath "/Users/ada/a \"b\"")))"#,
                r#"(allow network-bind network-inbound (local unix-socket (subpath "/layer/work")))"#,
                r#"(allow network-outbound (remote unix-socket (subpath "/layer/work")))"#,
            ]
        );
        let only_reads = super::profile(&SandboxJob::new(["true"], "/"));
        assert!(!only_reads.contains("unix-socket"), "{only_reads}");
        assert!(!only_reads.contains("file-write* (subpath"), "{only_reads}");
    }

    #[test]
    fn the_command_comes_last_and_whole() {
        let words = command(&job());
        assert_eq!(words[0], "/usr/bin/sandbox-exec");
        assert_eq!(words[words.len() - 2..], ["pytest", "-q"]);
    }
}
