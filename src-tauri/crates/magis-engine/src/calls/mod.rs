//! Makes every model call, in a run and outside of any: renders, fits to the context, asks once, records, reads.
//!
//! [`ModelCalls`] is the only way to the model. Who records the calls is behind [`CallLog`]; what is asked, and what is made of
//! the answer, is for the callers to say.

mod client;
mod condense;
mod log;
mod prompt;

pub(crate) use client::{AskError, FillInMode, ModelCalls, PlannedCall};
pub(crate) use condense::condense;
pub(crate) use log::CallLog;
pub use log::stage_of_step;
pub(crate) use prompt::{CallContext, PromptVariant, SamplingMode};

/// Characters a token has at least, about, in prose and code: for sizing texts before they are counted.
pub(crate) const CHARS_PER_TOKEN: usize = 3;
