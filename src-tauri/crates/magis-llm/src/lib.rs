//! The model as the rest of Magis sees it: chat, fill in, score, count; the form a conversation is written in; and the
//! protocol of the worker that serves it.
//!
//! Nothing here knows llama.cpp. [`ScriptedModel`] answers from a script, for tests of everything above.

pub mod chat_template;
pub mod memory;
mod model;
mod numbers;
pub mod placement;
pub mod protocol;
mod scripted;
pub mod size;
pub mod tool_format;
mod tools;

pub use model::{
    ChatReply, ChatRequest, Constraint, Departure, FillInRequest, FinishReason, GenerateRequest, LanguageModel,
    LlmError, Message, MessageRole, ModelCard, NotReused, OtherThan, PromptText, Sampling, Score, ScoreReply,
    ScoreRequest, TokenEdit, TokenEditReply, TokenEditRequest, TokenSink, Urgency, Usage,
};
pub use numbers::number_between;
pub use scripted::{ScriptedModel, ScriptedReply};
pub use tools::{Thinking, ToolCall, ToolChoice, ToolDeclaration, Tools, UnreadableCall};
