//! The steps of the four kinds of agents, one file a kind. Each takes the run so far and gives one event.

pub(crate) mod ahead;
pub(crate) mod custodian;
pub(crate) mod developer;
pub(crate) mod manager;
pub(crate) mod names;
pub(crate) mod qa;
mod region;

use crate::calls::AskError;
use magis_core::RunEvent;

/// What a step gives.
pub(crate) type RoleResult = Result<RunEvent, AskError>;
