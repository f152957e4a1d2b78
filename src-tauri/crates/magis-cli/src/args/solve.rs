//! `magis solve`, and what it shares with the other commands that drive a run.

use clap::Args;
use magis_core::text::parse_bytes;
use magis_engine::model::{KvType, Loading, Manners};
use magis_engine::{Effort, EngineLimits};
use std::path::PathBuf;

/// `magis solve`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    magis solve --repo . --issue issue.md\n  \
    magis solve --repo ~/src/app --issue - --log failing-test.txt < issue.md\n  \
    magis solve --repo . --issue issue.md --files src/parser.py src/lexer.py\n\n\
    Ctrl-C stops within a second and saves; 'magis runs resume N' continues. A second Ctrl-C ends the program at once; \
    nothing that was recorded is lost then either.")]
pub struct SolveArgs {
    /// A folder of the repository
    #[arg(long, value_name = "PATH", help_heading = "What to solve")]
    pub repo: PathBuf,
    /// The issue's text: a file, or '-' for standard input
    #[arg(long, value_name = "FILE", help_heading = "What to solve")]
    pub issue: PathBuf,
    /// What is known beyond it: comments, a discussion
    #[arg(long, value_name = "FILE", help_heading = "What to solve")]
    pub hints: Option<PathBuf>,
    /// The output of a failing test or program
    #[arg(long, value_name = "FILE", help_heading = "What to solve")]
    pub log: Option<PathBuf>,
    /// The files to change, relative to the repository's root; nothing is searched then
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "What to solve")]
    pub files: Vec<String>,

    /// The branch, tag or commit to read [default: HEAD]
    #[arg(
        long,
        value_name = "REV",
        conflicts_with = "include_uncommitted",
        help_heading = "From which state"
    )]
    pub base: Option<String>,
    /// Read uncommitted work as well
    #[arg(long, help_heading = "From which state")]
    pub include_uncommitted: bool,

    /// An id of 'magis models list', or a GGUF file [default: qwen2.5-coder-1.5b]
    #[arg(long, value_name = "ID|FILE", help_heading = "How")]
    pub model: Option<String>,
    /// The seed of every random choice; the same one repeats a run
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "How")]
    pub seed: u64,
    /// How many files of the search are judged [default: by the effort, 5, 20 or 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200), help_heading = "How")]
    pub top_k: Option<u32>,
    /// Rounds of writing and review a task gets [default: by the effort, 1, 3 or 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20), help_heading = "How")]
    pub max_rounds: Option<u32>,
    /// How much is tried: quick writes one answer, runs nothing and asks for no review [default: usual]
    #[arg(long, value_enum, default_value_t, hide_default_value = true, help_heading = "How")]
    pub effort: EffortArg,
    /// Answers that are written in a round [default: by the effort; 1 with --no-tests]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512), help_heading = "How")]
    pub attempts: Option<u32>,
    /// Places of a file that are tried in a round [default: by the effort; 1 with --no-tests]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20), help_heading = "How")]
    pub places: Option<u32>,
    /// Take the first usable change without review
    #[arg(long, help_heading = "How")]
    pub no_qa: bool,
    /// Keep the hints from the agents
    #[arg(long, help_heading = "How")]
    pub no_hints: bool,
    /// Run nothing: neither tests nor what the issue shows
    #[arg(
        long,
        conflicts_with_all = ["test_cmd", "tests", "allow_tests", "without_isolation"],
        help_heading = "What to run"
    )]
    pub no_tests: bool,
    /// The project's test command [default: one that you allowed before, else the first of 'magis tests list']
    #[arg(long, value_name = "LINE", help_heading = "What to run")]
    pub test_cmd: Option<String>,
    /// A test of the repository that fails because of the issue: a file, or a name as the runner has it
    #[arg(long = "test", value_name = "TEST", help_heading = "What to run")]
    pub tests: Vec<String>,
    /// Make no checks out of what the issue shows
    #[arg(long, help_heading = "What to run")]
    pub no_checks: bool,
    /// Allow the test command, and what the issue shows, without being asked
    #[arg(long, help_heading = "What to run")]
    pub allow_tests: bool,
    /// Run them even where nothing isolates them: they can then read and change all that you can, and use the network
    #[arg(long, help_heading = "What to run")]
    pub without_isolation: bool,
    /// How the model is loaded.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// How the run is followed.
    #[command(flatten)]
    pub follow: FollowArgs,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EffortArg {
    Quick,
    #[default]
    Usual,
    Thorough,
}

