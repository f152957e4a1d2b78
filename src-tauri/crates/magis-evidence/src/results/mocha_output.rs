//! Reads what Mocha's default reporter prints: an outline of the tests, their numbers, and a list of the failures.

use super::collect::{Collector, named, plain};
use super::form::Problem;
use super::outline::{Headings, completeness, indented, numbered, script, without_time};
use super::{Completeness, TestId, TestStatus};
use std::collections::BTreeMap;

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    reading.end(found);
    let is_whole = reading.ended && reading.owed.is_none_or(|owed| owed == 0);
    completeness(is_whole, found, "the end of Mocha's list of failures")
}

#[derive(Default)]
struct Reading {
    headings: Headings,
    /// What the outline says of tests that did not fail. Only what stands behind shows that it is Mocha's.
    outline: Vec<(TestId, TestStatus)>,
    /// The failures in the suites of the outline, by their number.
    failed: BTreeMap<usize, TestId>,
    /// How many failures the list has yet to tell of; none outside of the list.
    owed: Option<usize>,
    listed: Option<Listed>,
    ended: bool,
}

/// A failure of the list.
struct Listed {
    number: usize,
    /// The titles of the suites and of the test, a line each.
    titles: Vec<String>,
    in_titles: bool,
    text: String,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if count_of(line, "passing").is_some() {
            self.tell(found);
            self.tell_outline(found);
            self.owed = None;
            self.ended = true;
        } else if let Some(count) = count_of(line, "failing")
            && self.ended
        {
            self.tell(found);
            self.owed = Some(count);
        } else if let Some(owed) = self.owed {
            self.list_line(line, owed, found);
        } else {
            self.outline_line(line);
        }
    }

    fn outline_line(&mut self, line: &str) {
        let (indent, said) = indented(line);
        if indent < 2 || said.is_empty() {
            return;
        }
        if let Some((number, title)) = numbered(said) {
            // Outside of a suite it may be a list of another program.
            let id = self.id(indent, title).filter(|id| !id.group.is_empty());
            self.failed.extend(id.map(|id| (number, id)));
        } else if let Some((title, status)) = test_of(said) {
            let id = self.id(indent, title);
            self.outline.extend(id.map(|id| (id, status)));
        } else if indent % 2 == 0 {
            self.headings.enter(indent, said);
        }
    }

    /// Makes the identity of a test of the outline, where it stands at the place of a test.
    fn id(&mut self, indent: usize, title: &str) -> Option<TestId> {
        let suites = self.headings.above(indent);
        (indent == 2 + 2 * suites.len()).then(|| named(suites.join(" "), title))
    }

    fn list_line(&mut self, line: &str, owed: usize, found: &mut Collector) {
        let head = line.strip_prefix("  ").and_then(numbered).filter(|_| owed > 0);
        if let Some((number, title)) = head {
            self.tell(found);
            self.owed = Some(owed - 1);
            self.listed = Some(Listed {
                number,
                titles: vec![title.to_owned()],
                in_titles: true,
                text: String::new(),
            });
        } else if owed == 0 && self.is_behind_list(line) {
            self.tell(found);
            self.owed = None;
        } else if let Some(listed) = &mut self.listed {
            listed.line(line);
        }
    }

    /// Returns whether a line ends the list when no failure is owed. The further lines of a message are not indented either, but
    /// no empty line stands before them.
    fn is_behind_list(&self, line: &str) -> bool {
        let after_empty = self.listed.as_ref().is_none_or(|listed| listed.text.ends_with("\n\n"));
        after_empty && !line.is_empty() && !line.starts_with(' ')
    }

    fn tell(&mut self, found: &mut Collector) {
        let Some(listed) = self.listed.take() else { return };
        let id = match (listed.id(), self.failed.remove(&listed.number)) {
            // Old versions have the titles of a failure in one line; the outline tells them apart.
            (Some(id), Some(outlined)) if id.group.is_empty() && id.name == full_title(&outlined) => TestId {
                file: id.file,
                ..outlined
            },
            (Some(id), _) | (None, Some(id)) => id,
            (None, None) => return,
        };
        found.add(id, TestStatus::Failed, &listed.text, None);
    }

    fn tell_outline(&mut self, found: &mut Collector) {
        for (id, status) in std::mem::take(&mut self.outline) {
            found.add(id, status, "", None);
        }
    }

    /// Tells of what the list did not come to. An outline alone is Mocha's where some of its tests pass and some fail.
    fn end(&mut self, found: &mut Collector) {
        self.tell(found);
        let passes = self.outline.iter().any(|(_, status)| *status == TestStatus::Passed);
        let owes = self.owed.is_some_and(|owed| owed > 0);
        if owes || !self.ended && passes && !self.failed.is_empty() {
            self.tell_outline(found);
            for id in std::mem::take(&mut self.failed).into_values() {
                found.add(id, TestStatus::Failed, "", None);
            }
        }
    }
}

impl Listed {
    /// Each title is indented by two more than the one before; the message behind them is not.
    fn line(&mut self, line: &str) {
        let (indent, said) = indented(line);
        self.in_titles &= !said.is_empty() && indent == 5 + 2 * self.titles.len();
        if self.in_titles {
            self.titles.push(said.to_owned());
        } else {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Returns the identity, where a colon ends the titles as in Mocha's lists.
    fn id(&self) -> Option<TestId> {
        let last = self.titles.iter().rposition(|title| title.ends_with(':'))?;
        let name = self.titles[last].strip_suffix(':')?;
        Some(TestId {
            file: self.file(),
            ..named(self.titles[..last].join(" "), name)
        })
    }

    /// Returns the file of the test, which is the context of its function: `at Context.<anonymous> (test/calc.js:5:12)`. A path from
    /// the root is that of another machine.
    fn file(&self) -> Option<String> {
        let frames = self.text.lines().map(str::trim_start);
        let mut places = frames.filter_map(|line| line.strip_prefix("at Context.")?.split_once(" ("));
        let (_, place) = places.next()?;
        let (place, _) = place.rsplit_once(':')?;
        let (path, _) = place.rsplit_once(':')?;
        script(path).filter(|path| !path.starts_with('/') && !path.contains(':'))
    }
}

/// Reads a line of the numbers, as `  3 passing (12ms)` and `  1 failing`.
fn count_of(line: &str, word: &str) -> Option<usize> {
    let (count, rest) = line.strip_prefix("  ")?.split_once(' ')?;
    let rest = rest.strip_prefix(word)?.trim_end();
    (rest.is_empty() || rest.starts_with(" ("))
        .then(|| count.parse().ok())
        .flatten()
}

/// Reads `✓ adds (12ms)`, or `- later` for a test that was not run.
fn test_of(said: &str) -> Option<(&str, TestStatus)> {
    let (mark, title) = said.split_once(' ')?;
    match mark {
        "✓" | "✔" | "√" => Some((without_time(title), TestStatus::Passed)),
        "-" => Some((title, TestStatus::Skipped)),
        _ => None,
    }
}

fn full_title(id: &TestId) -> String {
    format!("{} {}", id.group, id.name).trim_start().to_owned()
}
