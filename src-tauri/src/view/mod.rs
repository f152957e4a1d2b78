//! What crosses to the window, one file a feature: plain values with their conversions from the engine's words.
//!
//! Nothing is decided here, and nothing is read but what is passed in. A float that crosses is finite, and TypeScript is
//! told that it is a number: by itself specta adds null, which JSON has for what is not finite.

mod app;
mod call;
mod engine;
mod hub;
mod memory;
mod model;
mod repository;
mod review;
mod run;
mod runs;
mod solve;
mod stage;
mod tests;
mod watch;

pub use app::*;
pub use call::*;
pub use engine::*;
pub use hub::*;
pub use memory::*;
pub use model::*;
pub use repository::*;
pub use review::*;
pub use run::*;
pub use runs::*;
pub use solve::*;
pub use stage::*;
pub use tests::*;
pub use watch::*;
