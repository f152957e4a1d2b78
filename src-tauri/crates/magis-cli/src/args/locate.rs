//! `magis locate`.

use super::EngineArgs;
use clap::Args;
use std::path::PathBuf;

/// `magis locate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    magis locate --repo . --issue issue.md\n  \
    magis locate --repo ~/src/app --issue - --at v2.1 --json < issue.md\n  \
    magis locate --repo . --issue issue.md --model qwen2.5-coder-1.5b\n\n\
    The first time, the text of the repository is indexed; later only what changed is read. Ctrl-C stops, and what was read \
    is kept.")]
pub struct LocateArgs {
    /// A folder of the repository
    #[arg(long, value_name = "PATH")]
    pub repo: PathBuf,
    /// The issue's text: a file, or '-' for standard input
    #[arg(long, value_name = "FILE")]
    pub issue: PathBuf,
    /// The branch, tag or commit to look at [default: HEAD]
    #[arg(long, value_name = "COMMIT")]
    pub at: Option<String>,
    /// How many files and how many functions are shown
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub top: u32,
    /// Let a model have its say on the first ones: an id of 'magis models list', or a GGUF file
    #[arg(long, value_name = "ID|FILE")]
    pub model: Option<String>,
    /// How the model is loaded.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