impl From<EffortArg> for Effort {
    fn from(effort: EffortArg) -> Self {
        match effort {
            EffortArg::Quick => Self::Quick,
            EffortArg::Usual => Self::Usual,
            EffortArg::Thorough => Self::Thorough,
        }
    }
}

/// How the model is loaded.
#[derive(Debug, Clone, Copy, Args)]
pub struct EngineArgs {
    /// Tokens of context [default: the model's own, at most 16384, as far as memory allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1024..), help_heading = "How")]
    pub context: Option<u32>,
    /// Threads to compute with [default: the physical cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "How")]
    pub threads: Option<u32>,
    /// Memory the model may take with its context, as in 6GB [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "How")]
    pub memory: Option<u64>,
    /// How keys and values are stored [default: with 16 bits, with 8 where memory is short]
    #[arg(long, value_name = "TYPE", value_enum, help_heading = "How")]
    pub kv_type: Option<KvTypeArg>,
    /// Layers of the model on the graphics device, 0 for none [default: as many as it holds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1024), help_heading = "How")]
    pub gpu_layers: Option<u32>,
    /// Layers on the graphics device whose experts stay in main memory [default: as few as need be]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1024), help_heading = "How")]
    pub host_experts: Option<u32>,
    /// How weights come into main memory [default: what is usually faster for how they are stored]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "How")]
    pub weights: Option<WeightsArg>,
    /// How the model gives way to other programs [default: full]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "How")]
    pub manners: Option<MannersArg>,
}

/// How keys and values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum KvTypeArg {
    F16,
    Q8,
}

impl From<KvTypeArg> for KvType {
    fn from(kv_type: KvTypeArg) -> Self {
        match kv_type {
            KvTypeArg::F16 => Self::F16,
            KvTypeArg::Q8 => Self::Q8,
        }
    }
}

/// How weights come into main memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WeightsArg {
    /// The pages of the file itself, which the system can drop
    Mapped,
    /// A copy in the order of llama.cpp's kernels, where it has some
    Read,
}

impl From<WeightsArg> for Loading {
    fn from(weights: WeightsArg) -> Self {
        match weights {
            WeightsArg::Mapped => Self::Mapped,
            WeightsArg::Read => Self::Read,
        }
    }
}

/// How the model's worker behaves beside other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MannersArg {
    /// As any other program
    Full,
    /// Behind what a person does meanwhile
    Polite,
    /// Behind everything, with half of the cores
    Background,
}

impl From<MannersArg> for Manners {
    fn from(manners: MannersArg) -> Self {
        match manners {
            MannersArg::Full => Self::Full,
            MannersArg::Polite => Self::Polite,
            MannersArg::Background => Self::Background,
        }
    }
}

impl EngineArgs {
    /// In the engine's words.
    pub fn limits(&self) -> EngineLimits {
        EngineLimits {
            context: self.context,
            threads: self.threads,
            memory: self.memory,
            kv_type: self.kv_type.map(Into::into),
            gpu_layers: self.gpu_layers,
            host_experts: self.host_experts,
            loading: self.weights.map(Into::into),
            manners: self.manners.map(Into::into),
            ..EngineLimits::default()
        }
    }
}

fn size(text: &str) -> Result<u64, String> {
    parse_bytes(text).ok_or_else(|| "a size is a number with its unit, as 6GB or 800MB".to_owned())
}

/// How a run is followed.
#[derive(Debug, Clone, Copy, Args)]
pub struct FollowArgs {
    /// Print the run's events, a JSON object a line, and nothing else
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Log the run's prompts and answers, too, in the data folder's logs; they go with the run
    #[arg(long, help_heading = "Output")]
    pub log_contents: bool,
}
