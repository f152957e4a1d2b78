//! Small real bugs, made by program in projects whose tests pass: mutations of their sources, and issues written out of the tests that fail then.
//!
//! [`propose`] finds what can be mutated in a text, [`without_tests`] cuts tests out of one, [`write_issue`] tells of a failure as a user would,
//! without the place of the mutation. A [`MutatedBug`] is one row of a set; its trees lie in a [`BugRepository`], each as a commit without parents,
//! so no history shows what was there before. [`judge`] tells whether a patch resolves one. What runs, runs in a [`SandboxedTree`].

mod bug;
mod cutting;
mod grammar;
mod issue;
mod judging;
mod kind;
mod messages;
mod propose;
mod shuffle;
mod store;
mod tree_run;

pub use bug::{MutatedBug, id_of, ids_of};
pub use cutting::{CutTestName, without_tests};
pub use issue::{IssueStyle, Observed, Snippet, write_issue};
pub use judging::{Resolution, judge};
pub use kind::{Mutation, MutationKind};
pub use messages::{FailedCheck, is_for_users};
pub use propose::propose;
pub use shuffle::Shuffle;
pub use store::BugRepository;
pub use tree_run::{SandboxedTree, TreeTestRun};

/// The Python program that makes snippets out of failing tests and runs them.
pub const PROBE: &str = include_str!("mutation/probe.py");
/// What stands before the probe's answer.
pub const PROBE_MARK: &str = "@@magis-probe ";
