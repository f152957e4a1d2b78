//! Fixture repositories built by code, with fixed dates and identities: [`FixtureRepo`], and [`fingerprint`] to show that
//! nothing was touched; [`sample`], a small project with issues; and [`traces`], to show that nothing of a text is left.
//!
//! For tests only; steps that fail panic. No network, no clock, no `git` program.

mod repo;
mod traces;

pub use magis_sample as sample;
pub use repo::{FixtureRepo, fingerprint};
pub use traces::{held, mark, traces};
