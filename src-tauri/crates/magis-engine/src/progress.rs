//! What happens while it happens, for whoever watches. Facts for the record are events; this is for the eye.

use magis_core::{Agent, RunEvent, RunningCode, Stage, TaskId};

/// One thing worth showing.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// An event was appended to the log.
    Event {
        /// Its number in the run, from 1.
        seq: u32,
        event: Box<RunEvent>,
    },
    /// The search index is brought up to date.
    Indexing { done: usize, total: usize },
    /// A model call begins.
    CallStarted {
        stage: Stage,
        agent: Agent,
        /// The step's name: `P4`, `speak`.
        step: &'static str,
        task: Option<TaskId>,
        path: Option<String>,
    },
    /// Text comes from the model.
    Text {
        /// What came; the first piece of a call has what was begun for the model before it.
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
    /// Code begins to run.
    CodeStarted {
        code: RunningCode,
        /// On a changed tree, else on the base.
        changed: bool,
        /// The task whose change it is.
        task: Option<TaskId>,
    },
    /// The code that ran came to its end, or was ended.
    CodeEnded,
}

/// Of the answer begun for the model, what a person should see before the rest comes: begun code without what leads to it.
pub(crate) fn begun_in_sight(answer_prefix: &str) -> String {
    let Some((_, fenced)) = answer_prefix.rsplit_once("```") else {
        return answer_prefix.to_owned();
    };
    // The fence's own line ends with the language.
    fenced.split_once('\n').map_or("", |(_, code)| code).to_owned()
}

#[cfg(test)]
mod tests {
    use super::begun_in_sight;

    #[test]
    fn begun_code_is_shown_without_its_fence_and_prose_as_it_is() {
        let code = "What is wrong: no limit.\n\nThe corrected function:\n```python\n@cached\ndef limit";
        assert_eq!(begun_in_sight(code), "@cached\ndef limit");
        assert_eq!(begun_in_sight("```rust\n"), "");
        assert_eq!(begun_in_sight("```rust"), "");
        assert_eq!(begun_in_sight("Review: With this change,"), "Review: With this change,");
        assert_eq!(begun_in_sight(""), "");
    }
}
