//! A path inside a repository: relative, `/`-separated, UTF-8, never leaving the tree.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// A validated path of a file in a git tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

/// Why a text is no path inside a repository.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    #[error("a path inside the repository cannot be empty")]
    Empty,
    /// It starts at a root.
    #[error("'{0}' is absolute; give it relative to the repository's root")]
    Absolute(String),
    /// It has `.`, `..`, an empty part or `.git` as a part.
    #[error("'{0}' has a part '{1}', which no file of a git tree can have")]
    Part(String, String),
    /// A NUL byte or a line break stands in it.
    #[error("{0:?} holds a control character, which is not supported in paths")]
    Control(String),
}

impl RepoPath {
    /// Makes a path of `text` where it is relative, has no empty part and no `..`.
    ///
    /// # Errors
    /// When the path is empty or absolute, or has a control character or a part that no file of a git tree can have.
    pub fn new(text: impl Into<String>) -> Result<Self, PathError> {
        let text = text.into();
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute(text));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control(text));
        }
        let bad = |part: &&str| matches!(*part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
        match text.split('/').find(bad) {
            Some(part) => Err(PathError::Part(text.clone(), part.to_owned())),
            None => Ok(Self(text)),
        }
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part of the path.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the folder, without a trailing slash; empty at the root.
    pub fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns the extension in lower case, without its dot; empty if there is none.
    pub fn extension(&self) -> String {
        match self.file_name().rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
            _ => String::new(),
        }
    }
}

impl TryFrom<String> for RepoPath {
    type Error = PathError;
    fn try_from(text: String) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl std::str::FromStr for RepoPath {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.0
    }
}

impl AsRef<str> for RepoPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_a_git_tree_can_hold() {
        for good in [
            "a.py",
            "src/my file.rs",
            "ünï/码.go",
            ".github/workflows/ci.yml",
            "a..b",
        ] {
            assert_eq!(RepoPath::new(good).map(|p| p.to_string()), Ok(good.to_owned()));
        }
    }

    #[test]
    fn refuses_what_would_leave_the_tree() {
        for bad in [
            "",
            "/etc/passwd",
            "../a",
            "a//b",
            "a/./b",
            "a/",
            ".git/config",
            "a/.GIT/x",
            "a\0b",
            "a\nb",
        ] {
            assert!(RepoPath::new(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn names_its_parts() {
        let path = RepoPath::new("src/net/Url.RS").unwrap();
        assert_eq!(
            (path.parent(), path.file_name(), path.extension().as_str()),
            ("src/net", "Url.RS", "rs")
        );
        assert_eq!(RepoPath::new(".gitignore").unwrap().extension(), "");
    }
}
