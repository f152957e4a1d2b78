//! What can be typed.

#![expect(
    clippy::doc_markdown,
    reason = "these comments are what --help prints, where backticks would stand as such"
)]

mod engine;

use clap::{Args, Parser, Subcommand};
pub use engine::{EnginePart, EngineTraceArgs};
use magis_core::{MethodPart, WritingMode};
use magis_engine::model::Loading;
use magis_engine::{Effort, EngineLimits};
use magis_testkit::sample;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Solves sets of issues with Magis and measures the recorded runs.
///
/// A set is a file of JSON lines in SWE-bench's form: instance_id, repo, base_commit, problem_statement, and for measuring
/// 'patch' (the reference change) or 'gold' ({path: [[first line, last line], ...]}). References never reach a prompt, an
/// index or a ranking. Repositories lie in one folder as OWNER+NAME/repo, OWNER+NAME or OWNER/NAME, bare or not, and are
/// only read.
#[derive(Debug, Parser)]
#[command(name = "magis-eval", version, max_term_width = 120)]
pub struct EvalCli {
    /// What to do.
    #[command(subcommand)]
    pub command: EvalCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Solve the issues of a set and record every run.
    ///
    /// Writes setting.json, runs.jsonl and predictions.jsonl (SWE-bench's form) into --out and prints a line an issue.
    /// Ctrl-C stops and saves; the same command goes on: ended runs are skipped, an interrupted one is resumed.
    Solve(Box<SolveSetArgs>),
    /// Let the model alone answer: issue and given files in one prompt, a unified diff back.
    ///
    /// The files are the reference's, whole, or visibly cut to the context. Headers of hunks are put right; a hunk that
    /// is nowhere in its file is left for git to refuse. Results land in the same form as those of 'solve'.
    Baseline(Box<SetArgs>),
    /// Print the measures of one or several folders of results beside each other.
    ///
    /// Everything is computed from the recorded runs, the references and a judge's verdicts.
    Report(ReportArgs),
    /// Measure file location: all files of the reference within the first 1, 3, 5, 10, 20.
    ///
    /// By the engine's own index and history, read up to each issue's base and never beyond. Without --model the ranking
    /// alone; with it both orders are shown. Also: symbols, recall by files read, time, and with --ablation each signal's
    /// share.
    Locate(Box<LocateSetArgs>),
    /// Replay a history commit by commit and count what the model reads to keep the summaries of changed files right.
    ///
    /// With memory, against summarising each changed file anew, and against reading whole files. Without --model tokens are
    /// taken to be 3.3 characters long; with it the model's own tokenizer counts, and with --ask it answers as well.
    Memory(Box<MemoryArgs>),
    /// Let a named model score how well the task descriptions of recorded runs match the reference changes, 1 to 5.
    ScoreTasks(ScoreTasksArgs),
    /// Kill runs on the built-in sample at points spread over them, go on, and say what was lost.
    ///
    /// The program and its worker get SIGKILL. Exit code 0 when no recorded call was lost or made again, every run ended
    /// and the repository is untouched.
    Kill(KillArgs),
    /// Make the calls of a recorded run again, on the engine and on a llama-server beside it, and compare time and tokens.
    ///
    /// Both sides get the same tokens, calls that were issued together at once, and answers of the same length; a fresh
    /// worker comes first, then the peer, which has to be freshly started with the same model. The peer tells less of scored
    /// texts: the probabilities of the last token, not of each. "Computed" are tokens read: of prompts, and of texts that are
    /// scored, on our side with those that texts share or that need not be computed.
    Engine(EngineTraceArgs),
    /// Make the checks that a program can make out of each issue's text, and run them on the base and with the reference.
    ///
    /// A check counts as decided where it fails on the base as the issue says and passes with the reference. Checks run in
    /// the sandbox. The environments lie in --work as the judge beside the set (run.py) makes them; it is asked to where
    /// they are missing.
    Reproduce(ReproduceArgs),
    /// Make a set of small bugs from a project whose tests pass, or judge patches of such a set.
    ///
    /// Mutations of the sources are kept where at least one test fails and few do. The issue is written out of such a test
    /// as a user would, and never names the place. The failing tests are taken out of the base commit; beside --out a second
    /// set (.red.jsonl) has them left in. Tests run in the sandbox, with the programs of this PATH. Repositories lie in
    /// --work/repos.
    Mutate(Box<MutateArgs>),
    /// Run a set of bugs end to end and judge the patch and every attempt.
    ///
    /// A set of 'mutate', or one in SWE-bench's form whose judge (run.py) stands beside it: the judge makes the environments
    /// and runs the tests. The tests that judge never reach a run. Ctrl-C stops; the same command goes on after the last bug
    /// that was done. A bug that could not be measured is left out of every share, and tried again.
    Repair(Box<RepairArgs>),
    /// Print results of 'repair' beside each other: shares with their 95 % intervals, and each against the first.
    RepairTable(RepairTableArgs),
    /// Serve as the engine's process.
    #[command(hide = true)]
    Worker,
    /// Serve as the process that reads a repository.
    #[command(hide = true)]
    GitWorker,
    /// Serve as the helper that runs commands.
    #[command(hide = true)]
    SandboxHelper {
        /// Its own words.
        #[arg(hide = true)]
        words: Vec<String>,
    },
}

