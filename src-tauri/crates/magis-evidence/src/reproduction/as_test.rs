//! A check as a test for the project, to be offered to a person.

use crate::reproduction::check::{Check, CheckCommand};
use crate::reproduction::node_test::node_test;
use crate::reproduction::pytest::pytest;
use crate::reproduction::record::Observation;
use crate::reproduction::rust_test::rust_test;
use crate::reproduction::verdict::Reproduction;

/// Writes a check that reproduces as a test that fails on the base: of pytest, of Node's own runner, or of Cargo. `title` is the issue's.
pub fn as_test(check: &Check, base: &Observation, reproduction: &Reproduction, title: &str) -> String {
    match check.command {
        CheckCommand::JavaScript(_) => node_test(check, base, reproduction, title),
        CheckCommand::Rust => rust_test(check, base, reproduction, title),
        CheckCommand::Python(_) | CheckCommand::Shell(_) => pytest(check, base, reproduction, title),
    }
}
