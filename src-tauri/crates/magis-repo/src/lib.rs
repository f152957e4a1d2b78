//! Git as a run sees it: the state of a repository, a snapshot to read, a patch made of two trees, and its application
//! when a person asks for it.
//!
//! Start with [`Git::open`], then [`Snapshot::take`]; [`apply_changes`] gives the result tree and its patch;
//! [`plan_worktree`] and [`plan_branch`] plan how that gets into the user's repository, and [`PlannedChange::carry_out`],
//! [`undo`] and [`settle`] alone write there (of a branch, the plan has written the commit). Everything before writes
//! into an [`ObjectStore`] of our own. What strangers wrote is read by a process that can be lost, see `reading`.
//! This crate knows no model, no SQLite and no network, never moves `HEAD` and never touches the index.

mod applied;
mod apply;
mod branch;
mod changes;
mod check_out;
mod conflict;
mod diff;
mod error;
mod git;
mod hook;
mod in_use;
mod listed;
mod located;
mod ordinary;
mod past;
mod patch;
mod place;
mod planned;
mod program;
mod prune;
mod read_ahead;
mod reading;
mod references;
mod replace;
mod repository;
mod repository_program;
mod root;
mod settle;
mod slow_rules;
mod snapshot;
mod source;
mod state;
mod stop;
mod store;
mod tree;
mod tree_entry;
mod tree_walk;
mod undo;
mod watch;
mod watcher_event;
mod why_polling;
mod work_tree;
mod worker;

pub use applied::{Applied, AppliedFile, FileContent, FileState};
pub use apply::{conflicts, plan_worktree};
pub use branch::{BranchCommit, Committer, plan_branch, programs_for_commit};
pub use changes::apply_changes;
pub use conflict::{Conflict, ConflictReason};
pub use diff::{DiffStat, diff_stat, edits_between, text_diff};
pub use error::{GitMessage, ReadError, RepoError};
pub use git::Git;
pub use listed::{BaseChoice, FileEntry, FileMode, Listed};
pub use past::Walked;
pub use patch::{FilePatch, FilePatchKind, Hunk, HunkNumber, Patch, PatchError, Selection};
pub use planned::PlannedChange;
pub use prune::{Pruning, prune, remove_remains, remove_store};
pub use read_ahead::ReadAhead;
pub use reading::MOST_CHANGED;
pub use repository::Repository;
pub use repository_program::{DecidedProgram, ProgramDecision, ProgramPurpose, RepositoryProgram};
pub use settle::{Settled, settle};
pub use snapshot::Snapshot;
pub use source::{LineEnding, MAX_FILE_BYTES, SourceText};
pub use state::{Cleanliness, HeadState, Operation, RepositoryState};
pub use store::{ObjectStore, blob_of};
pub use undo::{can_undo, undo};
pub use watch::Watcher;
pub use watcher_event::{ChangedPaths, GitPart, HeadMove, HeadPlace, RepoChange, WatchOptions, WatcherEvent};
pub use why_polling::WhyPolling;
pub use work_tree::{WorkReader, WorkText, WorkTree};
pub use worker::{GitWorker, serve_git};
