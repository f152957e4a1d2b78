//! What can be run to judge a change: the project's own test commands and their results, and checks made out of an issue's text.
//!
//! Texts in, data out: nothing here reads a file or runs a command, and nothing knows git or a model.

pub mod commands;
pub mod reproduction;
pub mod results;
