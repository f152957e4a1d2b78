//! Carries out what the flow asks for: the four kinds of agents at work on a repository, a model and a memory.
//!
//! Start with [`Magis`]: open a data folder, [`Magis::prepare`] a run, [`Magis::drive`] it. `driver` is the loop (append
//! an event, hand it to the flow, carry out the next effect); `roles` holds the steps of each kind of agent; `calls` is
//! where every model call is rendered, budgeted, made once and recorded.
//! This crate knows no terminal and no window: both follow a run through [`Progress`] and the store, and [`transcript`]
//! tells it as text to either.

mod apply;
mod calls;
mod claims;
mod commit_history;
mod condense;
mod contents;
mod data_folder;
mod deleting;
mod describing;
mod driver;
mod error;
mod index_session;
mod indexed;
mod limits;
mod locating;
mod magis;
mod memory_file;
mod pace;
mod progress;
mod relevance;
mod remembered;
mod repositories;
mod roles;
mod steering;
mod summary_lookup;
pub mod transcript;
mod watch;
mod worked;
mod workspace;

pub use apply::{Application, AppliedRun, ApplyTarget, Review};
pub use calls::stage_of_step;
pub use contents::NeedsNone;
pub use data_folder::DataFolder;
pub use driver::DriveEnd;
pub use error::EngineError;
pub use index_session::Preparing;
pub use indexed::IndexState;
pub use limits::{EngineLimits, USUAL_CONTEXT};
pub use locating::{LocateExtent, LocateTime, Location, Locator, ModelJudgement, SYMBOLS_TO_JUDGE};
pub use magis::{Magis, Prepared, SolveWish};
pub use memory_file::{ExportedMemory, ImportedMemory, WithCode};
pub use pace::{Pace, Spent};
pub use progress::Progress;
pub use relevance::Relevance;
pub use remembered::{FileMemory, MemoryDay, MemoryState, Remembered};
pub use repositories::RunTexts;
pub use steering::Steering;
pub use watch::{
    Failure, MachineUse, WarmingBudget, WarmingModel, WarmingRest, WarmingSwitch, Watch, WatchNews, WatchState,
};
pub use worked::Worked;

/// What the front ends (the command line, the window, the measures) need of the layers below.
pub mod layers {
    pub use {
        magis_core as core, magis_flow as flow, magis_llama as llama, magis_llm as llm, magis_models as models,
        magis_prompts as prompts, magis_repo as repo, magis_search as search, magis_store as store,
        magis_syntax as syntax,
    };
}
