//! Fixture repositories built by code, with fixed dates and identities: [`FixtureRepo`], and [`fingerprint`] to show that
//! nothing was touched; and [`sample`], a small project with issues.
//!
//! For tests only; steps that fail panic. No network, no clock, no `git` program.

mod repo;

pub use magis_sample as sample;
pub use repo::{FixtureRepo, fingerprint};
