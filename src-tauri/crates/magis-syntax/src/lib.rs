//! Source text as a tree: symbols, imports, skeletons, pieces for search, "parses no worse", "the same but for layout",
//! and the one definition wanted out of a model's answer. Also the checks by program that a change has to pass before
//! anything is run: names that nothing defines, calls that do not fit, answers made to fit the hole they are for.
//!
//! Start with [`outline`]: it tells what a file defines and where, and most of the rest is built upon it.
//! Nothing here fails: a text in an unknown language has an empty outline, and a broken text has the outline of what
//! tree-sitter could make of it. This crate reads no files, and knows neither git nor any model.

mod answer;
mod calls;
mod chunks;
mod infill;
mod language;
mod layout;
mod names;
mod outline;
mod reachable;
mod scan;
mod scopes;
mod shape;
mod skeleton;
mod statements;
mod symbol;
mod syntax;
mod tokens;
mod top;
mod tree;

pub use answer::{extract_definition, strip_fences};
pub use calls::{CallMisfit, misfit_calls};
pub use chunks::{Chunk, chunks};
pub use infill::fit_infill;
pub use language::SourceLanguage;
pub use layout::reindent;
pub use names::undefined_names;
pub use outline::{Outline, Symbol, outline, outline_and_chunks};
pub use reachable::reachable;
pub use skeleton::{Skeleton, skeleton, skeleton_within};
pub use statements::statements_at;
pub use symbol::{Import, SymbolKind};
pub use syntax::{parses_worse, syntax_errors};
pub use tokens::{code_key, code_lines, only_deletes, same_code, words_only};
pub use top::{TopStatement, TopStatementKind, top_statements};
