//! Finding where the hunks of a file belong in a text, and putting them there, byte-exactly around.
//!
//! [`find`] alone decides, by the rules of `git apply`: a hunk that begins at the first line belongs to the beginning of
//! the file, one that ends without a line of context belongs to its end, no line takes part in two hunks, and of several
//! places the nearest to the expected one counts. It is stricter where git would guess: a hunk that has moved is placed
//! only where its lines stand once, or where it moved as far as the hunk before. There is no fuzz.
//! It is wider in one thing: where the text has `\r\n` and the hunks have `\n`, as in a work tree with converted line ends,
//! lines are compared without that difference and new ones are written with the text's.

use crate::Hunk;
use std::borrow::Cow;

/// Returns the text with `hunks`, in order, or the line (from 1) at which one does not fit.
pub(crate) fn place<'h>(text: &str, hunks: impl IntoIterator<Item = &'h Hunk>) -> Result<String, u32> {
    let pieces: Vec<HunkToPlace<'_>> = hunks.into_iter().map(HunkToPlace::of).collect();
    let mut image: Vec<Line<'_>> = text.split_inclusive('\n').map(Line::of_text).collect();
    let ends = LineEnds::of(text, image.len(), &pieces);
    let (mut moved, mut grown) = (0_isize, 0_isize);
    for piece in &pieces {
        let at = find(&image, piece, moved, ends).map_err(|line| {
            let line = line.saturating_add_signed(-grown) + 1;
            line.min(text.split_inclusive('\n').count().max(1)) as u32
        })?;
        moved = at.checked_signed_diff(piece.start).unwrap_or(0);
        let old = piece.old().count();
        let mut kept = image.splice(at..at + old, []).collect::<Vec<_>>().into_iter();
        let mut new = Vec::with_capacity(piece.lines.len());
        for (sign, line) in &piece.lines {
            match sign {
                // What stays keeps its own bytes.
                Sign::Stays => new.extend(kept.next().map(Line::placed)),
                Sign::Goes => drop(kept.next()),
                Sign::Comes => new.push(Line::placed(Line::of(ends.written(line)))),
            }
        }
        grown += new.len().checked_signed_diff(old).unwrap_or(0);
        image.splice(at..at, new);
    }
    Ok(image.iter().map(|line| line.text.as_ref()).collect())
}

/// Returns where `piece` belongs in `image`, from 0, when the one before had moved by `moved` lines; else the line at
/// which it does not fit.
fn find(image: &[Line<'_>], piece: &HunkToPlace<'_>, moved: isize, ends: LineEnds) -> Result<usize, usize> {
    let old: Vec<&str> = piece.old().collect();
    let last = image.len().checked_sub(old.len());
    let fits = |at: &usize| {
        let here = image[*at..].iter().zip(&old);
        here.into_iter()
            .all(|(line, wanted)| !line.placed && ends.same(&line.text, wanted))
    };
    let expected = match (piece.at_beginning, piece.at_end) {
        (true, _) => 0,
        (false, true) => last.unwrap_or(0),
        (false, false) => piece.start.saturating_add_signed(moved),
    };
    let found: Vec<usize> = last
        .map(|last| match (piece.at_beginning, piece.at_end) {
            (true, true) if last > 0 => 0..0,
            (true, _) => 0..1,
            (false, true) => last..last + 1,
            (false, false) => 0..last + 1,
        })
        .into_iter()
        .flatten()
        .filter(fits)
        .collect();
    // Git looks from where the hunk would be had nothing moved: before it and behind it by turns, behind it first.
    let nearest = found
        .iter()
        .copied()
        .min_by_key(|at| (at.abs_diff(piece.start), *at < piece.start));
    match nearest {
        Some(at) if found.len() == 1 || at == expected => Ok(at),
        _ => {
            let differs = |offset: &usize| {
                let line = image.get(expected + offset);
                line.is_none_or(|line| line.placed || !ends.same(&line.text, old[*offset]))
            };
            Err(expected + (0..old.len()).find(differs).unwrap_or(0))
        }
    }
}

/// A line of the text while hunks are put into it.
struct Line<'t> {
    /// With its `\n`, unless the file ends without one there.
    text: Cow<'t, str>,
    /// Whether a hunk stands here already.
    placed: bool,
}

impl<'t> Line<'t> {
    fn of_text(text: &'t str) -> Self {
        Self::of(Cow::Borrowed(text))
    }

    fn of(text: Cow<'t, str>) -> Self {
        Self { text, placed: false }
    }

    fn placed(self) -> Self {
        Self { placed: true, ..self }
    }
}

/// A hunk, ready to be placed.
struct HunkToPlace<'h> {
    lines: Vec<(Sign, Cow<'h, str>)>,
    /// Where it stands in the new text when nothing has moved, from 0.
    start: usize,
    at_beginning: bool,
    at_end: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Stays,
    Goes,
    Comes,
}

impl<'h> HunkToPlace<'h> {
    fn of(hunk: &'h Hunk) -> Self {
        let mut lines = Vec::new();
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
            lines.push((sign, line));
        }
        Self {
            start: hunk.new_start.saturating_sub(1) as usize,
            at_beginning: hunk.old_start <= 1,
            at_end: lines.last().is_none_or(|(sign, _)| *sign != Sign::Stays),
            lines,
        }
    }

    /// Returns the lines that have to stand where it goes.
    fn old(&self) -> impl Iterator<Item = &str> {
        let old = self.lines.iter().filter(|(sign, _)| *sign != Sign::Comes);
        old.map(|(_, line)| line.as_ref())
    }
}

/// How line ends are compared and written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    AsTheyAre,
    /// The text has `\r\n` where the hunks have `\n`.
    Converted,
}

impl LineEnds {
    fn of(text: &str, lines: usize, pieces: &[HunkToPlace<'_>]) -> Self {
        let mut of_hunks = pieces.iter().flat_map(|piece| &piece.lines);
        if text.matches("\r\n").count() * 2 > lines && !of_hunks.any(|(_, line)| line.ends_with("\r\n")) {
            Self::Converted
        } else {
            Self::AsTheyAre
        }
    }

    fn same(self, line: &str, wanted: &str) -> bool {
        let converted = || {
            let line = line.strip_suffix("\r\n");
            line.is_some_and(|line| wanted.strip_suffix('\n') == Some(line))
        };
        line == wanted || (self == Self::Converted && converted())
    }

    fn written(self, line: &str) -> Cow<'_, str> {
        match line.strip_suffix('\n') {
            Some(content) if self == Self::Converted => Cow::Owned(format!("{content}\r\n")),
            _ => Cow::Borrowed(line),
        }
    }
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
        let (old, new) = ("0\na\nb\nc\n1\n", "0\na\nB\nc\n1\n");
        check(old, new, "-\n0\na\nb\nc\n1\n", Ok("-\n0\na\nB\nc\n1\n"));
        check(old, new, "-\n-\na\nb\nc\na\nb\nc\n1\n", Err(2));
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
