//! What a person can change in a run that is not over.

use magis_core::{FileAction, Role, TaskId};

/// One intervention; each becomes an event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steering {
    /// Drop a candidate file, and its task.
    Drop {
        /// The file.
        path: String,
    },
    /// Add a candidate file.
    Add {
        /// The file.
        path: String,
    },
    /// Rewrite a task; its code is written anew.
    EditTask {
        /// The task.
        task: TaskId,
        /// What happens to the file; none: as before.
        action: Option<FileAction>,
        /// What has to be done.
        description: String,
    },
    /// Rewrite a Developer's role.
    EditRole {
        /// The task.
        task: TaskId,
        /// The role from now on.
        role: Role,
    },
    /// A hint for what is still to be done.
    Hint {
        /// The hint.
        text: String,
    },
    /// A word in the meeting. It never waits for one.
    Speak {
        /// What is said.
        text: String,
    },
}
