//! A change of one file, as line edits against its base version, and its splicing into text.

use crate::{LineSpan, RepoPath};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// New text for an interval of lines of the base version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Edit {
    /// The lines replaced.
    pub span: LineSpan,
    /// What stands there instead, with `\n` line ends and a final one unless empty; empty deletes the lines.
    pub text: String,
}

/// What happens to one file. Edits always refer to the base version, in every round (algorithm 3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileChange {
    /// Lines are replaced.
    Modify {
        edits: Vec<Edit>,
    },
    Create {
        content: String,
    },
    Delete,
    /// The file moves, and may change on the way.
    Rename {
        to: RepoPath,
        edits: Vec<Edit>,
    },
}

/// Why edits do not fit a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// Two edits overlap or are out of order.
    #[error("the edits of lines {0} and {1} overlap")]
    Overlap(LineSpan, LineSpan),
    /// An edit lies behind the end.
    #[error("lines {span} do not exist: the file has {lines}")]
    Outside {
        /// The edit's lines.
        span: LineSpan,
        /// How many lines there are.
        lines: u32,
    },
}

impl Edit {
    /// Applies `edits` to `base` byte-exactly around the changed lines: the file's own line ending (the most frequent
    /// one) is used for the new text, a byte order mark stays, and a missing final newline stays missing.
    ///
    /// # Errors
    /// When an edit's lines do not exist, or two edits overlap.
    pub fn splice(base: &str, edits: &[Self]) -> Result<String, ChangeError> {
        let lines: Vec<&str> = base.split_inclusive('\n').collect();
        for pair in edits.windows(2) {
            if pair[1].span.first() <= pair[0].span.last() {
                return Err(ChangeError::Overlap(pair[0].span, pair[1].span));
            }
        }
        let crlf = base.matches("\r\n").count() * 2 > base.matches('\n').count();
        let ends_open = !base.is_empty() && !base.ends_with('\n');
        let mut spliced = String::with_capacity(base.len());
        let mut next = 0_usize;
        for edit in edits {
            let (first, last) = (edit.span.first() as usize, edit.span.last() as usize);
            if last > lines.len() {
                return Err(ChangeError::Outside {
                    span: edit.span,
                    lines: lines.len() as u32,
                });
            }
            spliced.extend(lines[next..first - 1].iter().copied());
            let mut text = edit.text.replace("\r\n", "\n");
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            if ends_open && last == lines.len() {
                text.truncate(text.trim_end_matches('\n').len());
            }
            if edit.span.first() == 1 && base.starts_with('\u{feff}') && !text.starts_with('\u{feff}') {
                text.insert(0, '\u{feff}');
            }
            spliced.push_str(&if crlf { text.replace('\n', "\r\n") } else { text });
            next = last;
        }
        spliced.extend(lines[next..].iter().copied());
        Ok(spliced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, edits: &[(u32, u32, &str)], expected: &str) {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(first, last, text)| Edit {
                span: LineSpan::new(*first, *last).unwrap(),
                text: (*text).to_owned(),
            })
            .collect();
        assert_eq!(Edit::splice(base, &edits).as_deref(), Ok(expected));
    }

    #[test]
    fn only_the_named_lines_change() {
        check("a\nb\nc\n", &[(2, 2, "B\nBB\n")], "a\nB\nBB\nc\n");
        check("a\nb\nc\n", &[(1, 1, ""), (3, 3, "C")], "b\nC\n");
    }

    #[test]
    fn line_endings_of_the_file_are_kept() {
        check("a\r\nb\r\nc\r\n", &[(2, 2, "B\nBB\n")], "a\r\nB\r\nBB\r\nc\r\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing() {
        check("a\nb", &[(2, 2, "B\n")], "a\nB");
        check("a\nb", &[(1, 1, "A\n")], "A\nb");
    }

    #[test]
    fn a_byte_order_mark_stays() {
        check("\u{feff}a\nb\n", &[(1, 1, "A\n")], "\u{feff}A\nb\n");
    }

    #[test]
    fn edits_behind_the_end_or_overlapping_are_refused() {
        let edit = |first, last| Edit {
            span: LineSpan::new(first, last).unwrap(),
            text: String::new(),
        };
        assert!(matches!(
            Edit::splice("a\n", &[edit(1, 2)]),
            Err(ChangeError::Outside { lines: 1, .. })
        ));
        assert!(matches!(
            Edit::splice("a\nb\n", &[edit(1, 2), edit(2, 2)]),
            Err(ChangeError::Overlap(..))
        ));
    }
}
