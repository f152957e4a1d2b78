//! The arguments of `magis-eval engine`.

use super::ModelArgs;
use clap::Args;
use magis_engine::EngineLimits;
use magis_engine::model::Without;
use std::path::PathBuf;

/// `engine`.
#[derive(Debug, Args)]
pub struct EngineTraceArgs {
    /// The trace: the number of a run in the data folder, or a file that --export or 'magis runs export' wrote.
    #[arg(long, value_name = "RUN|FILE")]
    pub trace: String,
    /// The data folder with the run. Default: that of Magis.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The llama-server, http://127.0.0.1:8080 say. Without it the engine is measured alone.
    #[arg(long, value_name = "URL")]
    pub peer: Option<String>,
    /// What the engine is measured without; may be given several times.
    #[arg(long, value_enum, value_name = "PART")]
    pub without: Vec<EnginePart>,
    /// Write the run into this file, and measure nothing.
    #[arg(long, value_name = "FILE", conflicts_with = "peer")]
    pub export: Option<PathBuf>,
    /// The engine.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl EngineTraceArgs {
    /// In the engine's words.
    pub fn limits(&self) -> EngineLimits {
        let without = |part| self.without.contains(&part);
        EngineLimits {
            without: Without {
                drafts: without(EnginePart::Drafts),
                reuse: without(EnginePart::Reuse),
                kernels: without(EnginePart::Kernels),
            },
            ..self.engine.limits()
        }
    }
}

/// What the engine saves time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EnginePart {
    /// Drafts of what an answer may go on with.
    Drafts,
    /// What earlier prompts have computed of a prompt.
    Reuse,
    /// The engine's own kernels, instead of llama.cpp's.
    Kernels,
    /// Answering calls of a group side by side.
    Together,
}
