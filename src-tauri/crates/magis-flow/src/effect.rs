//! What a run wants done. Effects are data; the engine carries them out and reports events.

use magis_core::{AttemptNumber, RepoPath, Round, RunEvent, Stage, TaskId};

/// One step of the method.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Measure the issue, condense it if the model's context asks for it.
    ReadIssue,
    /// Look for what shows the fault, and run it on the base.
    ShowFault,
    /// Ask a QA Engineer for tests that show the fault.
    WriteTests,
    /// Rank the files of the base tree against the issue (algorithm 1).
    Rank,
    /// Judge the ranked files (P3).
    Judge,
    /// Describe one kept file from memory or anew (P1, P2).
    Describe(RepoPath),
    /// P4 for one file.
    DefineTask(RepoPath, TaskQuestion),
    /// P5 for one task.
    DefineRole(TaskId),
    /// The Manager opens the meeting.
    OpenMeeting,
    Speak(TaskId),
    /// The Manager sums up.
    SumUp,
    /// P6 for one Developer.
    ReviseRole(TaskId),
    /// P7.
    MakePlan,
    /// P8 for one task.
    DefineReviewer(TaskId),
    /// P9.
    ChooseLines(TaskId, Round),
    /// Run the tests nearest to the changes on the base.
    TestBase,
    /// P10, the splice and the checks by program.
    WriteCode(TaskId, Round, AttemptNumber),
    /// Run checks and tests on the tree with an attempt.
    TestAttempt(TaskId, Round, AttemptNumber),
    /// Ask the model how likely the code is with each of the best attempts of a round that pass.
    CompareAttempts(TaskId, Round),
    /// P11.
    Review(TaskId, Round, AttemptNumber),
    /// Take out of the change of a task what it can do without.
    Minimise(TaskId),
    /// One tree, one diff, a message.
    Merge,
    /// Run checks and tests on the merged tree.
    TestPatch,
    /// A decision of the flow itself, to be recorded as it stands: all of its events, or none.
    Record(Vec<RunEvent>),
}

/// How P4 is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskQuestion {
    /// "Nothing to do here" is a possible answer.
    Openly,
    /// What is to be done is asked, not whether: of the best candidate, which gets a task in any case.
    Insisting,
}

impl Effect {
    /// Returns whether its prompts say what a task is, or who its Developer is.
    pub fn reads_task(&self, task: TaskId) -> bool {
        match self {
            Self::DefineRole(of)
            | Self::Speak(of)
            | Self::ReviseRole(of)
            | Self::DefineReviewer(of)
            | Self::ChooseLines(of, _)
            | Self::WriteCode(of, ..)
            | Self::CompareAttempts(of, _)
            | Self::Review(of, ..) => *of == task,
            Self::OpenMeeting | Self::SumUp | Self::MakePlan | Self::Merge => true,
            Self::ReadIssue
            | Self::ShowFault
            | Self::WriteTests
            | Self::Rank
            | Self::Judge
            | Self::Describe(_)
            | Self::DefineTask(..)
            | Self::TestBase
            | Self::TestAttempt(..)
            | Self::Minimise(_)
            | Self::TestPatch
            | Self::Record(_) => false,
        }
    }

    /// Returns the stage it belongs to.
    pub fn stage(&self) -> Stage {
        match self {
            Self::ShowFault => Stage::Evidence,
            Self::WriteTests | Self::ReadIssue | Self::Rank | Self::Judge | Self::Describe(_) => Stage::Locate,
            Self::DefineTask(..) | Self::DefineRole(_) => Stage::Team,
            Self::OpenMeeting | Self::Speak(_) | Self::SumUp | Self::ReviseRole(_) => Stage::Meeting,
            Self::MakePlan => Stage::Plan,
            Self::DefineReviewer(_)
            | Self::ChooseLines(..)
            | Self::TestBase
            | Self::WriteCode(..)
            | Self::TestAttempt(..)
            | Self::CompareAttempts(..)
            | Self::Review(..)
            | Self::Minimise(_) => Stage::Code,
            Self::Merge | Self::TestPatch => Stage::Merge,
            Self::Record(events) => events.first().and_then(RunEvent::stage).unwrap_or(Stage::Merge),
        }
    }
}
