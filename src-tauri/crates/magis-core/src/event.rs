//! The facts a run consists of. They are appended to the store before they are acted upon; nothing else is state.

use crate::change_tests::is_zero;
use crate::{
    AttemptGain, AttemptNumber, BaseTests, BlobId, BugCheck, Candidate, ChangeTests, CommitId, Description, Edit,
    FileAction, FileChange, FileTask, Finding, Hint, HunkNeed, Judgement, LineSpan, Plan, RepoPath, Role, Round,
    RunOutcome, RunRequest, SkippedFile, Speech, Stage, TaskId, TaskOutcome, TreeId, Verdict, WritingMode,
};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// What happened. Named in the past; the order in the log is the order in which it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "event", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunEvent {
    /// The run began: always the first event.
    RunStarted {
        /// What was asked for.
        request: Box<RunRequest>,
        /// The tree the run reads.
        base: Base,
    },
    /// The issue was measured against the model's context.
    IssueRead {
        /// What the agents read where the whole is too long for the model; the whole stays in the request.
        condensed: Option<String>,
        /// Tokens of the whole.
        tokens_before: u32,
        /// Tokens of what is read.
        tokens_after: u32,
    },
    /// What shows the fault was looked for, run on the base, and kept where it fails there as the issue says.
    FaultShown {
        /// What fails on the base because of the fault; empty where nothing was found.
        checks: Vec<BugCheck>,
        /// Why there is nothing, or not more, a sentence each.
        remarks: Vec<String>,
    },
    /// A QA Engineer wrote tests out of the issue; those are kept that fail on the base for the reason it gives.
    TestsWritten {
        checks: Vec<BugCheck>,
        /// Why there is nothing, or not more, a sentence each.
        remarks: Vec<String>,
    },
    /// The Custodian ranked the files (algorithm 1, the top k), or took the given ones.
    CandidatesRanked {
        candidates: Vec<Candidate>,
        /// Files that could not be read.
        skipped: Vec<SkippedFile>,
    },
    /// The Custodian judged them (P3): fused, best first.
    RelevanceJudged {
        judgements: Vec<Judgement>,
    },
    /// A kept candidate was described from memory or anew (P1, P2).
    FileDescribed {
        description: Description,
    },
    /// P4 gave a task.
    TaskDefined {
        task: FileTask,
    },
    /// P4 found nothing to do in this file; it is dropped.
    TaskDeclined {
        path: RepoPath,
        /// Why, in a sentence.
        reason: String,
    },
    /// P5 gave the Developer of a task.
    RoleDefined {
        task: TaskId,
        role: Role,
    },
    /// Somebody spoke in the kick-off meeting.
    Spoken {
        /// Who, when and what.
        speech: Speech,
    },
    /// P6: a Developer revised its role after the meeting.
    RoleRevised {
        task: TaskId,
        /// The role from now on.
        role: Role,
    },
    /// P7: the plan.
    PlanMade {
        plan: Plan,
    },
    /// P8: the Developer wrote the role of its QA Engineer.
    ReviewerDefined {
        task: TaskId,
        role: Role,
    },
    /// P9: the lines to change.
    LinesChosen {
        task: TaskId,
        round: Round,
        /// The symbols they lie in, as scored.
        symbols: Vec<String>,
        /// The lines of the base version.
        spans: Vec<LineSpan>,
        /// Further places that are tried instead of this one, the likeliest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<CodePlace>,
        /// How many answers are asked for, where fewer do than the request allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<u32>,
    },
    /// The tests nearest to the change were run on the base, twice.
    BaseTested {
        tests: Box<BaseTests>,
    },
    /// P10: code was written and spliced; what programs found in it stands beside.
    CodeWritten {
        task: TaskId,
        round: Round,
        /// Which answer of the round.
        #[serde(rename = "candidate")]
        attempt: AttemptNumber,
        /// What is wrong, in a sentence or two.
        #[serde(rename = "fault")]
        diagnosis: String,
        /// The change against the base version.
        change: FileChange,
        findings: Vec<Finding>,
        /// Which of the round's places it is at, from 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        place: u32,
        /// How it was asked for.
        #[serde(default, skip_serializing_if = "WritingMode::is_definition")]
        mode: WritingMode,
        /// The earlier attempt whose code it repeats; that one has its vote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        same_as: Option<(Round, AttemptNumber)>,
    },
    /// P10 gave nothing that could be spliced.
    CodeFailed {
        task: TaskId,
        round: Round,
        /// Which answer of the round.
        #[serde(rename = "candidate")]
        attempt: AttemptNumber,
        /// Why, in a sentence.
        reason: String,
    },
    /// The checks and the tests were run on the tree with an attempt.
    AttemptTested {
        task: TaskId,
        round: Round,
        attempt: AttemptNumber,
        result: Box<ChangeTests>,
    },
    /// How likely the code is with the attempts of a round that pass, and that what was run does not tell apart; one where it passes alone.
    AttemptsCompared {
        task: TaskId,
        round: Round,
        gains: Vec<AttemptGain>,
    },
    /// P11: the QA Engineer reviewed.
    Reviewed {
        task: TaskId,
        round: Round,
        /// Which answer of the round.
        #[serde(rename = "candidate")]
        attempt: AttemptNumber,
        verdict: Verdict,
    },
    /// A task is over.
    TaskClosed {
        task: TaskId,
        outcome: TaskOutcome,
    },
    /// What a change can do without was taken out of it: the checks and tests say the same of what is left.
    Minimised {
        task: TaskId,
        change: FileChange,
        /// How many of its hunks were dropped, of how many.
        dropped: u32,
        hunks: u32,
        /// What needs each hunk that is left, as far as it was tried without it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needed: Vec<HunkNeed>,
    },
    /// All changes were merged into one tree.
    Merged {
        /// What came of it.
        result: MergeResult,
    },
    /// The checks and the tests were run on the merged tree.
    PatchTested {
        result: Box<ChangeTests>,
    },
    /// The run is over.
    RunEnded {
        outcome: RunOutcome,
    },

    /// A person dropped a candidate.
    CandidateDropped {
        path: RepoPath,
    },
    /// A person added a candidate.
    CandidateAdded {
        path: RepoPath,
        /// Its blob in the base tree.
        blob: BlobId,
    },
    /// A person rewrote a task.
    TaskEdited {
        task: TaskId,
        /// What happens to the file.
        action: FileAction,
        /// What has to be done.
        description: String,
    },
    /// A person rewrote a Developer's role.
    RoleEdited {
        task: TaskId,
        /// The role from now on.
        role: Role,
    },
    /// A person took an attempt; its task ends with it.
    AttemptTaken {
        task: TaskId,
        round: Round,
        attempt: AttemptNumber,
    },
    /// A person gave a hint; it reaches what is still to be done.
    HintAdded {
        hint: Hint,
    },
    /// The run was paused or stopped at this point; both can be resumed.
    Paused {
        /// Why: a person asked, or what went wrong and can be mended.
        reason: String,
    },
    Resumed,
    /// Something a person should know, that changes nothing in the state.
    Noticed {
        notice: Notice,
    },
}

