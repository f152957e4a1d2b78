//! A regular expression compiled once, on first use.

use regex::{CaptureMatches, Captures, Match, Regex};
use std::borrow::Cow;
use std::sync::OnceLock;

/// A regular expression for a `static`. One that does not compile matches nothing, which the tests of its users show.
pub(crate) struct Pattern {
    text: &'static str,
    made: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            made: OnceLock::new(),
        }
    }

    fn made(&self) -> Option<&Regex> {
        let made = self.made.get_or_init(|| Regex::new(self.text).ok());
        debug_assert!(made.is_some(), "the pattern {} does not compile", self.text);
        made.as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.made().is_some_and(|made| made.is_match(text))
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.made()?.find(text)
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.made()?.captures(text)
    }

    pub(crate) fn captures_iter<'r, 't>(&'r self, text: &'t str) -> impl Iterator<Item = Captures<'t>> + use<'r, 't> {
        let all: Option<CaptureMatches<'r, 't>> = self.made().map(|made| made.captures_iter(text));
        all.into_iter().flatten()
    }

    pub(crate) fn replace_all<'t>(&self, text: &'t str, with: &str) -> Cow<'t, str> {
        self.made()
            .map_or(Cow::Borrowed(text), |made| made.replace_all(text, with))
    }
}
