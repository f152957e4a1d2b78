//! The text of a source file as it is in git, or the reason why it is none.
//!
//! Nothing is converted: a byte order mark and the line ends stay as they are.

use magis_core::SkipReason;
use serde::{Deserialize, Serialize};

/// Files above this size are skipped: 1 MB.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The text of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// All of it, with its byte order mark where it has one.
    pub text: String,
    /// How its lines end.
    pub line_ending: LineEnding,
    /// Whether the last line ends.
    pub final_newline: bool,
    /// Whether it begins with a byte order mark.
    pub byte_order_mark: bool,
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// `\n`, or no line end at all.
    Lf,
    /// `\r\n`.
    CrLf,
    Mixed,
}

/// Nobody writes lines of more bytes than this; a file with one is taken for minified or generated.
const MAX_LINE_BYTES: usize = 5_000;

/// What the first line of a git LFS pointer begins with.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

impl SourceText {
    /// Reads the bytes of a blob, or says why they are no source text.
    ///
    /// # Errors
    /// When the bytes are no text that can be read.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SkipReason> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(SkipReason::TooLarge {
                bytes: bytes.len() as u64,
                limit: MAX_FILE_BYTES,
            });
        }
        if bytes.starts_with(LFS_POINTER) {
            return Err(SkipReason::LfsPointer);
        }
        if bytes.contains(&0) {
            return Err(SkipReason::Binary);
        }
        let text = String::from_utf8(bytes).map_err(|_| SkipReason::NotUtf8)?;
        if text.split('\n').any(|line| line.len() > MAX_LINE_BYTES) {
            return Err(SkipReason::Minified);
        }
        let (all, windows) = (text.matches('\n').count(), text.matches("\r\n").count());
        let line_ending = match windows {
            0 => LineEnding::Lf,
            _ if windows == all => LineEnding::CrLf,
            _ => LineEnding::Mixed,
        };
        Ok(Self {
            line_ending,
            final_newline: text.ends_with('\n'),
            byte_order_mark: text.starts_with('\u{feff}'),
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &Result<(LineEnding, bool, bool), SkipReason>) {
        let read = SourceText::from_bytes(bytes.to_vec());
        if let Ok(source) = &read {
            assert_eq!(source.text.as_bytes(), bytes, "not a byte may change");
        }
        let read = read.map(|source| (source.line_ending, source.final_newline, source.byte_order_mark));
        assert_eq!(
            &read,
            expected,
            "{:?}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
        );
    }

    #[test]
    fn text_is_taken_as_it_is() {
        check(b"", &Ok((LineEnding::Lf, false, false)));
        check(b"a\nb\n", &Ok((LineEnding::Lf, true, false)));
        check(b"a\r\nb", &Ok((LineEnding::CrLf, false, false)));
        check(b"a\r\nb\n", &Ok((LineEnding::Mixed, true, false)));
        check("\u{feff}größe\n".as_bytes(), &Ok((LineEnding::Lf, true, true)));
    }

    #[test]
    fn what_is_no_source_text_is_skipped_with_its_reason() {
        check(b"\x7fELF\0\0", &Err(SkipReason::Binary));
        check(b"gr\xf6\xdfe\n", &Err(SkipReason::NotUtf8));
        check("x".repeat(5_001).as_bytes(), &Err(SkipReason::Minified));
        check(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            &Err(SkipReason::LfsPointer),
        );
        let big = "line\n".repeat(300_000);
        check(
            big.as_bytes(),
            &Err(SkipReason::TooLarge {
                bytes: 1_500_000,
                limit: MAX_FILE_BYTES,
            }),
        );
    }
}
