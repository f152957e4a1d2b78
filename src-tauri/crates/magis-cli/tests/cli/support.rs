//! Starting the program in a data folder of its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A data folder, and the program that uses it.
pub struct Program {
    folder: TempDir,
}

/// What a command gave back.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Program {
    pub fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    /// Returns a place beside the data folder.
    pub fn beside(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.beside("data")
    }

    /// Returns a file beside the data folder.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.beside(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the command, with an environment that says nothing.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_magis"));
        command
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", self.folder.path())
            .stdin(Stdio::null());
        command.args(arguments).arg("--data-dir").arg(self.data());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Answer {
        Answer::of(&self.command(arguments).output().unwrap())
    }

    /// As [`Program::run`], for what might hang or fill the machine.
    pub fn run_bounded<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Answer {
        let plain = self.command(arguments);
        let mut bounded = magis_testkit::bounded::command(plain.get_program());
        bounded.args(plain.get_args()).env_clear();
        bounded.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Answer::of(&bounded.env("PATH", "/usr/bin:/bin").output().unwrap())
    }

    /// Returns a command of this program as it is where nothing can isolate what it runs: it makes no further name spaces.
    #[cfg(target_os = "linux")]
    pub fn without_isolation(plain: &Command) -> Command {
        in_name_space(
            plain,
            &[],
            "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"",
        )
    }

    /// Returns a command of this program in a network name space of its own, in which there is not even a loopback.
    #[cfg(target_os = "linux")]
    pub fn without_network(plain: &Command) -> Command {
        in_name_space(plain, &["--net"], "exec \"$0\" \"$@\"")
    }

    /// As [`Program::run`], where nothing can isolate what is run.
    #[cfg(target_os = "linux")]
    pub fn run_without_isolation<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Answer {
        Answer::of(&Self::without_isolation(&self.command(arguments)).output().unwrap())
    }

    /// As [`Program::run`], with the temporary folder's name taken out of what is said.
    pub fn neutral(&self, text: &str) -> String {
        neutral(text, self.folder.path())
    }
}

impl Answer {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// Returns a command that a shell starts in a user name space, and in these others.
#[cfg(target_os = "linux")]
fn in_name_space(plain: &Command, others: &[&str], script: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user"])
        .args(others)
        .args(["sh", "-c", script]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.env_clear().stdin(Stdio::null());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin");
    command
}

pub fn neutral(text: &str, folder: &Path) -> String {
    text.replace(folder.to_str().unwrap(), "TMP")
}
