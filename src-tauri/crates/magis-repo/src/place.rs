//! Finding where the hunks of a file belong in a text, and putting them there, byte-exactly around.
//!
//! A hunk belongs where its lines stand at the expected line; if other changes have moved them, where they stand once and
//! once only. There is no fuzz. Where the text has `\r\n` and the hunks have `\n`, as in a work tree with converted line
//! ends, lines are compared without that difference and new ones are written with the text's.

use crate::Hunk;
use std::borrow::Cow;

/// The text with `hunks`, in order, or the line (from 1) at which one does not fit.
pub(crate) fn place<'h>(text: &str, hunks: impl IntoIterator<Item = &'h Hunk>) -> Result<String, u32> {
    let hunks: Vec<Vec<Change<'h>>> = hunks.into_iter().map(changes).collect::<Vec<_>>();
    place_changes(text, &hunks)
}

/// One line of a hunk: what is there, and what happens to it.
struct Change<'h> {
    sign: Sign,
    /// With its `\n`, unless the file ends without one there.
    line: Cow<'h, str>,
    /// The expected line of the hunk, from 0.
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Stays,
    Goes,
    Comes,
}

fn changes(hunk: &Hunk) -> Vec<Change<'_>> {
    let at = if hunk.old_lines == 0 {
        hunk.old_start
    } else {
        hunk.old_start.saturating_sub(1)
    } as usize;
    let mut changes = Vec::new();
    for (index, line) in hunk.lines.iter().enumerate() {
        let sign = match line.as_bytes().first() {
            Some(b'-') => Sign::Goes,
            Some(b'+') => Sign::Comes,
            Some(b'\\') => continue,
            _ => Sign::Stays,
        };
        let content = line.get(1..).unwrap_or_default();
        let open = hunk.lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
        let line = if open {
            Cow::Borrowed(content)
        } else {
            Cow::Owned(format!("{content}\n"))
        };
        changes.push(Change { sign, line, at });
    }
    changes
}

fn place_changes(text: &str, hunks: &[Vec<Change<'_>>]) -> Result<String, u32> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let converted = text.matches("\r\n").count() * 2 > lines.len()
        && !hunks.iter().flatten().any(|change| change.line.ends_with("\r\n"));
    let same = |line: &str, wanted: &str| {
        line == wanted
            || (converted
                && line
                    .strip_suffix("\r\n")
                    .is_some_and(|line| wanted.strip_suffix('\n') == Some(line)))
    };
    let mut placed = String::with_capacity(text.len());
    let (mut next, mut moved) = (0_usize, 0_isize);
    for hunk in hunks {
        let Some(first) = hunk.first() else { continue };
        let old: Vec<&str> = hunk
            .iter()
            .filter(|change| change.sign != Sign::Comes)
            .map(|change| change.line.as_ref())
            .collect();
        let expected = first.at.saturating_add_signed(moved);
        let stands = |at: usize| {
            at >= next
                && lines
                    .get(at..at + old.len())
                    .is_some_and(|here| here.iter().zip(&old).all(|(a, b)| same(a, b)))
        };
        let mismatch = || {
            let differs = |offset: &usize| {
                lines
                    .get(expected + offset)
                    .is_none_or(|line| !same(line, old[*offset]))
            };
            let offset = (0..old.len()).find(differs).unwrap_or(0);
            (expected + offset + 1).min(lines.len().max(1)) as u32
        };
        let at = if stands(expected) && !(old.is_empty() && first.at == 0 && !lines.is_empty()) {
            expected
        } else {
            let mut candidates = (next..lines.len()).filter(|at| !old.is_empty() && stands(*at));
            match (candidates.next(), candidates.next()) {
                (Some(only), None) => only,
                _ => return Err(mismatch()),
            }
        };
        moved = at.checked_signed_diff(first.at).unwrap_or(0);
        placed.extend(lines[next..at].iter().copied());
        next = at;
        for change in hunk {
            match change.sign {
                Sign::Stays => {
                    placed.push_str(lines[next]);
                    next += 1;
                }
                Sign::Goes => next += 1,
                Sign::Comes if converted && change.line.ends_with('\n') => {
                    placed.push_str(change.line.trim_end_matches('\n'));
                    placed.push_str("\r\n");
                }
                Sign::Comes => placed.push_str(&change.line),
            }
        }
    }
    placed.extend(lines[next..].iter().copied());
    Ok(placed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Patch, text_diff};

    /// Diffs `old` to `new`, places the hunks in `text`.
    fn check(old: &str, new: &str, text: &str, expected: Result<&str, u32>) {
        let patch = format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{}", text_diff(old, new, 1));
        let patch = Patch::parse(&patch).unwrap();
        assert_eq!(
            place(text, &patch.files[0].hunks).as_deref(),
            expected.as_ref().copied()
        );
    }

    #[test]
    fn lines_that_moved_are_found_if_they_stand_once() {
        check("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", Ok("a\nB\nc\n"));
        check("a\nb\nc\n", "a\nB\nc\n", "0\n1\na\nb\nc\n", Ok("0\n1\na\nB\nc\n"));
        check("a\nb\nc\n", "a\nB\nc\n", "0\na\nb\nc\na\nb\nc\n", Err(1));
    }

    #[test]
    fn changed_lines_are_refused_where_they_differ() {
        check("a\nb\nc\n", "a\nB\nc\n", "a\nx\nc\n", Err(2));
        check("a\nb\nc\n", "a\nB\nc\n", "", Err(1));
        check("", "a\n", "x\n", Err(1));
    }

    #[test]
    fn line_ends_of_the_text_are_used() {
        check("a\nb\nc\n", "a\nB\nc\n", "a\r\nb\r\nc\r\n", Ok("a\r\nB\r\nc\r\n"));
        check(
            "a\r\nb\r\nc\r\n",
            "a\r\nB\r\nc\r\n",
            "a\r\nb\r\nc\r\n",
            Ok("a\r\nB\r\nc\r\n"),
        );
        check("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", "a\nb\nc\n", Err(1));
    }

    #[test]
    fn a_missing_final_newline_is_part_of_the_line() {
        check("a\nb", "a\nB", "a\nb", Ok("a\nB"));
        check("a\nb", "a\nB\n", "a\nb", Ok("a\nB\n"));
        check("a\nb", "a\nB", "a\nb\n", Err(2));
    }
}
