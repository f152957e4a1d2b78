//! Reads what Vitest prints for a person: its failures, and the tests of its outline.
//!
//! The identities are those of its XML, where the file is the class.

use super::collect::{Collector, named, plain};
use super::form::Problem;
use super::outline::{self, Failure, Headings, completeness, indented, script};
use super::{Completeness, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    outline::add(reading.failure, found);
    completeness(reading.ended, found, "Vitest's numbers of tests")
}

#[derive(Default)]
struct Reading {
    /// The file of the outline whose tests come next.
    file: Option<String>,
    headings: Headings,
    /// Files and suites that failed beside their tests are told before the tests that failed.
    in_suites: bool,
    failure: Option<Failure>,
    ended: bool,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if line.starts_with('⎯') {
            outline::add(self.failure.take(), found);
            self.file = None;
            if line.contains(" Failed ") {
                self.in_suites = line.contains(" Failed Suites ");
            }
        } else if let Some(head) = line.strip_prefix(' ').unwrap_or(line).strip_prefix("FAIL ") {
            outline::add(self.failure.take(), found);
            self.file = None;
            self.failure = self.failed(head.trim());
        } else if line.trim_start().starts_with("Test Files ") {
            outline::add(self.failure.take(), found);
            self.file = None;
            self.ended = true;
        } else if let Some((_, _, text)) = &mut self.failure {
            text.push_str(line);
            text.push('\n');
        } else {
            self.outline_line(line, found);
        }
    }

    /// Reads `src/calc.test.ts > calc > fails`; `src/calc.test.ts [ src/calc.test.ts ]` is a file that cannot be loaded.
    fn failed(&self, head: &str) -> Option<Failure> {
        let (id, status) = match head.split_once(" > ") {
            // No test of such a suite has run.
            Some(_) if self.in_suites => return None,
            Some((file, name)) => (named(script(file)?, name), TestStatus::Failed),
            None if self.in_suites || head.ends_with(" ]") => {
                let (file, _) = head.split_once(" [ ").unwrap_or((head, ""));
                (named(script(file)?, ""), TestStatus::Errored)
            }
            None => return None,
        };
        Some((id, status, String::new()))
    }

    /// Reads ` ❯ src/calc.test.ts (2 tests | 1 failed) 5ms`, and what stands below it, as `   × calc > fails 4ms`. The verbose
    /// reporter has the file before the name of each test instead.
    fn outline_line(&mut self, line: &str, found: &mut Collector) {
        let (indent, said) = indented(line);
        let Some((mark, said)) = said.split_once(' ') else {
            return;
        };
        let status = match mark {
            "✓" | "√" => Some(TestStatus::Passed),
            "×" => Some(TestStatus::Failed),
            "↓" => Some(TestStatus::Skipped),
            "❯" => None,
            _ => return,
        };
        if indent == 1 {
            self.headings.clear();
            self.file = heading_of(said).and_then(script);
            if let (Some((file, name)), Some(status)) = (said.split_once(" > "), status)
                && let Some(file) = script(file)
            {
                found.add(named(file, without_notes(name)), status, "", None);
            }
            return;
        }
        let Some(file) = &self.file else { return };
        if status != Some(TestStatus::Failed)
            && let Some(title) = heading_of(said)
        {
            self.headings.enter(indent, title);
        } else if let Some(status) = status {
            let mut path = self.headings.above(indent);
            // Where lines are missing, nobody can tell to which suite the test belongs.
            if indent == 3 + 2 * path.len() {
                path.push(without_notes(said));
                found.add(named(file.clone(), path.join(" > ")), status, "", None);
            }
        }
    }
}

/// Returns the title of a file or suite, behind which the number of its tests stands: `calc (3 tests | 1 failed) 5ms`.
fn heading_of(said: &str) -> Option<&str> {
    let (title, rest) = said.rsplit_once(" (")?;
    let (counts, _) = rest.split_once(')')?;
    let count = counts.split(' ').next()?;
    count.parse::<usize>().is_ok().then(|| title.trim_end())
}

/// Returns the name of a test without what stands behind it: `fails 12ms (retry x2)`.
fn without_notes(said: &str) -> &str {
    let mut name = said;
    for note in [" (retry x", " (repeat x", " [skipped]"] {
        name = name.rfind(note).map_or(name, |at| &name[..at]);
    }
    let timed = name.strip_suffix("ms").and_then(|name| name.rsplit_once(' '));
    match timed {
        Some((before, time)) if time.parse::<usize>().is_ok() => before.trim_end(),
        _ => name,
    }
}
