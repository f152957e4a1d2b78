//! The measures of the method's paper (arXiv 2403.17927), computed from recorded runs alone.
//!
//! Start with [`report::Report`]: it joins the recorded runs of a set ([`record::RunRecord`]) with their references
//! ([`instances::Reference`]) and a judge's verdicts ([`results::Judged`]); each measure has its file under
//! [`measures`]. What solves an issue sees an [`instances::Instance`], which holds nothing of the reference.
//! [`mutation`] makes sets of small bugs and judges their patches, [`trace`] makes a run's calls again beside another engine. This crate ships to nobody, and asks no model but the one that is named.

#![allow(
    clippy::missing_errors_doc,
    reason = "every failure here ends a command, with the file or the run that it is about in its message"
)]

pub mod change;
pub mod instances;
pub mod measures;
pub mod mutation;
pub mod record;
pub mod repair;
pub mod replay;
pub mod report;
pub mod repositories;
pub mod results;
pub mod statistics;
pub mod table;
pub mod trace;
