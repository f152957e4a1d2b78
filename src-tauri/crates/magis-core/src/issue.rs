//! The issue as a person pasted it, checked once.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An issue: its text, and the title taken from its first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(try_from = "String", into = "String")]
pub struct Issue {
    text: String,
}

/// Why a text is no issue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IssueError {
    /// Nothing but white space.
    #[error("the issue is empty; paste its text")]
    Empty,
    /// Only an address: nothing is fetched from the network.
    #[error("the issue is only the address {0}; nothing is fetched from the network, so paste its text")]
    OnlyAddress(String),
}

impl Issue {
    /// Checks `text`. Line endings become `\n`; nothing else changes.
    ///
    /// # Errors
    /// When the text is empty, or only an address.
    pub fn new(text: impl AsRef<str>) -> Result<Self, IssueError> {
        let text = text
            .as_ref()
            .trim_start_matches('\u{feff}')
            .replace("\r\n", "\n")
            .replace('\0', "\u{fffd}");
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(IssueError::Empty);
        }
        let is_address = ["http://", "https://"].iter().any(|scheme| trimmed.starts_with(scheme));
        if is_address && !trimmed.contains(char::is_whitespace) {
            return Err(IssueError::OnlyAddress(trimmed.to_owned()));
        }
        Ok(Self {
            text: trimmed.to_owned(),
        })
    }

    /// Returns the whole text, title included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the first line, without Markdown's heading marks; shown in lists.
    pub fn title(&self) -> &str {
        let line = self
            .text
            .lines()
            .find(|line| !line.trim_matches(['#', ' ', '\t']).is_empty())
            .unwrap_or("");
        line.trim_matches(['#', ' ', '\t'])
    }
}

impl TryFrom<String> for Issue {
    type Error = IssueError;
    fn try_from(text: String) -> Result<Self, IssueError> {
        Self::new(text)
    }
}

impl From<Issue> for String {
    fn from(issue: Issue) -> Self {
        issue.text
    }
}

/// What a person knows beyond the issue: comments, a failing log, a word during the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum Hint {
    /// Comments from the discussion before the fix (the paper's hints).
    Comments(String),
    /// The output of a failing test or program.
    FailingLog(String),
    /// A word said while the run was under way.
    Word(String),
}

impl Hint {
    /// Returns the text, whatever its kind.
    pub fn text(&self) -> &str {
        match self {
            Self::Comments(text) | Self::FailingLog(text) | Self::Word(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_issue_is_refused() {
        assert_eq!(Issue::new(" \n\t"), Err(IssueError::Empty));
    }

    #[test]
    fn an_address_alone_is_refused_and_says_to_paste() {
        let error = Issue::new("https://example.org/issues/1\n").unwrap_err();
        assert!(error.to_string().contains("paste its text"));
        assert!(Issue::new("See https://example.org/issues/1").is_ok());
    }

    #[test]
    fn the_title_is_the_first_line_that_says_something() {
        assert_eq!(
            Issue::new("##\n\n## Crash on start ##\nbody").unwrap().title(),
            "Crash on start"
        );
    }
}
