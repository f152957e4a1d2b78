//! Running the sample's tests: in a folder of its own, without a network where the system allows that, and under a time limit.
//!
//! It is for code that came out of a model, so it takes no more of the environment along than a search path. It is no defence against code that means harm:
//! the files of the user stay readable.

use std::env;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::setup;

/// How the tests are cut off from the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A name space of their own, without interfaces.
    Removed,
    /// This system does not allow that, so it is there.
    Present,
}

/// How a run of tests ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Passed,
    /// Some failed, or the run did.
    Failed,
    /// Stopped at the limit.
    TimedOut,
}

/// What came out of a run of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    pub ending: Ending,
    /// All that was printed.
    pub output: String,
}

/// Finds out whether the network can be taken away here.
pub fn network() -> Network {
    if setup::answers("unshare", &["-rn", "true"]) {
        Network::Removed
    } else {
        Network::Present
    }
}

/// Runs a program in a folder and keeps what it prints in a log file.
///
/// # Errors
/// When the program cannot be started or the log cannot be written.
pub fn run(program: &[&str], folder: &Path, log: &Path, network: Network, limit: Duration) -> Result<TestRun> {
    let prefix: &[&str] = if network == Network::Removed {
        &["unshare", "-rn"]
    } else {
        &[]
    };
    let words: Vec<&str> = prefix.iter().chain(program).copied().collect();
    let (first, rest) = words.split_first().context("no program was given to run")?;
    let output = File::create(log).with_context(|| format!("writing {}", log.display()))?;
    let errors = output
        .try_clone()
        .with_context(|| format!("writing {}", log.display()))?;
    let mut child = Command::new(first)
        .args(rest)
        .current_dir(folder)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        // A group of its own, so that what the tests start ends with them.
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {}", words.join(" ")))?;
    let deadline = Instant::now() + limit;
    let mut ending = Ending::TimedOut;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().context("waiting for the tests")? {
            ending = if status.success() {
                Ending::Passed
            } else {
                Ending::Failed
            };
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    // On every way out: a test may have left something running in the background.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    child.wait().context("waiting for the tests")?;
    let output = fs::read(log).with_context(|| format!("reading {}", log.display()))?;
    Ok(TestRun {
        ending,
        output: String::from_utf8_lossy(&output).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a line of shell with a limit of 30 s, or of none at all.
    fn check(name: &str, line: &str, limit: Duration) -> TestRun {
        let folder = env::temp_dir().join(format!("xtask-sandbox-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let done = run(&["sh", "-c", line], &folder, &folder.join("log"), network(), limit).expect("sh is installed");
        fs::remove_dir_all(&folder).expect("the folder is ours");
        done
    }

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn ending_and_output_are_kept() {
        let passed = check("passed", "echo fine; echo aside >&2", LIMIT);
        assert_eq!(
            passed,
            TestRun {
                ending: Ending::Passed,
                output: "fine\naside\n".to_owned()
            }
        );
        assert_eq!(check("failed", "exit 3", LIMIT).ending, Ending::Failed);
    }

    #[test]
    fn a_run_ends_at_its_limit() {
        assert_eq!(
            check("limit", "sleep 1000 & sleep 1000", Duration::ZERO).ending,
            Ending::TimedOut
        );
    }

    #[test]
    fn no_interface_is_there_where_the_network_can_be_removed() {
        if network() == Network::Removed {
            let interfaces = check("network", "tail -n +3 /proc/net/dev | grep -v 'lo:'; true", LIMIT);
            assert_eq!(interfaces.output, "");
        }
    }
}
