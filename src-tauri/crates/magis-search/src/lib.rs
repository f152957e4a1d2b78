//! Finds the files an issue may touch: an index of the repository's text, the signals read from it, and their fusion
//! with what the model says.
//!
//! Start with [`Index::rank_by`]: it takes an [`IssueQuery`] and gives candidates, strongest first, each with its evidence.
//! This crate reads no git objects (texts are passed in), keeps nothing in SQLite and asks no model.

mod bm25;
mod central;
mod directory;
mod error;
mod examples;
mod file;
mod fuse;
mod history;
mod idf;
mod index;
mod issue;
mod kind;
mod known_symbol;
mod literals;
mod matching;
mod metadata;
mod neighbours;
mod rank;
mod reading;
mod section;
mod signal;
mod signals;
mod store;
mod symbol_table;
mod symbols;
mod tokens;
mod trace;
mod uses;
mod view;
mod vocabulary;
mod words;

pub use error::SearchError;
pub use examples::Example;
pub use fuse::{KeepRule, fuse, keep, z_scores};
pub use history::CommitHistory;
pub use index::{Index, Retention, Update};
pub use issue::{IssueQuery, Mention, Term};
pub use kind::is_source;
pub use rank::{Ranking, Sources};
pub use signal::{Signal, Signals};
pub use store::OpenState;
pub use symbols::ScoredSymbol;
pub use trace::{Frame, frames};
