//! What can go wrong in a run, each with a code, a sentence and a remedy.

use magis_core::text::bytes;
use magis_core::{CheckId, IssueError, PathError, RepoPath, RunId};
use magis_evidence::commands::{CommandError, SelectionError};
use magis_flow::FlowError;
use magis_llm::LlmError;
use magis_models::LibraryError;
use magis_prompts::PromptError;
use magis_remote::{AddressError, KeyError};
use magis_repo::{ReadError, RepoError};
use magis_sandbox::{LayerError, NotIsolated, SandboxError};
use magis_search::SearchError;
use magis_store::{ArchiveError, LeaseError, MemoryFileError, StoreError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the engine could not do something.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The issue is none.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// A path that was given is no path inside a repository.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file that was given is not in the base tree.
    #[error("{path} is not in {base}")]
    NoSuchFile {
        path: RepoPath,
        /// How the base was named.
        base: String,
    },
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// A file of the repository.
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lease of a run.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Model(#[from] LibraryError),
    #[error(transparent)]
    Llm(#[from] LlmError),
    #[error(transparent)]
    EngineAddress(#[from] AddressError),
    #[error(transparent)]
    EngineKey(#[from] KeyError),
    /// A model of an engine that the person did not choose; what a run says of it is no choice.
    #[error("the model {model} is served by the engine at {host}, and that is not the one that is chosen")]
    OtherEngine { model: String, host: String },
    /// The log of a run contradicts itself.
    #[error("run {run} cannot be read: {source}")]
    Log { run: RunId, source: FlowError },
    /// A template cannot be filled.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Too little memory for the model.
    #[error("the model {model} needs {} of memory with a context of {context} tokens, and {} may be taken", bytes(*need), bytes(*available))]
    TooLittleMemory {
        model: String,
        /// The context in tokens.
        context: u32,
        /// Bytes needed.
        need: u64,
        /// Bytes that are available, within the limit that was set.
        available: u64,
    },
    /// The model's context is too small for a step, also at its shortest.
    #[error(
        "{step} needs {prompt} tokens of prompt and {answer} of answer, and the context of the model holds {context}"
    )]
    OverBudget {
        step: String,
        /// Tokens of the shortest prompt.
        prompt: u32,
        /// Tokens of the answer.
        answer: u32,
        /// Tokens of the context.
        context: u32,
    },
    /// The run is over.
    #[error("run {0} is over")]
    RunOver(RunId),
    /// The run has no patch.
    #[error("run {0} has no patch")]
    NoPatch(RunId),
    /// Steering that does not fit the run.
    #[error("run {run} cannot be steered like this: {why}")]
    Steering { run: RunId, why: String },
    /// The repository of a run is gone.
    #[error("the repository of run {run} is not at {root} any more")]
    RepositoryGone { run: RunId, root: String },
    /// The run was made elsewhere, or its repository was removed from the list.
    #[error("run {0} has no repository here")]
    NoRepository(RunId),
    /// Nobody said which repository an imported run is for; these have the commit that it stands on.
    #[error("nobody said which repository the imported run {run} is for; its base is in {}", .roots.join(" and in "))]
    WhichRepository { run: RunId, roots: Vec<String> },
    /// A run is to belong to a repository that it cannot belong to.
    #[error("run {run} cannot belong to the repository at {root}: {why}")]
    OtherRepository { run: RunId, root: String, why: String },
    /// A step gave nothing, and nothing can stand in its place.
    #[error("a step of run {run} gave nothing usable: {why}")]
    Step { run: RunId, why: String },
    /// Hunks that were named do not exist, or a patch is unreadable.
    #[error("the patch of run {run}: {why}")]
    Patch { run: RunId, why: String },
    /// Nothing was applied, so nothing can be undone.
    #[error("run {0} was not applied, or the application was undone already")]
    NotApplied(RunId),
    /// Memory holds nothing of a file.
    #[error("there is no summary of {path}")]
    NothingRemembered { path: RepoPath },
    /// A correction without words.
    #[error("a summary cannot be empty")]
    EmptySummary { path: RepoPath },
    /// A memory file that is not taken in.
    #[error(transparent)]
    MemoryFile(#[from] MemoryFileError),
    /// The model gave no usable summary.
    #[error("the model gave no usable summary of {path}: {why}")]
    Summary { path: RepoPath, why: String },
    /// Commands cannot be isolated on this machine, and a person has not allowed running them otherwise.
    #[error("commands cannot be isolated from this machine: {0}")]
    NotIsolated(#[from] NotIsolated),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// What a command was to change, or wrote.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// A line that is no test command.
    #[error(transparent)]
    TestCommand(#[from] CommandError),
    /// Tests that a command cannot be narrowed down to.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Code that a person wanted to run on the trees of a run.
    #[error("nothing of run {run} was run: {why}")]
    NotRun { run: RunId, why: NotRunReason },
    /// Neither `--data-dir`, `XDG_DATA_HOME` nor `HOME` is there.
    #[error("there is no place for the data folder: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// A folder for our data that holds other things.
    #[error("the folder {} holds '{name}', which is not of this program, and none of its data", .folder.display())]
    DataFolderTaken { folder: PathBuf, name: String },
    /// A folder for our data that other people may change.
    #[error("the data folder {} belongs to somebody else, or others may write in it", .0.display())]
    DataFolderOpen(PathBuf),
    #[error("could not {attempt} {}: {source}", .path.display())]
    Io {
        attempt: &'static str,
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl EngineError {
    pub(crate) fn io(attempt: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { attempt, path, source }
    }

    /// That it was broken off on request.
    pub fn cancelled() -> Self {
        Self::Llm(LlmError::Cancelled)
    }

    /// Returns whether it was broken off on request.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Llm(LlmError::Cancelled))
    }

    /// Returns what a person can do, in a sentence; empty where the message says it all.
    pub fn remedy(&self) -> String {
        match self {
            Self::Issue(_) | Self::Path(_) | Self::Prompt(_) | Self::Search(_) | Self::Layer(_) | Self::TestCommand(_) | Self::Selection(_) => {
                String::new()
            }
            Self::Model(LibraryError::NotInstalled { id, .. }) => format!("download it with 'magis models fetch {id}'"),
            Self::Model(LibraryError::NotInLibrary { .. }) => {
                "run it again with a model that is here: 'magis rerun RUN --from STAGE --model MODEL'; a file of your own is added with 'magis models add FILE'".to_owned()
            }
            Self::Model(_) => "see 'magis models list' for what is here and what can be downloaded".to_owned(),
            Self::NoSuchFile { .. } => "give paths relative to the repository's root, as git lists them".to_owned(),
            Self::Repo(error) => error.remedy().to_owned(),
            Self::Read(_) => "choose another file, or leave this one out".to_owned(),
            Self::Store(error) => error.remedy(),
            Self::Lease(error) => error.remedy(),
            Self::Archive(_) => "export the run again with this version of Magis".to_owned(),
            Self::Llm(LlmError::OverContext { .. }) | Self::OverBudget { .. } => {
                "take a model with a larger context, a shorter issue, or fewer hints".to_owned()
            }
            Self::Llm(_) => "see 'magis doctor'; the run can be resumed".to_owned(),
            Self::EngineAddress(_) | Self::EngineKey(_) => String::new(),
            Self::OtherEngine { host, .. } => format!(
                "name that engine with '--engine http://{host}' if prompts may go there, or run it again with a model that is here: 'magis rerun RUN --from STAGE --model MODEL'"
            ),
            Self::Log { .. } => "export the run and report it; other runs are not affected".to_owned(),
            Self::TooLittleMemory { .. } => {
                "close other programs, allow more with --memory where it was given, or take a smaller model".to_owned()
            }
            Self::RunOver(run) => format!("run it again with 'magis rerun {run} --from STAGE'"),
            Self::NoPatch(run) => format!("see 'magis runs show {run}' for how it ended"),
            Self::NotRun { why, .. } => why.remedy().to_owned(),
            Self::Steering { .. } => "see 'magis runs show' for its files and tasks".to_owned(),
            Self::Step { .. } => "resume the run with another model or seed: 'magis rerun'".to_owned(),
            Self::NoRepository(run) | Self::WhichRepository { run, .. } => format!(
                "say which one with --repo, as in 'magis apply {run} --repo DIR', \
                 or write the patch to a file instead: 'magis apply {run} --patch FILE'"
            ),
            Self::RepositoryGone { run, .. } | Self::OtherRepository { run, .. } => {
                format!("write the patch to a file instead: 'magis apply {run} --patch FILE'")
            }
            Self::Patch { run, .. } => format!("see its hunks with 'magis runs show {run} --patch'"),
            Self::NotApplied(_) => "see 'magis runs list' for runs with an applied patch".to_owned(),
            Self::NothingRemembered { .. } => "a run that reads the file summarises it".to_owned(),
            Self::EmptySummary { .. } => "write what the file is for, or drop the summary".to_owned(),
            Self::MemoryFile(error) => error.remedy().to_owned(),
            Self::Summary { .. } => "try again, or with another model".to_owned(),
            Self::NotIsolated(missing) => missing.remedy().to_owned(),
            Self::Sandbox(_) => "see 'magis doctor' for what this machine can do".to_owned(),
            Self::NoHome => "set HOME, or give --data-dir".to_owned(),
            Self::DataFolderTaken { .. } => "give an empty folder, or one that is not there yet, with --data-dir".to_owned(),
            Self::DataFolderOpen(folder) => format!(
                "make it yours alone, with 'chown' and 'chmod go-w {}', or give another folder with --data-dir",
                folder.display()
            ),
            Self::Io { .. } => "check the path, its permissions and the free space of its disk".to_owned(),
        }
    }
}

/// Says why code that a person wanted to run on the trees of a run was not run.
#[derive(Debug, Error)]
pub enum NotRunReason {
    #[error("it has no check {0}")]
    NoCheck(CheckId),
    /// The repository does not have the commit that the run stands on.
    #[error("its base tree is not here")]
    NoBase,
    /// The program makes other checks of the issue now.
    #[error("the issue does not give this check any more")]
    CheckGone,
    /// A check that stands on tests of the project is run as it is.
    #[error("a test of the project is edited in the project")]
    ProjectTest,
    #[error("the tests that it stands on could not be run: {0}")]
    Tests(String),
    #[error("the run was asked to run nothing")]
    NotAsked,
    /// A person did not allow it.
    #[error("running {0} is not allowed in this repository")]
    NotAllowed(String),
    /// Without isolation a person allowed the test command, and nothing that an issue shows.
    #[error("{0}")]
    OnlyCommand(String),
    #[error("this program was started without its sandbox")]
    NoSandbox,
    #[error("this machine cannot isolate what is run: {0}")]
    NotIsolated(NotIsolated),
}

impl NotRunReason {
    /// Returns what a person can do, in a sentence; empty where the message says it all.
    fn remedy(&self) -> &'static str {
        match self {
            Self::NoCheck(_) => "choose one of the checks that the run has",
            Self::NoBase => "fetch the commit that the run stands on into its repository",
            Self::CheckGone => "run the script yourself, or begin a new run of the issue, which makes its checks anew",
            Self::ProjectTest => "run the check as it is; for another test, edit it in the project and begin a new run",
            Self::Tests(_) => "run the tests yourself",
            Self::NotAsked => "begin a new run that may run the tests",
            Self::NotAllowed(_) => "allow the test command where the run is begun, or run the script yourself",
            Self::OnlyCommand(_) => "",
            Self::NoSandbox => "start the program again, or run the script yourself",
            Self::NotIsolated(missing) => missing.remedy(),
        }
    }
}
