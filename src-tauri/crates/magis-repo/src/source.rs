//! The text of a source file as it is in git, or the reason why it is none.
//!
//! Nothing is converted: a byte order mark and the line ends stay as they are.

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
    /// Both.
    Mixed,
}
