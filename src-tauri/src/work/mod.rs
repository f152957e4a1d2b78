//! What the window can do, one file a feature: the engine's calls put together, without any window.
//!
//! Every function here can be called from a test; the commands only unpack, call and convert.

mod app;
mod engine;
mod erase;
mod fetching;
mod memory;
mod models;
mod open;
mod repositories;
mod review;
mod runs;
mod solve;
mod tests;

pub use engine::{check_keyring, forget_engine_key, keep_engine_key};
pub use erase::ERASE_ALL;
pub use open::read_given;
