//! What an issue says, as a query: weighted terms, names, paths, modules and stack frames.

use magis_core::{Hint, Issue};

/// An issue, read once for searching.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IssueQuery {
    /// Search terms with their weights, heaviest first.
    pub terms: Vec<Term>,
    /// Identifiers as the issue spells them.
    pub identifiers: Vec<Mention>,
    /// Paths and file names, `/`-separated.
    pub paths: Vec<Mention>,
    /// Dotted module names (`a.b.c`).
    pub modules: Vec<Mention>,
    /// Stack frames, innermost first.
    pub frames: Vec<Frame>,
    /// What was left out and why, in sentences for a person.
    pub notes: Vec<String>,
}

/// A search term and how much it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// As the index has it: lower case.
    pub text: String,
    /// Its weight; 1 is one plain word of the body.
    pub weight: f64,
}

/// Something the issue names, and how much it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// As the issue spells it.
    pub text: String,
    /// Its weight; 1 is one mention in the body.
    pub weight: f64,
}

/// A frame of a stack trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The file, `/`-separated, as the trace names it (often absolute).
    pub path: String,
    /// The function, where the trace names it.
    pub function: Option<String>,
    /// The line, where the trace names it.
    pub line: Option<u32>,
    /// How far from the innermost frame, 0 = innermost.
    pub depth: u32,
}

impl IssueQuery {
    /// Reads `issue` and what is known beyond it.
    pub fn of(_issue: &Issue, _hints: &[Hint]) -> Self {
        Self::default()
    }
}
