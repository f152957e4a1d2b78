//! What is found in a change without running anything, and how an answer is made to fit its place.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

mod calls;
mod infill;
mod names;
mod statements;
mod words;

use magis_core::RepoPath;

fn path(name: &str) -> RepoPath {
    RepoPath::new(name).unwrap()
}
