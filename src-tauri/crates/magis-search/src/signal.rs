//! The signals of the ranking by name, so that each can be switched off and measured; and how much each counts.

use std::fmt;

/// Something that speaks for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// BM25 over the text of the file.
    Text,
    /// BM25 of its best function-sized chunk.
    Chunks,
    /// BM25 of file and chunk by the words of the title alone.
    Title,
    /// Words of the path.
    PathWords,
    /// Names it defines that the issue mentions.
    Names,
    /// Words of the issue that together make up a name it defines.
    NameWords,
    /// Its path, quoted.
    Quoted,
    /// Its module, dotted.
    Modules,
    /// Frames of a trace.
    Traces,
    /// Runs of words of the issue in its string literals.
    Literals,
    /// Called by the code in the issue.
    Examples,
    /// Past commits whose messages resemble the issue.
    PastCommits,
    /// Changed lately.
    Recency,
    /// Tests that resemble the issue, and what they test.
    Tests,
    /// Called by the functions that match best.
    Calls,
    /// Changed together with one of the best files.
    ChangedTogether,
    /// An import away from one of the best files.
    Imports,
    /// Tests, documentation, examples, copies and output rank lower.
    Kinds,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Text,
        Self::Chunks,
        Self::Title,
        Self::PathWords,
        Self::Names,
        Self::NameWords,
        Self::Quoted,
        Self::Modules,
        Self::Traces,
        Self::Literals,
        Self::Examples,
        Self::PastCommits,
        Self::Recency,
        Self::Tests,
        Self::Calls,
        Self::ChangedTogether,
        Self::Imports,
        Self::Kinds,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Chunks => "chunks",
            Self::Title => "title",
            Self::PathWords => "path-words",
            Self::Names => "names",
            Self::NameWords => "name-words",
            Self::Quoted => "quoted",
            Self::Modules => "modules",
            Self::Traces => "traces",
            Self::Literals => "literals",
            Self::PastCommits => "past-commits",
            Self::Tests => "tests",
            Self::Calls => "calls",
            Self::Examples => "examples",
            Self::Recency => "recency",
            Self::ChangedTogether => "changed-together",
            Self::Imports => "imports",
            Self::Kinds => "kinds",
        }
    }

    /// How much it counts, its strength being 0..1. Chosen by hand; fitted weights were not better on other
    /// repositories. [`Signal::Imports`] and [`Signal::ChangedTogether`] are shares of another file's score, and [`Signal::Kinds`] is a factor (see `kind`).
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Text | Self::Quoted | Self::Traces | Self::Kinds => 1.0,
            Self::Chunks => 0.7,
            Self::Names => 0.6,
            Self::PathWords
            | Self::Modules
            | Self::Title
            | Self::NameWords
            | Self::PastCommits
            | Self::Literals
            | Self::Tests => 0.4,
            Self::Imports => 0.12,
            Self::Calls | Self::Examples => 0.2,
            Self::ChangedTogether => 0.06,
            Self::Recency => 0.05,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which signals a ranking listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals(u32);

impl Signals {
    /// All.
    pub const ALL: Self = Self((1 << Signal::ALL.len()) - 1);
    /// None.
    pub const NONE: Self = Self(0);

    /// These and `signal`.
    #[must_use]
    pub fn with(self, signal: Signal) -> Self {
        Self(self.0 | 1 << signal as u32)
    }

    /// These but `signal`.
    #[must_use]
    pub fn without(self, signal: Signal) -> Self {
        Self(self.0 & !(1 << signal as u32))
    }

    /// Whether `signal` is among them.
    pub fn has(self, signal: Signal) -> bool {
        self.0 & 1 << signal as u32 != 0
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_can_be_left_out() {
        for signal in Signal::ALL {
            let others = Signals::ALL.without(signal);
            assert!(!others.has(signal) && others.with(signal) == Signals::ALL, "{signal}");
            assert_eq!(
                Signal::ALL.into_iter().filter(|other| others.has(*other)).count(),
                Signal::ALL.len() - 1
            );
        }
    }
}
