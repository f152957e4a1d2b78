//! Reads what Jest prints for a person: the failures of each file, and its tests where the output is verbose.

use super::collect::{Collector, plain};
use super::form::Problem;
use super::outline::{self, Failure, Headings, completeness, indented, script, without_time};
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    outline::add(reading.failure, found);
    completeness(reading.ended, found, "Jest's numbers of tests")
}

#[derive(Default)]
struct Reading {
    /// The file whose results come next, and whether it passed.
    file: Option<(String, TestStatus)>,
    headings: Headings,
    /// Behind the head of a file its tests may stand, up to an empty line.
    in_outline: bool,
    failure: Option<Failure>,
    ended: bool,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if let Some(head) = head_of(line) {
            outline::add(self.failure.take(), found);
            self.file = Some(head);
            self.headings.clear();
            self.in_outline = true;
        } else if line.starts_with("Test Suites: ") || line.starts_with("Tests: ") {
            outline::add(self.failure.take(), found);
            self.file = None;
            self.ended = true;
        } else if let Some(title) = line.strip_prefix("  ● ") {
            outline::add(self.failure.take(), found);
            self.in_outline = false;
            self.failure = self.failed(title.trim_end());
        } else if let Some((_, _, text)) = &mut self.failure {
            text.push_str(line);
            text.push('\n');
        } else if self.in_outline {
            self.outline_line(line, found);
        }
    }

    /// Reads `calc › fails`, or what Jest says of a file that it cannot load.
    fn failed(&self, title: &str) -> Option<Failure> {
        // Jest's own warnings stand behind two spaces.
        let (file, TestStatus::Failed) = self.file.as_ref()? else {
            return None;
        };
        if title.is_empty() || title.starts_with(' ') || title == "Console" {
            return None;
        }
        if title == "Test suite failed to run" {
            return Some((in_file(file, String::new(), ""), TestStatus::Errored, String::new()));
        }
        let (groups, name) = title.rsplit_once(" › ").unwrap_or(("", title));
        let id = in_file(file, groups.replace(" › ", " "), name);
        Some((id, TestStatus::Failed, String::new()))
    }

    fn outline_line(&mut self, line: &str, found: &mut Collector) {
        let (indent, said) = indented(line);
        let Some((file, _)) = self.file.as_ref().filter(|_| !said.is_empty()) else {
            self.in_outline = false;
            return;
        };
        match test_of(said) {
            Some((name, status)) => {
                let group = self.headings.above(indent).join(" ");
                found.add(in_file(file, group, name), status, "", None);
            }
            None => self.headings.enter(indent, said),
        }
    }
}

/// Reads `FAIL src/calc.test.js (5.1 s)`; in colours a space stands before it, and before the path the name of a project may.
fn head_of(line: &str) -> Option<(String, TestStatus)> {
    let line = line.strip_prefix(' ').unwrap_or(line);
    let (status, rest) = match line.split_once(' ')? {
        ("PASS", rest) => (TestStatus::Passed, rest),
        ("FAIL", rest) => (TestStatus::Failed, rest),
        _ => return None,
    };
    let rest = rest.trim_end();
    let path = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((path, _)) => path,
        None => rest,
    };
    // Vitest puts the test into the same line.
    if path.contains(" > ") {
        return None;
    }
    Some((script(path)?, status))
}

/// Reads `✕ fails (3 ms)`.
fn test_of(said: &str) -> Option<(&str, TestStatus)> {
    let (mark, name) = said.split_once(' ')?;
    match mark {
        "✓" | "√" => Some((without_time(name), TestStatus::Passed)),
        "✕" | "×" => Some((without_time(name), TestStatus::Failed)),
        "○" => Some((name.strip_prefix("skipped ").unwrap_or(name), TestStatus::Skipped)),
        "✎" => Some((name.strip_prefix("todo ").unwrap_or(name), TestStatus::Skipped)),
        _ => None,
    }
}

/// Makes an identity; the name is empty where it is the file as a whole.
fn in_file(file: &str, group: String, name: &str) -> TestId {
    TestId {
        file: Some(file.to_owned()),
        group,
        name: name.to_owned(),
    }
}
