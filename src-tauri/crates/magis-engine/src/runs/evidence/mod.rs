//! Evidence in a run: what shows the fault, and what checks and tests say of the base, of each attempt and of the patch.
//!
//! [`TestBench`](super::bench::TestBench) is what code is run on; each other module carries out one or two of the flow's effects and gives their event. How commands run is for
//! `crate::evidence`, how outputs are read for `magis-evidence`.

mod change;
mod fault;
mod minimise;
mod offered_tests;
mod regression;
mod written;

pub(crate) use change::{test_attempt, test_patch};
pub(crate) use fault::show_fault;
pub(crate) use minimise::minimise;
pub(crate) use regression::test_base;
pub(crate) use written::write_tests;
