//! The command line as it is typed. What it means is in `commands`, one file each.

mod engine;
mod locate;
mod runs;
mod solve;
mod tests;
mod watch;

pub use engine::{EngineCommand, OtherEngineArgs};
pub use locate::LocateArgs;
pub use runs::{ExportFormatArg, RunsCommand, ShowArgs, StatusChoice};
pub use solve::{EffortArg, EngineArgs, FollowArgs, SolveArgs};
pub use tests::{CheckArgs, ForgetTestsArgs, ListTestsArgs, RunTestsArgs, TestedTree, TestsCommand};
pub use watch::WatchArgs;

use crate::exit::ExitStatus;
use clap::{Args, Parser, Subcommand, ValueEnum};
use magis_core::{AttemptNumber, Round, RunId, Stage, TaskId};
use std::path::PathBuf;

/// Resolves issues in private code with a team of agents, wholly on this machine
///
/// Choose a repository, paste an issue, get a reviewed patch. Nothing is written into your repository before you apply the patch, and
/// nothing leaves this machine: the network is used by 'magis models fetch' alone, and only when you ask for it; or for an engine in your own
/// network that you name with --engine.
#[derive(Debug, Parser)]
#[command(
    name = "magis",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = after_help()
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// The data folder.
    #[arg(
        help = "Where runs, memory and models are kept [default: $XDG_DATA_HOME/magis or ~/.local/share/magis]",
        long,
        global = true,
        value_name = "DIR"
    )]
    pub data_dir: Option<PathBuf>,
    /// Where model files are kept, if not in the data folder
    #[arg(long, global = true, value_name = "DIR", env = "MAGIS_MODELS_DIR", hide_env = true)]
    pub models_dir: Option<PathBuf>,
    /// When colour is used.
    #[arg(
        help = "Colour in the output: auto, always or never; auto obeys NO_COLOR",
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    pub color: ColorChoice,
    /// Where prompts go.
    #[command(flatten)]
    pub other_engine: OtherEngineArgs,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve an issue in a repository
    Solve(Box<SolveArgs>),
    /// Say which files and functions an issue most likely means, and why; no model needed
    Locate(Box<LocateArgs>),
    /// List, show, search, resume, export, import and delete runs
    #[command(subcommand, arg_required_else_help = true)]
    Runs(RunsCommand),
    /// Run again from a stage; the old run stays
    Rerun(RerunArgs),
    /// Step into a run: files, tasks, roles, hints, a word in the meeting
    #[command(after_help = "The run takes it in at once when it is under way, else when it is resumed.")]
    Steer(SteerArgs),
    /// Apply a run's patch, or take it back
    Apply(ApplyArgs),
    /// The memory of a repository, a summary of each file: show, correct, export, import
    #[command(subcommand, arg_required_else_help = true)]
    Memory(MemoryCommand),
    /// Follow a repository: keep its index up to date, and summarise files while the machine is idle
    Watch(Box<WatchArgs>),
    /// The models on this machine, and those that can be downloaded
    #[command(subcommand, arg_required_else_help = true)]
    Models(ModelsCommand),
    /// Another engine in your own network, instead of the one on this machine: off unless you name one
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Examples:\n  magis engine use --engine http://gpu.lan:8000\n  magis engine key --engine https://gpu.lan:8443 < key.txt\n  magis solve --repo . --issue issue.md --engine http://localhost:8080\n\n\
                            Any server with the OpenAI interface: llama-server, vLLM, Ollama, LM Studio. Public addresses are refused."
    )]
    Engine(EngineCommand),
    /// Health check: what works here, and what to do about the rest
    Doctor(DoctorArgs),
    /// The tests of a repository: find, run, and say which commands are allowed
    #[command(subcommand, arg_required_else_help = true)]
    Tests(TestsCommand),
    /// Run a command as tests are run: isolated, within limits, on a copy of this folder that is thrown away
    #[command(
        after_help = "Examples:\n  magis sandbox -- python3 -m pytest -q\n  magis sandbox --time 60 --read ~/data -- make check\n\n\
                            The command sees the system's programs, the toolchains in your home and this folder; not your other files, and no network.\n\
                            What it changes is listed and thrown away. Exit code: the command's own; 125 where it was stopped, 126 where it could not be run."
    )]
    Sandbox(SandboxArgs),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// `magis sandbox`.
