//! Fixture repositories built by code, with fixed dates and identities: [`FixtureRepo`], and [`fingerprint`] to show that
//! nothing was touched.
//!
//! For tests only; steps that fail panic. No network, no clock, no `git` program.

mod repo;

pub use repo::{FixtureRepo, fingerprint};
