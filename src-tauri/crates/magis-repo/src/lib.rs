//! Placeholder until its commit.