#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    pub command: Vec<String>,
    /// The folder that it runs in and may change a copy of [default: this one]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// A further file or folder that it may read; may be given several times
    #[arg(long, value_name = "PATH")]
    pub read: Vec<PathBuf>,
    /// Seconds that it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: u64,
    /// Memory that it may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(16..=1_048_576))]
    pub memory: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `magis rerun`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  magis rerun 12 --from code --seed 7\n  magis rerun 12 --take T1.1.4")]
pub struct RerunArgs {
    /// The run
    #[arg(value_parser = run_id)]
    pub run: RunId,
    /// The first stage to run again; the stages before it are shared
    #[arg(long, value_name = "STAGE", value_parser = stage(), required_unless_present = "take")]
    pub from: Option<Stage>,
    /// Take another attempt of a run that is over: T1.1.4 is the fourth of the first round of task T1
    #[arg(long, value_name = "ATTEMPT", value_parser = attempt, conflicts_with_all = ["from", "model", "seed"])]
    pub take: Option<(TaskId, Round, AttemptNumber)>,
    /// Another model: an id of 'magis models list', or a GGUF file
    #[arg(long, value_name = "ID|FILE")]
    pub model: Option<String>,
    /// Another seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How the model is loaded.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// How the run is followed.
    #[command(flatten)]
    pub follow: FollowArgs,
}

/// `magis steer`.
#[derive(Debug, Args)]
pub struct SteerArgs {
    /// The run
    #[arg(value_parser = run_id)]
    pub run: RunId,
    /// What to change.
    #[command(subcommand)]
    pub command: SteerCommand,
}

/// What can be changed in a run that is not over.
#[derive(Debug, Subcommand)]
pub enum SteerCommand {
    /// Drop a candidate file, and its task
    Drop {
        /// The file, relative to the repository's root
        path: String,
    },
    /// Add a candidate file
    Add {
        /// The file, relative to the repository's root
        path: String,
    },
    /// Rewrite a task; its code is written again
    Task {
        /// The task, as in T1
        #[arg(value_parser = task_id)]
        task: TaskId,
        /// What has to be done
        text: String,
    },
    /// Rewrite the role of a task's Developer
    Role {
        /// The task, as in T1
        #[arg(value_parser = task_id)]
        task: TaskId,
        /// A short professional name [default: as before]
        #[arg(long)]
        name: Option<String>,
        /// What this person pays attention to [default: as before]
        #[arg(long, required_unless_present = "name")]
        focus: Option<String>,
    },
    /// Take an attempt; its task ends with it
    Take {
        /// The task, as T1
        #[arg(value_parser = task_id)]
        task: TaskId,
        /// The round, from 1
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        round: u32,
        /// The attempt of that round, from 1
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        attempt: u32,
    },
    /// Give a hint for what is still to be done
    Hint {
        /// The hint
        text: String,
    },
    /// Speak in the meeting; it never waits for you
    Say {
        /// What you say
        text: String,
    },
}

