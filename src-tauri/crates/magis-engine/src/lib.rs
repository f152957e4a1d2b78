//! Carries out what the flow asks for: the four kinds of agents at work on a repository, a model and a memory.
//!
//! Start with [`Magis`]: open a data folder, [`Magis::prepare`] a run, [`Magis::drive`] it. Four parts stand on one another,
//! and `cargo xtask layers` holds that: `calls` makes every model call; `custodian` is everything that needs no run;
//! `evidence` runs commands in the sandbox; `runs` is the rest. This crate knows no terminal and no window: both follow a run through [`Progress`], and [`transcript`] renders it
//! as text for either.

mod abilities;
mod calls;
mod custodian;
mod data_folder;
mod error;
mod evidence;
mod limits;
mod logging;
mod magis;
mod other_engine;
mod progress;
mod record_queries;
mod report;
mod runs;
mod whole_file;

pub use abilities::{ModelAbilities, RightAnswers};
pub use calls::stage_of_step;
pub use custodian::{
    ExportedMemory, FileMemory, IdleReason, ImportedMemory, IndexState, LocateExtent, LocateTime, Location, Locator,
    MachineUse, MemoryDayTotals, MemoryState, ModelJudgement, Preparing, Relevance, Remembered, SYMBOLS_TO_JUDGE,
    SummarisationBudget, SummarisationModel, SummarisationSwitch, SummaryNotNeeded, Watch, WatchEvent, WatchFailure,
    WatchState, WithCode,
};
pub use data_folder::DataFolder;
pub use error::{EngineError, NotRunReason};
pub use limits::{EngineLimits, USUAL_CONTEXT};
pub use logging::{LogGuard, start_log};
pub use magis::Magis;
pub use other_engine::{ConnectedEngine, LoadedModel, OtherEngine};
pub use progress::Progress;
pub use runs::{
    Application, AppliedRun, ApplyTarget, BrokenOffApplication, BrokenOffOutcome, DataCheck, DriveEnd, Effort, Eta,
    Prepared, Review, RunTexts, SolveRequest, StageTimes, Steering, TriedCheck, Worked, check_data, transcript,
};
pub use whole_file::write_whole;

/// The model as a front end meets it: loaded in a worker process, or given.
pub mod model {
    pub use magis_llama::{LoadRequest, Manners, Priority, WorkerCommand, WorkerModel, worker};
    pub use magis_llm::memory::KvType;
    pub use magis_llm::placement::Loading;
    pub use magis_llm::protocol::{Loaded, Placed, Without};
    pub use magis_llm::{LanguageModel, LlmError};
    pub use magis_remote::{
        Abilities, AddressError, Constraining, Continuing, Counting, EngineAddress, EngineKey, EngineModel,
        KEY_VARIABLE, KeyError, KeySource, Scoring, ServerKind,
    };
}

/// The models that are here, and those that can be fetched.
pub mod models {
    pub use magis_models::{
        CatalogEntry, FetchError, FetchFrom, FetchOptions, FetchPhase, FetchProgress, FetchSource, FetchedModel, Fit,
        Hub, HubAccess, HubError, HubListing, HubModel, HubName, HubNameError, HubOrigin, HubPath, InstalledModel,
        LibraryError, MINIMUM_CONTEXT, MemoryClass, MemoryNeed, ModelFile, ModelId, ModelIdError, ModelLibrary,
        ModelPurpose, SizeFit, Suggestion, Verification, fits,
    };
}

/// Running commands in the sandbox.
pub mod sandbox {
    pub use crate::evidence::{ScratchFolder, Toolchains};
    pub use magis_sandbox::{
        Captured, End, HelperCommand, Isolation, IsolationPart, Limits, NotIsolated, Outcome, Refused, Sandbox,
        SandboxError, SandboxJob, ScratchLayer, helper,
    };
}

/// The tests of a repository: their commands, running them, their results.
pub mod tests {
    pub use crate::evidence::{Checkout, TestsRun};
    pub use magis_evidence::commands::{CommandError, SelectionError, TestCommand, TestRunner, TestSelection};
    pub use magis_evidence::results::{
        Comparison, Completeness, FailureText, TestCounts, TestId, TestOutcome, TestResults, TestStatus, compare,
        wavering,
    };
    pub use magis_store::{IsolationTerm, TestPermission};
}

/// The person's repository: its state, its changes, and patches.
pub mod repository {
    pub use magis_repo::{
        Applied, BaseChoice, ChangedPaths, Committer, Conflict, DecidedProgram, FileEntry, FilePatch, FilePatchKind,
        Git, GitPart, GitWorker, HeadMove, HeadPlace, HeadState, Hunk, HunkNumber, Patch, PatchError, ProgramDecision,
        ProgramPurpose, ReadError, RepoChange, RepoError, Repository, RepositoryProgram, RepositoryState, Selection,
        WatchOptions, WhyPolling, blob_of, serve_git, text_diff,
    };
}

/// What is kept of runs, repositories and memory.
pub mod records {
    pub use magis_store::{
        Access, ArchiveError, Call, CallId, CallKind, CallOrigin, CallRecord, CallTotals, Coverage, CreationOrder,
        DayTotals, DeletedRepository, DeletedRun, Erasure, ImportSource, Lease, LeaseError, ListedRun, MemoryFileError,
        RepositoryEntry, Reuse, RunEntry, RunFilter, RunHit, RunListPage, RunOrigin, RunQuery, RunSearch, SnippetSpan,
        Speed, Standing, StoreError, StoredEvent, StoredRun, StoredStatus, Summary, TextSource,
    };
}

/// The state of a run: the fold of its log.
pub mod state {
    pub use magis_flow::{Attempt, AttemptState, RoundState, Run, TaskState};
}

/// What files are ranked by.
pub mod ranking {
    pub use magis_search::{Retention, ScoredSymbol, Signal, Signals};
}
