//! Reads what `RSpec` prints for a person: the failures, and the lines with which to run them again.
//!
//! An example that passes has no mark of its own in any output, so only failed ones are told of.

use super::collect::{Collector, plain};
use super::form::Problem;
use super::outline::{Headings, completeness, indented, numbered};
use super::{Completeness, TestId, TestStatus};
use std::collections::BTreeMap;

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    reading.end(found);
    if reading.ended && reading.broke_outside {
        let why = "errors happened outside of the examples";
        return Ok(Completeness::Partial(why.to_owned()));
    }
    completeness(reading.ended, found, "the number of examples")
}

#[derive(Default)]
struct Reading {
    headings: Headings,
    /// The full descriptions of failures in the documentation's outline, by their number.
    outlined: BTreeMap<usize, String>,
    in_failures: bool,
    failures: Vec<Failure>,
    broke_outside: bool,
    ended: bool,
}

struct Failure {
    number: usize,
    description: String,
    status: TestStatus,
    /// The file of the example, if the trace has it.
    file: Option<String>,
    text: String,
    /// A line to run it again has told of it.
    told: bool,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if let Some((file, description)) = rerun_of(line) {
            self.in_failures = false;
            self.tell(file, description, found);
        } else if line == "Failures:" {
            self.in_failures = true;
        } else if is_count(line) {
            self.in_failures = false;
            self.ended = true;
        } else if line.starts_with("An error occurred ") {
            self.in_failures = false;
            self.broke_outside = true;
        } else if self.in_failures {
            self.failure_line(line);
        } else {
            self.outline_line(line);
        }
    }

    fn failure_line(&mut self, line: &str) {
        if let Some((number, description)) = line.strip_prefix("  ").and_then(numbered) {
            self.failures.push(Failure {
                number,
                description: description.to_owned(),
                status: TestStatus::Failed,
                file: None,
                text: String::new(),
                told: false,
            });
        } else if !line.is_empty() && !line.starts_with(' ') {
            self.in_failures = false;
        } else if let Some(failure) = self.failures.last_mut() {
            failure.line(line);
        }
    }

    /// Reads `    fails (FAILED - 1)` below the headings of the documentation.
    fn outline_line(&mut self, line: &str) {
        let (indent, said) = indented(line);
        let failed = said.strip_suffix(')').and_then(|said| said.rsplit_once(" (FAILED - "));
        if let Some((description, number)) = failed {
            if let Ok(number) = number.parse() {
                let mut parts = self.headings.above(indent);
                parts.push(description);
                self.outlined.insert(number, joined(&parts));
            }
        } else if !said.is_empty() {
            self.headings.enter(indent, said);
        }
    }

    /// Tells of an example for which there is a line to run it again.
    fn tell(&mut self, file: String, description: &str, found: &mut Collector) {
        let id = id_of(Some(file), description);
        let mut left = self.failures.iter_mut().filter(|failure| !failure.told);
        match left.find(|failure| failure.description == description) {
            Some(failure) => {
                failure.told = true;
                self.outlined.remove(&failure.number);
                found.add(id, failure.status, &failure.text, None);
            }
            None => found.add(id, TestStatus::Failed, "", None),
        }
    }

    /// Tells of what the output did not come to before it stopped. Other programs have such lists, too, so that a failure of one
    /// needs a trace into a file of examples.
    fn end(&mut self, found: &mut Collector) {
        for failure in self.failures.iter().filter(|failure| !failure.told) {
            if let Some(file) = &failure.file {
                self.outlined.remove(&failure.number);
                let id = id_of(Some(file.clone()), &failure.description);
                found.add(id, failure.status, &failure.text, None);
            }
        }
        if !self.ended {
            for description in self.outlined.values() {
                found.add(id_of(None, description), TestStatus::Failed, "", None);
            }
        }
    }
}

impl Failure {
    fn line(&mut self, line: &str) {
        let (indent, said) = indented(line);
        // RSpec has the class of an exception in a line of its own, except for those of its own checks.
        let class = said.strip_suffix(':').unwrap_or_default();
        let is_class = class.starts_with(|first: char| first.is_ascii_uppercase())
            && class
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_'));
        if is_class && indent == 5 {
            self.status = TestStatus::Errored;
        }
        let place = said.strip_prefix("# ").and_then(|place| place.split_once(".rb:"));
        if let Some((path, _)) = place
            && path.ends_with("_spec")
            && self.file.is_none()
        {
            self.file = Some(format!("{path}.rb"));
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Reads `rspec ./spec/calc_spec.rb:5 # Calc fails`; where several examples stand in one line, it is
/// `rspec './spec/calc_spec.rb[1:2]' # Calc fails`.
fn rerun_of(line: &str) -> Option<(String, &str)> {
    let (place, description) = line.trim().strip_prefix("rspec ")?.split_once(" # ")?;
    let place = place.trim_matches(['\'', '"']);
    let end = place.rfind(".rb")? + ".rb".len();
    let is_place = place.starts_with(['.', '/']) && place[end..].starts_with([':', '[']);
    is_place.then(|| (place[..end].to_owned(), description))
}

/// Returns whether a line is `4 examples, 2 failures`, or the like.
fn is_count(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(count, rest)| {
        count.parse::<usize>().is_ok() && rest.starts_with("example") && rest.contains(" failure")
    })
}

/// Joins descriptions as `RSpec` does: the name of a method stands directly behind its class.
fn joined(parts: &[&str]) -> String {
    let mut whole = String::new();
    for part in parts {
        let is_method = ["#", ".", "::"].iter().any(|mark| part.starts_with(mark));
        let is_class = whole.starts_with(|first: char| first.is_ascii_uppercase()) && !whole.contains(' ');
        if !(whole.is_empty() || is_method && is_class) {
            whole.push(' ');
        }
        whole.push_str(part);
    }
    whole
}

fn id_of(file: Option<String>, description: &str) -> TestId {
    TestId {
        file,
        group: String::new(),
        name: description.to_owned(),
    }
}
