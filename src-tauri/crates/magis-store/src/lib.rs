//! What Magis remembers, in one SQLite file of one data folder: repositories, the summary memory, runs with their events
//! and model calls, leases and settings. Start with [`Store`]; each table has its own file with its migration, its row,
//! its reads and its writes.
//!
//! It knows neither git nor the search index, reads no clock (times are milliseconds since 1970-01-01 UTC and are passed
//! in) and folds no events: what a run's log means is the flow's business.

mod applications;
mod archive;
mod call_totals;
mod calls;
mod change_messages;
mod column;
mod connection;
mod diff_size;
mod drafts;
mod erasure;
mod error;
mod events;
mod folder;
mod imports;
mod lease;
mod memory_archive;
mod memory_work;
mod opening;
mod pending_prunings;
mod program_decisions;
mod removals;
mod repositories;
mod repository_removals;
mod reviews;
mod run_beginnings;
mod run_lists;
mod run_pages;
mod run_search;
mod run_tags;
mod run_texts;
mod run_timeline;
mod runs;
mod schema;
mod settings;
mod store;
mod summaries;
mod test_permissions;
mod unconditional_scores;

pub use applications::{ApplyDirection, UnfinishedApplication};
pub use archive::{ArchivedRun, RunArchive};
pub use call_totals::{CallTotals, DayTotals, Speed};
pub use calls::{Call, CallId, CallKind, CallOrigin, CallRecord};
pub use change_messages::StoredChangeMessage;
pub use diff_size::DiffSize;
pub use erasure::Erasure;
pub use error::{ArchiveError, StoreError};
pub use events::StoredEvent;
pub use imports::ImportSource;
pub use lease::{Lease, LeaseError};
pub use memory_archive::{ArchivedCode, MemoryArchive, MemoryFileError, MemoryImport};
pub use memory_work::{DaySpent, MemoryWork, Reuse};
pub use opening::OpenOptions;
pub use pending_prunings::PendingPruning;
pub use program_decisions::KeptDecision;
pub use removals::DeletedRun;
pub use repositories::{NewRepository, RepositoryEntry};
pub use repository_removals::DeletedRepository;
pub use run_lists::{CreationOrder, RunFilter};
pub use run_pages::{ListedRun, RunListPage, RunQuery, Standing};
pub use run_search::{RunHit, RunSearch};
pub use run_texts::{HitPlace, SnippetSpan, TextSource};
pub use runs::{NewRun, Parent, RunEntry, RunOrigin, StoredRun, StoredStatus};
pub use store::{Access, Store};
pub use summaries::{Coverage, Maker, NewSummary, Summary};
pub use test_permissions::{IsolationTerm, TestPermission};
pub use unconditional_scores::UnconditionalScore;
