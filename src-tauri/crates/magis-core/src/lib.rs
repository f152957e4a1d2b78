//! The words every other crate speaks: ids, paths, spans, issues, tasks, plans, verdicts and the events of a run.
//!
//! Start with [`RunEvent`]: a run is a log of these, and its state is their fold (`magis-flow`).
//! This crate does no I/O, reads no clock and knows no async runtime; whatever needs those passes the result in.

mod candidate;
mod change;
mod change_tests;
mod event;
mod foreign;
mod id;
mod issue;
mod log_format;
mod meeting;
mod outcome;
mod past;
mod path;
mod plan;
mod request;
mod span;
mod task;
mod testing;
pub mod text;
mod verdict;

pub use candidate::{Candidate, Description, DescriptionSource, Evidence, Judgement, SkipReason, SkippedFile};
pub use change::{ChangeError, Edit, FileChange};
pub use change_tests::{
    AsTestTrouble, AttemptGain, ChangeTests, CheckAsTest, CheckRun, CheckState, FailingTest, HunkNeed, Proof,
    TestsOnChange,
};
pub use event::{Base, CodePlace, MergeResult, Notice, RunEvent};
pub use foreign::harmless_name;
pub use id::{Agent, AttemptNumber, BlobId, CommitId, RepoId, Round, RunId, Stage, TaskId, TreeId};
pub use issue::{Hint, Issue, IssueError};
pub use log_format::{LOG_VERSION, LogFormatError, read_event, read_request, upcast_event, upcast_request};
pub use meeting::{Speaker, Speech, Turn};
pub use outcome::RunOutcome;
pub use past::PastCommit;
pub use path::{PathError, RepoPath};
pub use plan::{Plan, PlanError, PlanStep};
pub use request::{
    HintsMode, IssueChecks, MethodPart, QaMode, RelevanceMode, RunRequest, TestLine, TestsMode, WritingMode, model_at,
    model_host, model_label,
};
pub use span::{LineSpan, SpanError};
pub use task::{FileAction, FileTask, Role, TaskOutcome};
pub use testing::{
    BaseTests, BugCheck, CheckId, CheckSource, ExcerptedOutput, FunctionAt, Grade, MOST_ENTERED, ProgramRun,
    RunningCode, TestName, entered_by_all,
};
pub use verdict::{Decision, Finding, ModelReview, Verdict};
