//! Unified diffs of texts.
//!
//! Settings of the user's git configuration (context, prefixes, abbreviation) do not reach them.

use git2::{DiffOptions, Patch};
use magis_core::{Edit, LineSpan};

/// Lines added and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiffStat {
    /// Lines only in the new text.
    pub added: u32,
    /// Lines only in the old text.
    pub deleted: u32,
}

/// Returns the unified hunks between two texts, with `context` lines around; empty if they are equal.
pub fn text_diff(old: &str, new: &str, context: u32) -> String {
    let mut options = options(context);
    let text = Patch::from_buffers(old.as_bytes(), None, new.as_bytes(), None, Some(&mut options))
        .and_then(|mut patch| patch.to_buf().map(|buffer| buffer.to_vec()))
        .expect("two texts in memory can always be compared");
    let text = String::from_utf8_lossy(&text).into_owned();
    match text.find("\n@@ ") {
        Some(at) => text[at + 1..].to_owned(),
        None => String::new(),
    }
}

/// Returns how many lines differ.
pub fn diff_stat(old: &str, new: &str) -> DiffStat {
    let mut options = options(0);
    let (_, added, deleted) = Patch::from_buffers(old.as_bytes(), None, new.as_bytes(), None, Some(&mut options))
        .and_then(|patch| patch.line_stats())
        .expect("two texts in memory can always be compared");
    DiffStat {
        added: added as u32,
        deleted: deleted as u32,
    }
}

/// Returns the edits that make `new` of `old`, one for each run of lines that differ, in their order; empty if the two are equal. What is only
/// added takes the line before it along, or the one behind it at the beginning. `old` must not be empty.
pub fn edits_between(old: &str, new: &str) -> Vec<Edit> {
    let mut options = options(0);
    let patch = Patch::from_buffers(old.as_bytes(), None, new.as_bytes(), None, Some(&mut options))
        .expect("two texts in memory can always be compared");
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut edits = Vec::new();
    for number in 0..patch.num_hunks() {
        let Ok((hunk, _)) = patch.hunk(number) else { continue };
        let from = (hunk.new_start() as usize).saturating_sub(1);
        let lines = new.get(from..from + hunk.new_lines() as usize).unwrap_or_default();
        let mut lines: Vec<&str> = lines.to_vec();
        let (start, count) = (hunk.old_start(), hunk.old_lines());
        let (first, last) = match (start, count) {
            (0, 0) => {
                lines.extend(old.first());
                (1, 1)
            }
            (after, 0) => {
                lines.splice(0..0, old.get(after as usize - 1).copied());
                (after, after)
            }
            (first, count) => (first, first + count - 1),
        };
        if let Ok(span) = LineSpan::new(first, last) {
            let text = lines.iter().fold(String::new(), |all, line| all + line + "\n");
            edits.push(Edit { span, text });
        }
    }
    edits
}

pub(crate) fn options(context: u32) -> DiffOptions {
    let mut options = DiffOptions::new();
    options
        .context_lines(context)
        .interhunk_lines(0)
        .id_abbrev(40)
        .old_prefix("a")
        .new_prefix("b")
        .indent_heuristic(true)
        .force_text(true);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_stand_alone_without_a_header() {
        assert_eq!(
            text_diff("a\nb\nc\n", "a\nB\nc\n", 1),
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
        );
        assert_eq!(text_diff("a\n", "a\n", 3), "");
        assert_eq!(
            text_diff("a", "b\n", 3),
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn edits_make_one_text_of_the_other() {
        let check = |old: &str, new: &str, count: usize| {
            let edits = edits_between(old, new);
            assert_eq!(edits.len(), count, "{edits:?}");
            assert_eq!(Edit::splice(old, &edits).expect("edits that fit"), new);
        };
        check("a\nb\nc\nd\n", "a\nB\nc\nD\n", 2);
        check("a\nb\nc\n", "x\na\nb\ny\nz\nc\n", 2);
        check("a\nb\nc\n", "a\nc\n", 1);
        check("a\nb\n", "a\nb\nc\n", 1);
        check("a\r\nb\r\n", "a\r\nc\r\n", 1);
        check("a\n", "a\n", 0);
    }

    #[test]
    fn a_stat_counts_lines() {
        assert_eq!(
            diff_stat("a\nb\nc\n", "a\nB\nBB\nc\n"),
            DiffStat { added: 2, deleted: 1 }
        );
        assert_eq!(diff_stat("", ""), DiffStat::default());
    }
}
