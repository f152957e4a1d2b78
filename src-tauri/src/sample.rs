//! The built-in sample: the repository and the issues that tests and demonstrations use as well.

#[path = "../crates/magis-testkit/src/sample.rs"]
#[expect(dead_code, reason = "tests and measures use more of it than the window does")]
mod tally;

pub use tally::{ISSUES, SampleIssue, write_repository};
