//! Where the readers put what they find: bounded, paths made relative, colours taken out.

use super::{Completeness, FailureText, MAX_FAILURE_BYTES, MAX_TESTS, TestId, TestOutcome, TestResults, TestStatus};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest part of a test's identity, in bytes; a longer one keeps its beginning and its length.
const MAX_NAME_BYTES: usize = 2 << 10;

/// The tests found so far.
pub(super) struct Collector {
    /// With `/` for `\`, without a trailing slash.
    folder: String,
    tests: BTreeMap<TestId, TestOutcome>,
    over: usize,
}

impl Collector {
    pub(super) fn new(folder: &str) -> Self {
        Self {
            folder: folder.replace('\\', "/").trim_end_matches('/').to_owned(),
            tests: BTreeMap::new(),
            over: 0,
        }
    }

    pub(super) fn add(&mut self, id: TestId, status: TestStatus, text: &str, duration: Option<Duration>) {
        let id = self.stable(id);
        if self.tests.len() >= MAX_TESTS && !self.tests.contains_key(&id) {
            self.over += 1;
            return;
        }
        let outcome = TestOutcome {
            status,
            failure: status.is_bad().then(|| failure(text)).flatten(),
            duration,
        };
        super::insert(&mut self.tests, id, outcome);
    }

    /// Puts the text that a runner prints behind its list of tests to the test that it is about. Where several texts
    /// are about one test, the first is kept.
    pub(super) fn explain(&mut self, id: TestId, text: &str) {
        let id = self.stable(id);
        if let Some(outcome) = self.tests.get_mut(&id)
            && outcome.status.is_bad()
            && outcome.failure.is_none()
        {
            outcome.failure = failure(text);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    pub(super) fn finish(self, completeness: Completeness) -> TestResults {
        let completeness = if self.over > 0 {
            Completeness::Partial(format!("{} tests more than the {MAX_TESTS} that are kept", self.over))
        } else {
            completeness
        };
        TestResults {
            tests: self.tests,
            completeness,
        }
    }

    /// Returns the identity as it is in every run: whatever the folder, and no longer than can be kept.
    fn stable(&self, id: TestId) -> TestId {
        TestId {
            file: id.file.map(|file| bounded_name(self.relative(&file))),
            group: bounded_name(self.relative(&id.group)),
            name: bounded_name(id.name),
        }
    }

    /// Returns a path relative to the folder of the run where it lies in it, else the text as it is.
    fn relative(&self, path: &str) -> String {
        let plain = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
        let inside = (!self.folder.is_empty())
            .then(|| plain.strip_prefix(&self.folder))
            .flatten()
            .and_then(|rest| rest.strip_prefix('/'));
        match inside {
            Some(rest) => rest.to_owned(),
            None => path.strip_prefix("./").unwrap_or(path).to_owned(),
        }
    }
}

/// Makes an identity without a file.
pub(super) fn named(group: impl Into<String>, name: impl Into<String>) -> TestId {
    TestId {
        file: None,
        group: group.into(),
        name: name.into(),
    }
}

/// Reads a number of seconds, as `0.001` or `1,234.5`; none where it is no length of time.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let number: f64 = text.trim().replace(',', "").parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

pub(super) fn milliseconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number / 1000.0).ok()
}

/// Returns the text without the escape sequences that set colours.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            out.push(character);
        } else if characters.next_if_eq(&'[').is_some() {
            while characters
                .next_if(|next| next.is_ascii_digit() || *next == ';')
                .is_some()
            {}
            characters.next_if(char::is_ascii_alphabetic);
        }
    }
    out
}

fn failure(text: &str) -> Option<FailureText> {
    let half = MAX_FAILURE_BYTES / 2;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    if trimmed.len() <= MAX_FAILURE_BYTES {
        return Some(FailureText {
            text: plain(trimmed),
            cut_bytes: 0,
        });
    }
    let head = &trimmed[..trimmed.floor_char_boundary(half)];
    let tail = &trimmed[trimmed.ceil_char_boundary(trimmed.len() - half)..];
    Some(FailureText {
        text: plain(&format!("{head}\n…\n{tail}")),
        cut_bytes: trimmed.len() - head.len() - tail.len(),
    })
}

fn bounded_name(name: String) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let kept = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
    format!("{kept}… ({} bytes)", name.len())
}