/// Lines to change that stand together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CodePlace {
    /// The symbols they lie in, as scored.
    pub symbols: Vec<String>,
    /// The lines of the base version.
    pub spans: Vec<LineSpan>,
}

/// The tree a run reads, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Base {
    /// The commit it stands on.
    pub commit: CommitId,
    /// The tree: the commit's own, or one that holds uncommitted work as well.
    pub tree: TreeId,
    /// Whether uncommitted work is in it.
    pub uncommitted: bool,
    /// How it was named: `HEAD`, a branch, a revision.
    pub name: String,
}

/// The repository-level change 𝒟.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MergeResult {
    /// The tree with all changes.
    pub tree: TreeId,
    /// The diff of the two trees, in git's form.
    pub patch: String,
    /// A drafted commit message.
    pub commit_message: String,
    /// A drafted pull-request text.
    pub pull_request: String,
}

/// What was left out, replaced or repeated; nothing of that kind happens silently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// A text did not fit and was shortened or skeletonised.
    Shortened {
        step: String,
        what: String,
        /// Tokens before.
        tokens_before: u32,
        /// Tokens after.
        tokens_after: u32,
    },
    /// A reply was unusable and was asked for again.
    Retried {
        step: String,
        /// What was wrong with the reply.
        why: String,
    },
    /// A step gave nothing usable, also when asked again; what stands in its place.
    Replaced {
        step: String,
        why: String,
        /// What is used instead.
        instead: String,
    },
    /// The engine's worker process ended unexpectedly and was started again.
    WorkerRestarted {
        /// What it said last.
        why: String,
    },
}

impl RunEvent {
    /// The names of all events, as the log has them.
    pub const NAMES: &'static [&'static str] = Self::VARIANTS;

    /// Returns its name in the log.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Returns the stage whose work this is; none for steering and control, which can come at any time.
    pub fn stage(&self) -> Option<Stage> {
        match self {
            Self::FaultShown { .. } => Some(Stage::Evidence),
            // They are written when the files are known.
            Self::TestsWritten { .. }
            | Self::RunStarted { .. }
            | Self::IssueRead { .. }
            | Self::CandidatesRanked { .. }
            | Self::RelevanceJudged { .. }
            | Self::FileDescribed { .. } => Some(Stage::Locate),
            Self::TaskDefined { .. } | Self::TaskDeclined { .. } | Self::RoleDefined { .. } => Some(Stage::Team),
            Self::Spoken { .. } | Self::RoleRevised { .. } => Some(Stage::Meeting),
            Self::PlanMade { .. } => Some(Stage::Plan),
            Self::ReviewerDefined { .. }
            | Self::LinesChosen { .. }
            | Self::BaseTested { .. }
            | Self::CodeWritten { .. }
            | Self::CodeFailed { .. }
            | Self::AttemptTested { .. }
            | Self::AttemptsCompared { .. }
            | Self::Minimised { .. }
            | Self::Reviewed { .. }
            | Self::TaskClosed { .. } => Some(Stage::Code),
            Self::Merged { .. } | Self::PatchTested { .. } | Self::RunEnded { .. } => Some(Stage::Merge),
            Self::CandidateDropped { .. }
            | Self::CandidateAdded { .. }
            | Self::TaskEdited { .. }
            | Self::RoleEdited { .. }
            | Self::AttemptTaken { .. }
            | Self::HintAdded { .. }
            | Self::Paused { .. }
            | Self::Resumed
            | Self::Noticed { .. } => None,
        }
    }
}

impl FileChange {
    /// Returns the edits of the existing lines; none for a file that is created or deleted.
    pub fn edits(&self) -> &[Edit] {
        match self {
            Self::Modify { edits } | Self::Rename { edits, .. } => edits,
            Self::Create { .. } | Self::Delete => &[],
        }
    }
}