/// `magis apply`.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("to").required(true),
    after_help = "Examples:\n  magis apply 12 --worktree\n  magis apply 12 --branch fix-until --hunks 1,3-5\n  magis apply 12 --undo\n\n\
                  All or nothing: where a hunk does not fit, nothing is written and the place is named. Index and other files are \
                  never touched. 'magis runs show 12 --patch' numbers the hunks."
)]
pub struct ApplyArgs {
    /// The run
    #[arg(value_parser = run_id)]
    pub run: RunId,
    /// Change the files of the working tree
    #[arg(long, group = "to")]
    pub worktree: bool,
    /// Commit on a new branch at the run's base; the working tree stays as it is
    #[arg(long, value_name = "NAME", group = "to")]
    pub branch: Option<String>,
    /// Write the patch to a file, or to standard output with '-'
    #[arg(long, value_name = "FILE", group = "to")]
    pub patch: Option<PathBuf>,
    /// Take back what was applied last
    #[arg(long, group = "to", conflicts_with_all = ["hunks", "with_test"])]
    pub undo: bool,
    /// The repository an imported run belongs to, where several here have its base
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Only these hunks: numbers and ranges, as in 1,3-5
    #[arg(long, value_name = "LIST")]
    pub hunks: Option<String>,
    /// Also add the tests that show the fault, as new files beside the project's
    #[arg(long)]
    pub with_test: bool,
    /// The author's name [default: git's user.name]
    #[arg(long, requires_all = ["email", "branch"])]
    pub name: Option<String>,
    /// The author's mail address [default: git's user.email]
    #[arg(long, value_name = "MAIL", requires_all = ["name", "branch"])]
    pub email: Option<String>,
    /// What becomes of programs that the repository itself names, its hooks say; remembered for this repository
    #[arg(long, value_name = "DECISION", requires = "branch")]
    pub programs: Option<ProgramsDecision>,
}

/// What is done with programs that a repository names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgramsDecision {
    /// They are run
    Run,
    /// The commit is made without them
    LeaveOut,
}

/// `magis memory`.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// How many files of each repository have a summary, and what that cost and saved
    Status {
        /// Only this repository: how much of its last commit is covered, tokens spent and saved by day
        #[arg(long, value_name = "PATH")]
        repo: Option<PathBuf>,
        /// As JSON, with every file
        #[arg(long, requires = "repo")]
        json: bool,
    },
    /// Show the summary of a file
    Show(MemoryFileArgs),
    /// Put your own words in place of a summary
    ///
    /// They are marked as yours, read with every model, and stale once the file changes.
    Correct {
        /// Which file
        #[command(flatten)]
        file: MemoryFileArgs,
        /// The words [default: standard input]
        #[arg(long)]
        text: Option<String>,
    },
    /// Forget the summaries of a file, in all its versions
    #[command(visible_alias = "forget")]
    Drop(MemoryFileArgs),
    /// Rewrite the summary of a file with a model; a correction of yours is lost
    Renew {
        /// Which file
        #[command(flatten)]
        file: MemoryFileArgs,
        /// The model: an id or a GGUF file [default: the default model]
        #[arg(long, value_name = "ID|FILE")]
        model: Option<String>,
    },
    /// Write the memory of a repository into a file, for another machine
    ///
    /// The file holds what was written about the code, with the hashes of the versions, and no code unless asked.
    Export {
        /// The file to write
        file: PathBuf,
        /// The repository [default: the one around the current folder]
        #[arg(long, value_name = "PATH", default_value = ".", hide_default_value = true)]
        repo: PathBuf,
        /// Put the text of the described versions into the file, too
        #[arg(long)]
        with_code: bool,
    },
    /// Take a memory file of another machine into the memory of a repository
    ///
    /// All of it or nothing. What is here already is replaced by newer words only, and a person's words by newer words of
    /// a person only.
    Import {
        /// The file
        file: PathBuf,
        /// The repository [default: the one around the current folder]
        #[arg(long, value_name = "PATH", default_value = ".", hide_default_value = true)]
        repo: PathBuf,
    },
    /// Erase all that is remembered of a repository, with its index and the objects its runs read
    ///
    /// Its runs stay and can be read; delete them with 'magis runs delete'. The repository itself is not touched.
    Erase {
        /// The repository
        #[arg(long, value_name = "PATH")]
        repo: PathBuf,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// A file of a repository.
#[derive(Debug, Args)]
pub struct MemoryFileArgs {
    /// The file, relative to the repository's root
    pub path: String,
    /// The repository [default: the one around the current folder]
    #[arg(long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub repo: PathBuf,
}

/// `magis models`.
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// List the models that are here and those that can be downloaded
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Download a model of the list, or of the hub by its name there; the only command that uses the network
    #[command(
        visible_alias = "download",
        after_help = "Examples:\n  magis models fetch qwen2.5-coder-1.5b\n  magis models fetch hf:OWNER/REPO         lists the files of a repository\n  \
                      magis models fetch hf:OWNER/REPO:FILE    downloads one of them\n\n\
                      HF_TOKEN: your token, for repositories whose terms an account has to accept; it is sent to the hub alone.\n\
                      HF_ENDPOINT: the address of another hub with the same interface."
    )]
    Fetch {
        /// The model's id, or `hf:OWNER/REPO[:FILE]`
        id: String,
        /// Print JSON: the files of a repository, or what was downloaded
        #[arg(long)]
        json: bool,
        /// Where to look: the hub and then its mirror, or one of them
        #[arg(long, value_name = "SOURCE", value_enum, default_value_t)]
        from: SourceChoice,
    },
    /// Take in a GGUF file of your own; the original stays
    Add {
        /// The file
        file: PathBuf,
    },
    /// Try what a model can do: follow a form, name a function, call a tool, and how fast it is; takes a minute
    ///
    /// A run does so by itself at the first use of a model.
    Try {
        /// The model's id, or a GGUF file
        model: String,
        /// How it is loaded
        #[command(flatten)]
        engine: EngineArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Read every byte of a model, or of all, and compare its hash
    Verify {
        /// The model's id [default: all that are here]
        id: Option<String>,
    },
    /// Delete a model, or what was downloaded of it so far
    Remove {
        /// The model's id
        id: String,
    },
}

