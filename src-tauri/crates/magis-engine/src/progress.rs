//! What happens while it happens, for whoever watches. Facts for the record are events; this is for the eye.

use magis_core::{Agent, RunEvent, Stage, TaskId};

/// One thing worth showing.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// An event was appended to the log.
    Event {
        /// Its number in the run, from 1.
        seq: u32,
        /// What happened.
        event: Box<RunEvent>,
    },
    /// The search index is brought up to date.
    Indexing {
        /// Files done.
        done: usize,
        /// Files to do.
        total: usize,
    },
    /// A model call begins.
    CallStarted {
        /// At which stage.
        stage: Stage,
        /// Whose.
        agent: Agent,
        /// The step's name: `P4`, `speak`.
        step: &'static str,
        /// For which task.
        task: Option<TaskId>,
        /// About which file.
        path: Option<String>,
    },
    /// Text comes from the model.
    Text {
        /// What came.
        delta: String,
    },
    /// A model call ended.
    CallEnded {
        /// Prompt tokens computed.
        prompt_tokens: u32,
        /// Prompt tokens that were there already.
        reused_tokens: u32,
        /// Tokens generated.
        generated_tokens: u32,
        /// Milliseconds for the prompt.
        prompt_ms: u64,
        /// Milliseconds for the generation.
        generate_ms: u64,
        /// Whether the reply came from this run's own record instead of the model.
        recorded: bool,
    },
}
