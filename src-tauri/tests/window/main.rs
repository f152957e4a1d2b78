//! What the window can do, without a window: on a real data folder, a real repository and a model that follows a script.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod engine;
#[path = "../../crates/magis-engine/tests/environment/mod.rs"]
mod environment;
mod evidence;
mod models;
mod own_data;
mod repositories;
mod review;
mod runs;
mod support;
mod watching;