/// Which issues.
#[derive(Debug, Args)]
pub struct WhichArgs {
    /// The set: JSON lines.
    #[arg(long, value_name = "FILE")]
    pub instances: PathBuf,
    /// The folder that holds the repositories; nothing is written into it.
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Only issues whose instance_id contains TEXT; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Take every N-th issue of those: a set spread evenly.
    #[arg(long, value_name = "N")]
    pub every: Option<usize>,
    /// At most N of those.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// The engine.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model: an id of the catalogue or a GGUF file. Default: the catalogue's default model, where one is needed.
    #[arg(long, value_name = "ID|FILE")]
    pub model: Option<String>,
    /// The folder with the models. Default: that of Magis' usual data folder.
    #[arg(long, value_name = "DIR")]
    pub models_dir: Option<PathBuf>,
    /// The context to load the model with, in tokens. Default: 16384, or what the memory holds.
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u32>,
    /// Threads to compute with. Default: the physical cores.
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// How weights come into main memory. Default: what is usually faster for how they are stored.
    #[arg(long, value_name = "mapped|read")]
    pub weights: Option<Loading>,
    /// Begin with prefixes that earlier workers kept in the data folder, and keep them. Otherwise each measure begins cold.
    #[arg(long)]
    pub keep_prefixes: bool,
}

impl ModelArgs {
    /// In the engine's words.
    pub fn limits(&self) -> EngineLimits {
        EngineLimits {
            context: self.context,
            threads: self.threads,
            loading: self.weights,
            without_prefixes: !self.keep_prefixes,
            ..EngineLimits::default()
        }
    }
}

/// `magis-eval mutate`.
#[derive(Debug, Args)]
pub struct MutateArgs {
    /// The project: a folder, or an archive of its source package (.tar.gz, .tgz, .crate or .zip).
    #[arg(long, value_name = "DIR|FILE", required_unless_present = "judge", requires = "out")]
    pub project: Option<PathBuf>,
    /// The folder for trees and repositories.
    #[arg(long, value_name = "DIR")]
    pub work: PathBuf,
    /// How many bugs are made.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub count: usize,
    /// How many mutations are tried at most. Default: 15 for each bug.
    #[arg(long, value_name = "N")]
    pub tries: Option<usize>,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The set that the bugs are added to.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The command that runs the tests. Default: the project's own, as it is found.
    #[arg(long, value_name = "LINE")]
    pub test_cmd: Option<String>,
    /// How the issues tell of the failure.
    #[arg(long, value_enum, default_value_t = StyleArg::Mixed)]
    pub style: StyleArg,
    /// Judge these predictions (SWE-bench's form) instead.
    #[arg(long, value_name = "FILE", conflicts_with = "project", requires = "set")]
    pub judge: Option<PathBuf>,
    /// The set that the predictions are of.
    #[arg(long, value_name = "FILE", requires = "judge")]
    pub set: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `magis-eval repair`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub struct RepairArgs {
    /// The set, as 'mutate' makes it, or in SWE-bench's form.
    #[arg(long, value_name = "FILE")]
    pub set: PathBuf,
    /// The folder that 'mutate' worked in; of another set, the judge's.
    #[arg(long, value_name = "DIR")]
    pub work: PathBuf,
    /// What came of each bug: JSON lines; those that are there are not run again, unless they were left out. Rows of another
    /// model, label, seed or number of rounds are not gone on with.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The folder that holds the repositories. Default: 'repos' in --work.
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// The judge of a set in SWE-bench's form. Default: run.py beside the set.
    #[arg(long, value_name = "FILE")]
    pub judge: Option<PathBuf>,
    /// Only bugs whose instance_id contains TEXT; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Take every N-th of those.
    #[arg(long, value_name = "N")]
    pub every: Option<usize>,
    /// At most N of those.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// What the tables call this way of repairing. Default: made of the options.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Let the model alone answer: issue and the files of the reference, whole, in one prompt, a unified diff back.
    #[arg(long, conflicts_with_all = ["no_tests", "no_checks", "no_qa"])]
    pub one_shot: bool,
    /// The quick effort of `magis solve`: one answer in one round, nothing run, nobody reviews.
    #[arg(long, conflicts_with_all = ["one_shot", "attempts", "places", "max_rounds"])]
    pub quick: bool,
    /// Stop where the places of the first round are chosen, and measure those alone.
    #[arg(long, conflicts_with_all = ["one_shot", "quick"])]
    pub only_places: bool,
    /// Leave the failing tests in the repository, as when somebody pushed a red test.
    #[arg(long)]
    pub red: bool,
    /// Run nothing; with one attempt and one place, the paper's plain loop.
    #[arg(long)]
    pub no_tests: bool,
    /// Run what the issue shows, but not the project's tests. The tests that judge are run as ever.
    #[arg(long, conflicts_with_all = ["no_tests", "one_shot", "quick"])]
    pub no_project_tests: bool,
    /// Make no checks out of the issue.
    #[arg(long)]
    pub no_checks: bool,
    #[arg(long)]
    pub no_qa: bool,
    /// Hold no meeting.
    #[arg(long)]
    pub no_meeting: bool,
    /// Show no past change as an example.
    #[arg(long)]
    pub no_past_fix: bool,
    /// Answers of a round.
    #[arg(long, value_name = "N", default_value_t = Effort::Usual.attempts())]
    pub attempts: u32,
    /// Places that they are shared out over.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub places: u32,
    /// How the answers at a place are asked for; several are taken in turn. Default: as it measures best.
    ///
    /// 'token-edit' and 'insert' have to stand alone, and need a check: elsewhere, and beyond the first round, the lines
    /// are filled in.
    #[arg(long, value_name = "MODE", value_enum, conflicts_with_all = ["one_shot", "quick"])]
    pub writing: Vec<WritingArg>,
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub max_rounds: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub engine: ModelArgs,
}

impl RepairArgs {
    /// Returns the parts of the method that runs go without.
    pub fn without(&self) -> BTreeSet<MethodPart> {
        let parts = [
            self.no_meeting.then_some(MethodPart::Meeting),
            self.no_past_fix.then_some(MethodPart::PastFix),
        ];
        parts.into_iter().flatten().collect()
    }

