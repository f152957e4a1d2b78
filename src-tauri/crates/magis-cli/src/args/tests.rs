//! `magis tests`.

use super::run_id;
use clap::{Args, Subcommand};
use magis_core::RunId;
use std::path::PathBuf;

/// `magis tests`.
#[derive(Debug, Subcommand)]
pub enum TestsCommand {
    /// List the test commands of a repository: those that are found, and those of your own that you allowed
    List(ListTestsArgs),
    /// Run tests, isolated, on the last commit or another tree; the repository stays as it is
    #[command(
        after_help = "Examples:\n  magis tests run --repo .\n  magis tests run --repo . --include-uncommitted tests/test_url.py\n  \
                            magis tests run --repo . --test-cmd 'python3 -m pytest -q tests'\n\n\
                            The first time, you are shown the command and asked; the answer is remembered for this repository and this command.\n\
                            Exit code: 0 where all tests pass, 1 where one fails, 125 where the run was stopped at a limit."
    )]
    Run(RunTestsArgs),
    /// Run what shows a run's fault again, as it is or as you edited it, on the run's base and with its patch; the run stays as it is
    #[command(
        after_help = "Examples:\n  magis tests check 3 --show > example.py\n  magis tests check 3 --script example.py\n\n\
                            Tests of the project are run as they are; to edit one, edit it in the project.\n\n\
                            Exit code: 0 where what is run ends with exit code 0 on each tree, 1 otherwise."
    )]
    Check(CheckArgs),
    /// Forget what you allowed in a repository
    Forget(ForgetTestsArgs),
}

/// Which repository, and which tree of it.
#[derive(Debug, Args)]
pub struct TestedTree {
    /// A folder of the repository
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub repo: PathBuf,
    /// The branch, tag or commit [default: HEAD]
    #[arg(long, value_name = "COMMIT", conflicts_with = "include_uncommitted")]
    pub at: Option<String>,
    /// Take uncommitted work in
    #[arg(long)]
    pub include_uncommitted: bool,
    /// A command of your own, as you would type it
    #[arg(long, value_name = "LINE")]
    pub test_cmd: Option<String>,
}

/// `magis tests list`.
#[derive(Debug, Args)]
pub struct ListTestsArgs {
    /// Which tree.
    #[command(flatten)]
    pub tree: TestedTree,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `magis tests run`.
#[derive(Debug, Args)]
pub struct RunTestsArgs {
    /// Which tree.
    #[command(flatten)]
    pub tree: TestedTree,
    /// Test files, relative to the repository's root [default: all tests]
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Which of the commands, by its number in 'magis tests list'
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "test_cmd", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub command: u32,
    /// Seconds that the run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: u64,
    /// Memory that it may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(16..=1_048_576))]
    pub memory: u64,
    /// Allow the command without being asked
    #[arg(long)]
    pub yes: bool,
    /// Run the command even where nothing isolates it: it can then read and change all that you can, and use the network
    #[arg(long)]
    pub without_isolation: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `magis tests check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The run
    #[arg(value_parser = run_id)]
    pub run: RunId,
    /// Which of its checks: 1 is C1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub check: u32,
    /// A script to run in its place; '-' reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Print the script and run nothing
    #[arg(long, conflicts_with_all = ["script", "json"])]
    pub show: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `magis tests forget`.
#[derive(Debug, Args)]
pub struct ForgetTestsArgs {
    /// A folder of the repository
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub repo: PathBuf,
}
