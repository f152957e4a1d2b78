//! Carries out what the flow asks for: the four kinds of agents at work on a repository, a model and a memory.
//!
//! Start with [`Magis`]: open a data folder, [`Magis::prepare`] a run, [`Magis::drive`] it. Three parts stand on one another,
//! and `cargo xtask layers` holds that: `calls` makes every model call; `custodian` is everything that needs no run; `runs` is
//! the rest. This crate knows no terminal and no window: both follow a run through [`Progress`], and [`transcript`] renders it
//! as text for either.

mod calls;
mod custodian;
mod data_folder;
mod error;
mod limits;
mod magis;
mod progress;
mod runs;

pub use calls::stage_of_step;
pub use custodian::{
    ExportedMemory, FileMemory, IdleReason, ImportedMemory, IndexState, LocateExtent, LocateTime, Location, Locator,
    MachineUse, MemoryDayTotals, MemoryState, ModelJudgement, Preparing, Relevance, Remembered, SYMBOLS_TO_JUDGE,
    SummarisationBudget, SummarisationModel, SummarisationSwitch, SummaryNotNeeded, Watch, WatchEvent, WatchFailure,
    WatchState, WithCode,
};
pub use data_folder::DataFolder;
pub use error::EngineError;
pub use limits::{EngineLimits, USUAL_CONTEXT};
pub use magis::Magis;
pub use progress::Progress;
pub use runs::{
    Application, AppliedRun, ApplyTarget, DriveEnd, Eta, Prepared, Review, RunTexts, SolveRequest, StageTimes,
    Steering, Worked, transcript,
};

/// What the front ends (the command line, the window, the measures) need of the layers below.
pub mod layers {
    pub use {
        magis_core as core, magis_flow as flow, magis_llama as llama, magis_llm as llm, magis_models as models,
        magis_prompts as prompts, magis_repo as repo, magis_search as search, magis_store as store,
        magis_syntax as syntax,
    };
}
