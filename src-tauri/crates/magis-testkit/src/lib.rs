//! Fixture repositories built by code, with fixed dates and identities: [`FixtureRepo`], and [`fingerprint`] to show that
//! nothing was touched; [`sample`], a small project with issues; [`traces`], to show that nothing of a text is left;
//! [`bounded`], for what must not hang or fill the machine; [`measured`], for what a program costs; [`hostile`], repositories
//! made to harm whoever reads them; [`faults`], for what a failing disk or a kill must not leave behind; [`TinyModel`] and [`gguf`], models of
//! half a megabyte; [`hub`], a hub of models on loopback.
//!
//! For tests only; steps that fail panic. No network but loopback, no clock, and no `git` program but in [`hostile`].

pub mod bounded;
#[cfg(target_os = "linux")]
pub mod confined;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
pub mod gguf;
#[cfg(target_os = "linux")]
pub mod hostile;
pub mod hub;
#[cfg(target_os = "linux")]
pub mod measured;
mod repo;
mod tiny;
mod traces;

pub use magis_sample as sample;
pub use repo::{FixtureRepo, contents, fingerprint};
pub use tiny::{TinyModel, WINDOW};
pub use traces::{held, mark, traces};
