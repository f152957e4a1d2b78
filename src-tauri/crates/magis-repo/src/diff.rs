//! Unified diffs of texts and of trees.

/// Lines added and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiffStat {
    /// Lines only in the new text.
    pub added: u32,
    /// Lines only in the old text.
    pub deleted: u32,
}

/// The unified hunks between two texts, with `context` lines around; empty if they are equal.
pub fn text_diff(old: &str, new: &str, context: u32) -> String {
    let _ = (old, new, context);
    todo!()
}

/// How many lines differ.
pub fn diff_stat(old: &str, new: &str) -> DiffStat {
    let _ = (old, new);
    todo!()
}
