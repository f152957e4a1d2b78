//! How lines end in a work tree where git converts them, as far as the content of a file decides that.

use serde::{Deserialize, Serialize};

/// How git writes the lines of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NewLines {
    AsTheyAre,
    /// All with `\r\n`.
    Crlf,
    /// All with `\r\n`, if the content looks like text and has no `\r`.
    CrlfIfText,
}

impl NewLines {
    /// Returns the text as git would write it.
    pub fn written(self, text: String) -> String {
        match self {
            Self::Crlf => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Self::CrlfIfText if !text.contains('\r') && looks_like_text(text.as_bytes()) => text.replace('\n', "\r\n"),
            Self::AsTheyAre | Self::CrlfIfText => text,
        }
    }
}

/// Returns whether git leaves the line ends of a file as they are where this is its staged version (unless it is told that the file is text).
pub(super) fn are_kept_with(staged: &[u8]) -> bool {
    staged.windows(2).any(|two| two == b"\r\n") && looks_like_text(staged)
}

/// Returns whether git takes it for text: it has no NUL, no `\r` by itself, and one in 128 bytes at the most that nobody prints (convert.c).
fn looks_like_text(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_suffix(b"\x1a").unwrap_or(bytes);
    let is_odd = |byte: &u8| matches!(byte, 0..=7 | 11 | 14..=26 | 28..=31 | 127);
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let odd = bytes.iter().filter(|byte| is_odd(byte)).count();
    let printed = bytes.iter().filter(|byte| !is_odd(byte) && !is_end(byte)).count();
    let is_alone = |(at, byte): (usize, &u8)| *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    !bytes.contains(&0) && !bytes.iter().enumerate().any(is_alone) && odd <= printed / 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_with_crlf_keeps_its_line_ends() {
        assert!(are_kept_with(b"a\r\nb\n"));
        for other in [&b"a\n"[..], b"a\rb\n", b"a\rb\r\n", b"a\0\r\n", b"a\x01\r\n", b""] {
            assert!(!are_kept_with(other), "{other:?}");
        }
    }

    #[test]
    fn lines_get_crlf_where_git_would_give_it_to_them() {
        let check = |lines: NewLines, text: &str, expected: &str| assert_eq!(lines.written(text.to_owned()), expected);
        check(NewLines::AsTheyAre, "a\nb\r\n", "a\nb\r\n");
        check(NewLines::Crlf, "a\nb\r\nc", "a\r\nb\r\nc");
        check(NewLines::Crlf, "a\rb\n\u{1}\n", "a\rb\r\n\u{1}\r\n");
        check(NewLines::CrlfIfText, "a\nb", "a\r\nb");
        check(NewLines::CrlfIfText, "a\nb\r\n", "a\nb\r\n");
        check(NewLines::CrlfIfText, "a\rb\n", "a\rb\n");
        check(NewLines::CrlfIfText, "a\u{1}\n", "a\u{1}\n");
        check(NewLines::CrlfIfText, "\t\u{1b}[1m\n\u{1a}", "\t\u{1b}[1m\r\n\u{1a}");
    }
}
