//! Placeholder until its commit.
fn main() {}
