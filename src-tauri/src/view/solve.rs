//! Beginning a run, intervening in it, and following it.

use super::repository::BaseRequest;
use super::run::RunView;
use crate::problem::Problem;
use magis_core::{
    Agent, AttemptNumber, Hint, HintsMode, IssueChecks, QaMode, RelevanceMode, RepoId, Role, Round, RunningCode, Stage,
    TaskId, TestLine, TestsMode,
};
use magis_engine::{SolveRequest, Steering};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a person filled in to begin a run; also kept as the draft of the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SolveForm {
    pub repo: RepoId,
    pub issue: String,
    pub comments: String,
    /// The output of a failing run.
    pub failing_log: String,
    /// What the run is based on.
    pub base: BaseRequest,
    /// The model; none: the default one.
    pub model: Option<String>,
    /// The files, where they are given.
    pub files: Vec<String>,
    pub seed: u64,
    /// How many files of the ranking are judged.
    pub top_k: u32,
    /// Rounds a task gets.
    pub max_rounds: u32,
    /// Whether QA Engineers review.
    pub qa: bool,
    /// Answers of a round.
    #[serde(default = "one")]
    pub attempts: u32,
    /// Places that they are shared out over.
    #[serde(default = "one")]
    pub places: u32,
    /// Whether what the issue shows and the project's tests are run.
    #[serde(default)]
    pub tests: TestsChoice,
    /// Tests of the repository that fail because of the issue, as the runner takes them.
    #[serde(default)]
    pub failing_tests: Vec<String>,
}

fn one() -> u32 {
    1
}

/// Whether a run runs code, as a person chose it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TestsChoice {
    #[default]
    Skip,
    /// What the issue shows alone, where the repository has no test command.
    IssueCode,
    /// By a command that is allowed in the repository.
    Run { command: TestLine },
}

impl SolveForm {
    /// Returns whether its tasks get one round only.
    pub fn is_quick(&self) -> bool {
        self.max_rounds == 1
    }

    /// Returns whether it runs code.
    pub fn runs_code(&self) -> bool {
        self.tests != TestsChoice::Skip
    }

    /// Returns the same for the engine, in the repository at `root` and with `model` where none is chosen.
    pub fn request(self, root: PathBuf, model: Option<String>) -> SolveRequest {
        let said = |text: String, hint: fn(String) -> Hint| (!text.trim().is_empty()).then(|| hint(text));
        let hints = [
            said(self.comments, Hint::Comments),
            said(self.failing_log, Hint::FailingLog),
        ];
        let run = |command, failing| TestsMode::Run {
            command,
            failing,
            checks: IssueChecks::Make,
        };
        SolveRequest {
            repository: root,
            base: self.base.into(),
            issue: self.issue,
            hints: hints.into_iter().flatten().collect(),
            hints_mode: HintsMode::Use,
            files: self.files,
            model: self.model.or(model),
            seed: self.seed,
            top_k: self.top_k,
            max_rounds: self.max_rounds,
            attempts: self.attempts,
            places: self.places,
            writing: Vec::new(),
            tests: match self.tests {
                TestsChoice::Skip => TestsMode::Skip,
                TestsChoice::IssueCode => run(None, Vec::new()),
                TestsChoice::Run { command } => run(Some(command), self.failing_tests),
            },
            qa: if self.qa { QaMode::Review } else { QaMode::Skip },
            relevance: RelevanceMode::Code,
            without: BTreeSet::new(),
        }
    }
}

/// How long a run takes, from runs like it on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Type)]
pub struct Estimate {
    /// Seconds; none where no run says it.
    #[specta(type = Option<u32>)]
    pub seconds: Option<f64>,
    /// How many runs say so.
    pub from_runs: u32,
}

/// An intervention in a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SteeringRequest {
    Drop {
        path: String,
    },
    Add {
        path: String,
    },
    EditTask {
        task: TaskId,
        /// What has to be done.
        description: String,
    },
    /// Rewrite a Developer's role.
    EditRole {
        task: TaskId,
        role: Role,
    },
    Hint {
        text: String,
    },
    /// Speak in the meeting.
    Speak {
        text: String,
    },
    /// Take an answer; its task ends with it.
    TakeAttempt {
        task: TaskId,
        round: u32,
        attempt: u32,
    },
}

impl From<SteeringRequest> for Steering {
    fn from(request: SteeringRequest) -> Self {
        match request {
            SteeringRequest::Drop { path } => Self::Drop { path },
            SteeringRequest::Add { path } => Self::Add { path },
            SteeringRequest::EditTask { task, description } => Self::EditTask {
                task,
                action: None,
                description,
            },
            SteeringRequest::EditRole { task, role } => Self::EditRole { task, role },
            SteeringRequest::Hint { text } => Self::Hint { text },
            SteeringRequest::Speak { text } => Self::Speak { text },
            SteeringRequest::TakeAttempt { task, round, attempt } => Self::TakeAttempt {
                task,
                round: Round(round),
                attempt: AttemptNumber(attempt),
            },
        }
    }
}

/// What happens in a run while it happens.
#[derive(Debug, Clone, PartialEq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunUpdate {
    /// The run as it stands now.
    View {
        view: Box<RunView>,
    },
    /// The model is being loaded.
    Loading {
        model: String,
    },
    /// The search index is brought up to date.
    Indexing {
        done: u32,
        total: u32,
    },
    /// A model call began.
    CallStarted {
        stage: Stage,
        agent: Agent,
        step: String,
        task: Option<TaskId>,
        path: Option<String>,
    },
    /// Text came from the model.
    Text {
        task: Option<TaskId>,
        agent: Agent,
        step: String,
        /// What came since the last message.
        delta: String,
    },
    /// A model call ended.
    CallEnded {
        /// Tokens read.
        prompt_tokens: u32,
        /// Tokens that were there already.
        reused_tokens: u32,
        /// Tokens written.
        generated_tokens: u32,
        /// Milliseconds of reading.
        prompt_ms: u64,
        /// Milliseconds of writing.
        generate_ms: u64,
        /// Whether the reply was on record, so that the model did nothing.
        recorded: bool,
    },
    /// Code began to run.
    CodeStarted {
        code: RunningCode,
        /// On a changed tree, else on the base.
        changed: bool,
        /// The task whose change it is.
        task: Option<TaskId>,
    },
    /// The code that ran came to its end, or was ended.
    CodeEnded,
    /// How fast it goes.
    Speed {
        /// Tokens written a second.
        #[specta(type = u32)]
        tokens_per_second: f64,
        /// Milliseconds of calls and of running code, up to now and without pauses.
        worked_ms: u64,
        /// Until its end, about; none while nothing can be said.
        left_ms: Option<u64>,
    },
    /// It was stopped or paused, and can be resumed.
    Stopped,
    Ended,
    /// Something went wrong; it is paused.
    Problem {
        problem: Problem,
    },
}
