//! `magis runs`.

use super::{EngineArgs, FollowArgs, run_id, stage};
use clap::{Args, Subcommand, ValueEnum};
use magis_core::{RunId, Stage};
use std::path::PathBuf;

/// What can be done with runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List the runs, the newest first
    List {
        /// Only runs of this repository
        #[arg(long, value_name = "PATH")]
        repo: Option<PathBuf>,
        /// Only runs that stand like this
        #[arg(long, value_enum)]
        status: Option<StatusChoice>,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a run: what was asked, found, said, planned, written and reviewed
    Show(ShowArgs),
    /// Find runs by what was asked, said or changed in them
    Search {
        /// Words that all have to occur; their beginnings are enough
        #[arg(required = true)]
        text: Vec<String>,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
    },
    /// Write a run to a file that another machine can import, or a person can read
    Export {
        /// The run
        #[arg(value_parser = run_id)]
        run: RunId,
        /// Where to [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// In which form
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormatArg,
    },
    /// Import a run that was exported as JSON
    Import {
        /// The file
        file: PathBuf,
    },
    /// Resume a run that was stopped or interrupted
    Resume {
        /// The run
        #[arg(value_parser = run_id)]
        run: RunId,
        /// The repository an imported run belongs to, where several here have its base
        #[arg(long, value_name = "DIR")]
        repo: Option<PathBuf>,
        /// How the model is loaded.
        #[command(flatten)]
        engine: EngineArgs,
        /// How the run is followed.
        #[command(flatten)]
        follow: FollowArgs,
    },
    /// Take a run from a program that works on it and hangs, so that it can be resumed
    BreakLease {
        /// The run
        #[arg(value_parser = run_id)]
        run: RunId,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Delete a run and erase its texts
    Delete {
        /// The run
        #[arg(value_parser = run_id)]
        run: RunId,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// `magis runs show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run
    #[arg(value_parser = run_id)]
    pub run: RunId,
    /// Only the patch; into a pipe or file it is written byte by byte
    #[arg(long, conflicts_with_all = ["calls", "stage"])]
    pub patch: bool,
    /// Only the model calls
    #[arg(long, conflicts_with = "stage")]
    pub calls: bool,
    /// As JSON; with --calls the calls whole, prompts and replies included
    #[arg(long, conflicts_with = "patch")]
    pub json: bool,
    /// Only this stage
    #[arg(long, value_name = "STAGE", value_parser = stage())]
    pub stage: Option<Stage>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusChoice {
    /// It waits for its turn
    Queued,
    /// It is being worked on
    Running,
    /// It was stopped and can be resumed
    Paused,
    /// Its program vanished; it can be resumed
    Interrupted,
    /// It is over
    Ended,
}

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportFormatArg {
    /// Everything, for 'magis runs import'
    #[default]
    Json,
    /// To be read: the run as 'magis runs show' tells it, with its patch
    Markdown,
}
