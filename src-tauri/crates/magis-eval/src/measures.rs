//! The measures, one file each; every one is a function of records, references and verdicts.

pub mod complexity;
pub mod cost;
pub mod coverage;
pub mod locating;
pub mod loss;
