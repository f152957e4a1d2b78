//! An interval of lines, the paper's [s, e]: 1-based, both ends included.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Lines `first` to `last` of a file, counted from 1, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct LineSpan {
    first: u32,
    last: u32,
}

/// Why two numbers are no interval of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("lines {first} to {last} are no interval: lines count from 1 and the last is not before the first")]
pub struct SpanError {
    first: u32,
    last: u32,
}

impl LineSpan {
    /// The first line alone.
    pub const FIRST_LINE: Self = Self { first: 1, last: 1 };

    /// Returns lines `first` to `last`.
    ///
    /// # Errors
    /// When the first line is 0, or behind the last.
    pub fn new(first: u32, last: u32) -> Result<Self, SpanError> {
        if first >= 1 && first <= last {
            Ok(Self { first, last })
        } else {
            Err(SpanError { first, last })
        }
    }

    /// Returns the first line, from 1.
    pub fn first(self) -> u32 {
        self.first
    }

    /// Returns the last line, included.
    pub fn last(self) -> u32 {
        self.last
    }

    /// Returns how many lines; at least 1.
    pub fn lines(self) -> u32 {
        self.last - self.first + 1
    }

    /// Returns whether `line` lies inside.
    pub fn contains(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }

    /// Returns the lines that both have.
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last)).ok()
    }

    /// Sorts intervals and joins those that overlap or touch.
    pub fn merged(mut spans: Vec<Self>) -> Vec<Self> {
        spans.sort_unstable();
        let mut joined: Vec<Self> = Vec::with_capacity(spans.len());
        for span in spans {
            match joined.last_mut() {
                Some(previous) if span.first <= previous.last.saturating_add(1) => {
                    previous.last = previous.last.max(span.last);
                }
                _ => joined.push(span),
            }
        }
        joined
    }
}

impl TryFrom<(u32, u32)> for LineSpan {
    type Error = SpanError;
    fn try_from((first, last): (u32, u32)) -> Result<Self, SpanError> {
        Self::new(first, last)
    }
}

impl From<LineSpan> for (u32, u32) {
    fn from(span: LineSpan) -> Self {
        (span.first, span.last)
    }
}

impl fmt::Display for LineSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: u32, last: u32) -> LineSpan {
        LineSpan::new(first, last).unwrap()
    }

    #[test]
    fn lines_count_from_one() {
        assert!(LineSpan::new(0, 3).is_err());
        assert!(LineSpan::new(4, 3).is_err());
        assert_eq!(span(3, 3).lines(), 1);
    }

    #[test]
    fn merging_joins_what_overlaps_or_touches() {
        assert_eq!(
            LineSpan::merged(vec![span(9, 9), span(1, 3), span(4, 5), span(2, 2)]),
            [span(1, 5), span(9, 9)]
        );
    }

    #[test]
    fn intersection_is_what_both_have() {
        assert_eq!(span(1, 5).intersection(span(4, 9)), Some(span(4, 5)));
        assert_eq!(span(1, 3).intersection(span(4, 9)), None);
    }
}
