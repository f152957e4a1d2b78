//! The client for another engine: a server with the `OpenAI` interface on this machine or in the person's own network, which the person named.
//!
//! [`RemoteModel`] is a [`magis_llm::LanguageModel`] like the one in the worker process. Nothing here runs unless somebody gave an
//! [`EngineAddress`], and no connection leaves for a public address. Who chooses the engine, and where that is shown and recorded, is decided
//! above.

mod abilities;
mod address;
mod chat;
mod connection;
mod constraint;
mod count;
mod http;
mod key;
mod model;
mod schema;
mod score;
mod server;
mod stops;
mod stream;
mod trouble;

pub use abilities::{Abilities, Constraining, Continuing, Counting, Scoring};
pub use address::{AddressError, EngineAddress};
pub use http::Patience;
pub use key::{EngineKey, KEY_VARIABLE, KeyError, KeySource};
pub use model::{EngineOptions, RemoteModel};
pub use server::{EngineModel, ServerKind};
