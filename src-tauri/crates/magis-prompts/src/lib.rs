//! The prompts of the method: P1 to P11 and the meeting's three, each a template file with one typed context and one
//! typed reply.
//!
//! The texts are ours: the paper gives none. What stands in them from the issue or the repository is fenced as data
//! ([`data`](crate::render)). This crate knows no model and reads no repository; it says what an answer has to look
//! like ([`AnswerShape`]) and reads it, and the engine does the asking.

mod custodian;
mod developer;
mod head;
mod manager;
mod qa;
mod render;
mod reply;
mod role;
mod template;

pub use custodian::{
    ChangeMessage, FileSummary, RelevanceByCode, RelevanceByDescription, RelevanceByName, SymbolByName,
};
pub use developer::{
    CodeByName, CodeToWrite, Diagnosis, LinesToChange, MeetingTurn, NewFile, Persona, ReviewerRole, RevisedRole,
    TheChange,
};
pub use head::Head;
pub use manager::{
    CommitSubject, DeveloperRole, MeetingOpening, MeetingSummary, PlanWanted, TaskAction, TaskAnswer, TaskWanted,
};
pub use qa::{ReviewComment, ReviewDecision, ReviewedChange};
pub use render::{Prompt, PromptError, Rendered, render};
pub use reply::{AnswerShape, ReplyError};
pub use template::Template;
