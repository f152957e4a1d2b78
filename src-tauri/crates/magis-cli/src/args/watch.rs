//! `magis watch`.

use super::EngineArgs;
use clap::Args;
use std::path::PathBuf;

/// `magis watch`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    magis watch --repo .\n  \
    magis watch --repo . --summarise --budget-tokens 50000 --budget-minutes 20\n\n\
    Ctrl-C ends it at once; nothing is lost, and nothing is written into the repository. Files are summarised only while no run \
    is under way and the repository is quiet.")]
pub struct WatchArgs {
    /// A folder of the repository
    #[arg(long, value_name = "PATH")]
    pub repo: PathBuf,
    /// Summarise the files that are likely to be needed next while the machine is idle
    #[arg(long, alias = "warm")]
    pub summarise: bool,
    /// An id of 'magis models list', or a GGUF file [default: qwen2.5-coder-1.5b]
    #[arg(long, value_name = "ID|FILE", requires = "summarise")]
    pub model: Option<String>,
    /// Token budget for summarising [default: no limit]
    #[arg(long, value_name = "N", requires = "summarise")]
    pub budget_tokens: Option<u64>,
    /// Minutes the model may work [default: no limit]
    #[arg(long, value_name = "N", requires = "summarise")]
    pub budget_minutes: Option<u32>,
    /// Seconds the repository has to be quiet before files are summarised
    #[arg(long, value_name = "N", default_value_t = 10, requires = "summarise")]
    pub idle: u64,
    /// How the model is loaded.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print what happens as JSON, an object a line, and nothing else
    #[arg(long)]
    pub json: bool,
}