/// Where to look for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SourceChoice {
    /// The hub; the mirror where the hub does not answer
    #[default]
    Auto,
    /// The hub only
    Hub,
    /// The mirror only
    Mirror,
}

/// `magis doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Also look at this repository
    #[arg(long, value_name = "PATH")]
    pub repo: Option<PathBuf>,
    /// The model to load: an id, or a GGUF file [default: the default model]
    #[arg(long, value_name = "ID|FILE")]
    pub model: Option<String>,
    /// Show a report to hand to somebody, and write it into this file: versions, settings, the log; nothing of your code
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repo", "model"])]
    pub report: Option<PathBuf>,
    /// Write the report without asking
    #[arg(long, requires = "report")]
    pub yes: bool,
}

fn after_help() -> String {
    format!(
        "Examples:\n  \
         magis models fetch qwen2.5-coder-1.5b\n  \
         magis solve --repo ~/src/app --issue issue.md\n  \
         magis locate --repo ~/src/app --issue issue.md\n  \
         magis runs show 12\n  \
         magis apply 12 --branch fix-12\n\n{}",
        ExitStatus::table()
    )
}

fn run_id(text: &str) -> Result<RunId, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(RunId(number)),
        _ => Err("a run is named by its number, as 'magis runs list' shows it".to_owned()),
    }
}

fn task_id(text: &str) -> Result<TaskId, String> {
    match text.trim_start_matches(['T', 't']).parse() {
        Ok(number) if number > 0 => Ok(TaskId(number)),
        _ => Err("a task is named as 'magis runs show' does: T1, T2, ...".to_owned()),
    }
}

/// Reads which attempt is meant: its task, its round and its number, from 1.
fn attempt(text: &str) -> Result<(TaskId, Round, AttemptNumber), String> {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |text: &str| text.parse().ok().filter(|number: &u32| *number > 0);
    if let [task, round, attempt] = parts[..]
        && let (Ok(task), Some(round), Some(attempt)) = (task_id(task), number(round), number(attempt))
    {
        return Ok((task, Round(round), AttemptNumber(attempt - 1)));
    }
    Err("an attempt is named by its task, its round and its number: T1.1.4".to_owned())
}

/// Reads a stage's name, and offers all of them in messages and completions.
fn stage() -> impl clap::builder::TypedValueParser<Value = Stage> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Stage::ALL.map(Stage::name)).map(|name| {
        let known = Stage::ALL.into_iter().find(|stage| stage.name() == name);
        known.expect("the parser lets only the names of stages through")
    })
}
