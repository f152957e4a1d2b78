//! The signals of the ranking as one table: the name of each, by which it can be switched off and measured, how much it counts,
//! and what works it out.
//!
//! A new signal is a variant and a row here, and a file under `signals`.

use crate::SearchError;
use crate::file::File;
use crate::signals::commits::{self, ChangeHistory};
use crate::signals::{
    Found, Propagated, SignalInput, calls, co_change, example, imports, literal, modules, name_words, names,
    path_words, quoted, text, traces,
};
use magis_core::{Evidence, RepoPath};
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
    Quoted,
    Modules,
    /// Frames of a trace.
    Traces,
    /// Runs of words of the issue in its string literals.
    Literals,
    /// Called by the code in the issue.
    Examples,
    /// Past commits whose messages resemble the issue.
    PastCommits,
    Recency,
    /// Tests that resemble the issue, and what they test.
    Tests,
    /// Called by the functions that match best.
    Calls,
    /// An import away from one of the best files.
    Imports,
    /// Changed together with one of the best files.
    ChangedTogether,
    /// Tests, documentation, examples, copies and output rank lower.
    Kinds,
}

/// The pass of the ranking in which a signal is worked out.
pub(crate) enum Pass {
    /// First, for each file by itself; strengths by weight are added up. None where there is no history to look at.
    Strength(StrengthOf),
    /// Second, a share of the scores of the best files is propagated to others, the weight of it.
    Propagation {
        /// To which files, how much, and from which.
        shares: fn(&SignalInput<'_>, Option<&ChangeHistory<'_>>, &[f64]) -> Option<Propagated>,
        /// Why, of the file it comes from.
        evidence: fn(RepoPath) -> Evidence,
    },
    /// In both passes, a factor of the sum.
    Factor(fn(&File) -> f64),
}

type StrengthOf = for<'a> fn(&SignalInput<'a>, Option<&ChangeHistory<'a>>) -> Result<Option<Found<'a>>, SearchError>;

/// A row of the table of signals.
pub(crate) struct Row {
    signal: Signal,
    name: &'static str,
    weight: f64,
    pass: Pass,
}

const COUNT: usize = 18;

/// Every signal, in the order of [`Signal`]. The weights are chosen by hand; fitted ones were not better on other repositories.
#[rustfmt::skip]
static TABLE: [Row; COUNT] = [
    strength(Signal::Text, "text", 1.0, |reading, _| Ok(Some(text::files(reading)))),
    strength(Signal::Chunks, "chunks", 0.7, |reading, _| Ok(Some(text::chunks(reading)))),
    strength(Signal::Title, "title", 0.4, |reading, _| Ok(Some(text::title(reading)))),
    strength(Signal::PathWords, "path-words", 0.4, |reading, _| Ok(Some(path_words::find(reading)))),
    strength(Signal::Names, "names", 0.6, |reading, _| Ok(Some(names::find(reading)))),
    strength(Signal::NameWords, "name-words", 0.4, |reading, _| Ok(Some(name_words::find(reading)))),
    strength(Signal::Quoted, "quoted", 1.0, |reading, _| Ok(Some(quoted::find(reading)))),
    strength(Signal::Modules, "modules", 0.4, |reading, _| Ok(Some(modules::find(reading)))),
    strength(Signal::Traces, "traces", 1.0, |reading, _| Ok(Some(traces::find(reading)))),
    strength(Signal::Literals, "literals", 0.4, |reading, _| literal::find(reading).map(Some)),
    strength(Signal::Examples, "examples", 0.2, |reading, _| Ok(Some(example::find(reading)))),
    strength(Signal::PastCommits, "past-commits", 0.4, |reading, past| Ok(past.map(|past| commits::resembling(reading, past)))),
    strength(Signal::Recency, "recency", 0.05, |reading, past| Ok(past.map(|past| commits::recency(reading, past)))),
    strength(Signal::Tests, "tests", 0.4, |reading, _| Ok(Some(crate::signals::tests::find(reading)))),
    strength(Signal::Calls, "calls", 0.2, |reading, _| Ok(Some(calls::find(reading)))),
    Row {
        signal: Signal::Imports,
        name: "imports",
        weight: 0.12,
        pass: Pass::Propagation {
            shares: |reading, _, scores| Some(imports::propagate(reading, scores)),
            evidence: |of| Evidence::Neighbour { of },
        },
    },
    Row {
        signal: Signal::ChangedTogether,
        name: "changed-together",
        weight: 0.06,
        pass: Pass::Propagation {
            shares: |_, past, scores| past.map(|past| co_change::propagate(past, scores)),
            evidence: |with| Evidence::ChangedTogether { with },
        },
    },
    Row { signal: Signal::Kinds, name: "kinds", weight: 1.0, pass: Pass::Factor(|file| file.kind.factor()) },
];

const fn strength(signal: Signal, name: &'static str, weight: f64, of: StrengthOf) -> Row {
    Row {
        signal,
        name,
        weight,
        pass: Pass::Strength(of),
    }
}

impl Signal {
    /// All of them, in the order in which they are worked out.
    pub const ALL: [Self; COUNT] = {
        let mut all = [Self::Text; COUNT];
        let mut at = 0;
        while at < COUNT {
            all[at] = TABLE[at].signal;
            at += 1;
        }
        all
    };

    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns how much it counts, its strength being 0..1.
    pub(crate) fn weight(self) -> f64 {
        self.row().weight
    }

    pub(crate) fn pass(self) -> &'static Pass {
        &self.row().pass
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
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
    /// Every signal.
    pub const ALL: Self = Self((1 << Signal::ALL.len()) - 1);
    /// No signal at all.
    pub const NONE: Self = Self(0);

    /// Adds `signal` to the set.
    #[must_use]
    pub fn with(self, signal: Signal) -> Self {
        Self(self.0 | 1 << signal as u32)
    }

    /// Takes `signal` out of the set.
    #[must_use]
    pub fn without(self, signal: Signal) -> Self {
        Self(self.0 & !(1 << signal as u32))
    }

    /// Returns whether `signal` is among them.
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
    fn each_signal_has_the_row_in_its_place() {
        for (at, signal) in Signal::ALL.into_iter().enumerate() {
            assert_eq!(signal as usize, at, "{signal}");
        }
    }

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