    /// Returns how answers are asked for, in the engine's words.
    pub fn writing(&self) -> Vec<WritingMode> {
        self.writing.iter().copied().map(WritingMode::from).collect()
    }
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WritingArg {
    /// The whole definition, rewritten.
    Definition,
    /// The chosen lines, rewritten.
    Lines,
    /// The chosen lines left out and filled in.
    FillIn,
    /// One token of a definition edited.
    TokenEdit,
    /// A statement put in before a line that stays.
    Insert,
}

impl WritingArg {
    /// Returns what the tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Lines => "lines",
            Self::FillIn => "fill-in",
            Self::TokenEdit => "token edit",
            Self::Insert => "insert",
        }
    }
}

impl From<WritingArg> for WritingMode {
    fn from(mode: WritingArg) -> Self {
        match mode {
            WritingArg::Definition => Self::Definition,
            WritingArg::Lines => Self::Lines,
            WritingArg::FillIn => Self::FillIn,
            WritingArg::TokenEdit => Self::TokenEdit,
            WritingArg::Insert => Self::Insert,
        }
    }
}

/// `magis-eval repair-table`.
#[derive(Debug, Args)]
pub struct RepairTableArgs {
    /// Files that 'repair' wrote. Bugs that the first and another have in common are compared.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How an issue tells of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StyleArg {
    /// A snippet, what it gives, what is expected.
    Snippet,
    /// Sentences.
    Words,
    /// A snippet with its whole traceback, which names the place.
    Traceback,
    /// Some of each; of tracebacks the last line only.
    Mixed,
}

/// `magis-eval reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Which issues.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The folder with the judge's environments; trees are written out there, too.
    #[arg(long, value_name = "DIR")]
    pub work: PathBuf,
    /// The judge that makes missing environments. Default: run.py beside the set.
    #[arg(long, value_name = "FILE")]
    pub judge: Option<PathBuf>,
    /// Where the program reads nothing that fails out of an issue, let a QA Engineer write tests, as in a run.
    #[arg(long)]
    pub with_model: bool,
    /// The engine, with '--with-model'.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A set to be worked through.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// Which issues.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The engine.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// The folder for the results; belongs to one setting.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The data folder that records the runs. Default: 'data' in --out.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// What the tables call this setting. Default: made of the options.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Give the comments on the issue (hints_text).
    #[arg(long)]
    pub hints: bool,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// `solve`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own that is given or not"
)]
pub struct SolveSetArgs {
    /// The set.
    #[command(flatten)]
    pub set: SetArgs,
    /// Give the files of the reference instead of locating them (the paper's oracle setting).
    #[arg(long)]
    pub given_files: bool,
    /// Without QA Engineers: the first usable change is taken.
    #[arg(long)]
    pub no_qa: bool,
    /// Let P3 judge from the descriptions alone, the paper's own way: every ranked file is described, and the answer
    /// decides.
    #[arg(long)]
    pub by_description: bool,
    /// Files of the ranking that are judged.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top_k: u32,
    /// Rounds of writing and review a task gets.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub max_rounds: u32,
    /// Let issues of one repository share the summary memory and the index, in the order of the set. Without it each
    /// begins with an empty memory, so that no result depends on the order.
    #[arg(long)]
    pub shared_memory: bool,
}

