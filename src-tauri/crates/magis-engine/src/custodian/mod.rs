//! The Repository Custodian: what is known of a repository, at any time and without a run. Its search index and history, the ranking
//! of its files for an issue, the summaries of its files, and the watch that keeps all of it right.
//!
//! A run stands on the same index, ranking and summaries; what it makes of them is the runs' business.

pub(crate) mod commit_history;
pub(crate) mod contents;
pub(crate) mod describing;
pub(crate) mod index_session;
pub(crate) mod index_state;
pub(crate) mod locating;
mod memory_file;
mod memory_log;
pub(crate) mod relevance;
mod remembered;
mod repositories;
mod summary_lookup;
pub(crate) mod watch;

pub use contents::SummaryNotNeeded;
pub use index_session::Preparing;
pub use index_state::IndexState;
pub use locating::{LocateExtent, LocateTime, Location, Locator, ModelJudgement, SYMBOLS_TO_JUDGE};
pub use memory_file::{ExportedMemory, ImportedMemory, WithCode};
pub use relevance::Relevance;
pub use remembered::{FileMemory, MemoryDayTotals, MemoryState, Remembered};
pub use watch::{
    IdleReason, MachineUse, SummarisationBudget, SummarisationModel, SummarisationSwitch, Watch, WatchEvent,
    WatchFailure, WatchState,
};
