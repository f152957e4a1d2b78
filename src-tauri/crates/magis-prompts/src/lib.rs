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

// The agents' modules hold prompts and what belongs to one, so that a new prompt needs no line here.
pub use custodian::*;
pub use developer::*;
pub use head::Head;
pub use manager::*;
pub use qa::*;
pub use render::{Prompt, PromptError, Rendered, render};
pub use reply::{AnswerShape, ReplyError};
pub use template::Template;
