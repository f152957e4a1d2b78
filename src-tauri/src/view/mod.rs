//! What crosses to the window, one file a feature: plain values with their conversions from the engine's words.
//!
//! Nothing is decided here, and nothing is read but what is passed in. A float that crosses is finite, and TypeScript is
//! told that it is a number: by itself specta adds null, which JSON has for what is not finite.

mod app;
mod call;
mod memory;
mod model;
mod repository;
mod review;
mod run;
mod runs;
mod solve;
mod stage;
mod watch;

pub use app::{
    AppInfo, CloseAnswer, CloseAsked, Density, DoctorLine, FetchRecord, Language, MemoryChanged, ModelsChanged,
    Opening, RepositoriesChanged, RunsChanged, Settings, SettingsChanged, Theme,
};
pub use call::{CallRow, CallText};
pub use memory::{
    MemoryDay, MemoryExportView, MemoryFile, MemoryFileState, MemoryImportView, MemoryReport, SummaryView,
};
pub use model::{FetchNews, MeasuredSpeed, ModelFit, ModelRow, Purpose};
pub use repository::{BaseRequest, BranchName, HeadView, IndexView, MemoryCounts, RepositoryRow, SampleIssue};
pub use review::{
    AppliedKind, AppliedView, ApplyRequest, ConflictView, DiffLine, DiffLineKind, FileDiff, FileDiffKind, FileReview,
    FileTexts, HunkChoice, HunkDecision, HunkView, Identity, PatchView, ReviewState,
};
pub use run::{AttemptView, CandidateState, CandidateView, RoundView, RunFacts, RunView, TaskView, stages};
pub use runs::{
    DeleteTicket, ExportFormat, RunHitView, RunListFilter, RunOrder, RunPage, RunRow, RunStatus, SnippetPart, UsageDay,
};
pub use solve::{Estimate, RunUpdate, SolveForm, SteeringRequest};
pub use stage::StageView;
pub use watch::{Summarising, UnreadableFiles, WaitReason, WatchChanged, WatchView, WatchedIndex};
