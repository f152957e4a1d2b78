//! The llama.cpp engine and the worker process it lives in.
//!
//! [`WorkerModel`] is the parent's side: it starts a worker and serves [`magis_llm::LanguageModel`] through it.
//! [`worker::run`] is the worker's side. llama.cpp aborts its process on a failed assertion, so no other process
//! computes. Prompts, run logic and where models come from are not known here.
#![expect(
    clippy::cast_possible_wrap,
    reason = "llama.cpp counts tokens, positions and sequences in i32; no context comes near its limit"
)]

pub mod engine;
mod parent;
pub mod worker;

pub use engine::{may_use_devices, physical_cores};
pub use parent::{LoadRequest, Manners, Priority, WorkerCommand, WorkerModel};
