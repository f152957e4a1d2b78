//! Source text as a tree: symbols, imports, skeletons, pieces for search, "parses no worse", "the same but for layout",
//! and the one definition wanted out of a model's answer.
//!
//! Start with [`outline`]: it tells what a file defines and where, and most of the rest is built upon it.
//! Nothing here fails: a text in an unknown language has an empty outline, and a broken text has the outline of what
//! tree-sitter could make of it. This crate reads no files, and knows neither git nor any model.

mod answer;
mod chunks;
mod language;
mod layout;
mod outline;
mod scan;
mod shape;
mod skeleton;
mod symbol;
mod syntax;
mod tree;

pub use answer::{extract_definition, strip_fences};
pub use chunks::{Chunk, chunks};
pub use language::SourceLanguage;
pub use layout::reindent;
pub use outline::{Outline, Symbol, outline, outline_and_chunks};
pub use skeleton::{Skeleton, skeleton, skeleton_within};
pub use symbol::{Import, SymbolKind};
pub use syntax::{parses_worse, same_code, syntax_errors};