/// `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A folder of results; may be given several times.
    #[arg(long, value_name = "DIR", required = true)]
    pub out: Vec<PathBuf>,
    /// The set with the references.
    #[arg(long, value_name = "FILE")]
    pub instances: PathBuf,
    /// The folder that holds the repositories: for counting functions, for telling rejected right code, for --recheck
    /// and --resolve. Default: the one the results were made with.
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// A judge's JSON lines (instance_id, resolved); the n-th belongs to the n-th --out. Default: what --resolve left.
    #[arg(long, value_name = "FILE")]
    pub judged: Vec<PathBuf>,
    /// Run this judge on predictions not judged yet: 'CMD --instances FILE --repos DIR --predictions FILE' has to print a
    /// JSON line an instance (instance_id, resolved).
    #[arg(long, value_name = "CMD", conflicts_with = "judged")]
    pub resolve: Option<String>,
    /// Ask 'git apply --check' anew instead of taking what was recorded.
    #[arg(long)]
    pub recheck: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locate`.
#[derive(Debug, Args)]
pub struct LocateSetArgs {
    /// Which issues.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The engine.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// The folder that keeps index and history between calls. Default: one that goes at the end.
    #[arg(long, value_name = "DIR", conflicts_with = "by_description")]
    pub index: Option<PathBuf>,
    /// Measure the ranking without each of its signals, too.
    #[arg(long, conflicts_with = "by_description")]
    pub ablation: bool,
    /// The folder for the results of --by-description.
    #[arg(long, value_name = "DIR", requires = "by_description")]
    pub out: Option<PathBuf>,
    /// The seed of --by-description.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Files of the ranking that are judged by --model or --by-description.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top_k: u32,
    /// Let P3 judge from the descriptions alone, the paper's own way: every ranked file is described, and the answer
    /// decides. Takes minutes an issue; needs --out.
    #[arg(long, requires = "out")]
    pub by_description: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `memory`.
#[derive(Debug, Args)]
pub struct MemoryArgs {
    /// The repository, bare or not; nothing is written into it.
    #[arg(long, value_name = "DIR")]
    pub repo: PathBuf,
    /// The commit whose state is known when the replay begins.
    #[arg(long, value_name = "COMMIT")]
    pub from: String,
    /// How many commits after it are replayed, along the first parents towards HEAD.
    #[arg(long, value_name = "N")]
    pub commits: usize,
    /// Begin with an empty memory instead of one that holds the files as they are at --from.
    #[arg(long)]
    pub cold: bool,
    /// Let the model answer, instead of taking answers of typical length.
    #[arg(long)]
    pub ask: bool,
    /// The engine; without --model nothing is loaded.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `score-tasks`.
#[derive(Debug, Args)]
pub struct ScoreTasksArgs {
    /// A folder of results of 'solve'.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The set with the references; each needs its 'patch'.
    #[arg(long, value_name = "FILE")]
    pub instances: PathBuf,
    /// The model that judges: an id of the catalogue or a GGUF file.
    #[arg(long, value_name = "ID|FILE")]
    pub judge: String,
    /// The folder with the models. Default: that of Magis' usual data folder.
    #[arg(long, value_name = "DIR")]
    pub models_dir: Option<PathBuf>,
    /// The context to load the judge with, in tokens. Default: 16384, or what the memory holds.
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u32>,
}

/// `kill`.
#[derive(Debug, Args)]
pub struct KillArgs {
    /// The program to be killed: 'magis'.
    #[arg(long, value_name = "FILE")]
    pub magis: PathBuf,
    /// The issue of the sample. With several tasks a run is longer.
    #[arg(long, value_name = "NAME", default_value = sample::CATEGORY_CASE.name, value_parser = sample::ISSUES.map(|issue| issue.name))]
    pub issue: String,
    /// How many runs are killed; the points are spread evenly over the calls of a run that nothing disturbs.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub points: usize,
    /// The engine.
    #[command(flatten)]
    pub engine: ModelArgs,
    /// The folder for the runs; what an earlier start left there is replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
