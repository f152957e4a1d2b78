//! Reads the Test Anything Protocol, versions 12 to 14, with the nested subtests that version 14 and Node's runner
//! indent by four spaces.

use super::collect::{Collector, milliseconds, named};
use super::form::Problem;
use super::{Completeness, TestStatus};
use std::time::Duration;

/// Deeper subtests count as being at this depth.
const MAX_DEPTH: usize = 64;

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(line, found);
    }
    reading.tell(found);
    let Reading {
        planned,
        points,
        bailed,
        ..
    } = reading;
    match (planned, bailed) {
        (_, Some(reason)) => Ok(Completeness::Partial(format!("the tests gave up: {reason}"))),
        (Some(planned), None) if points >= planned => Ok(Completeness::Whole),
        (Some(planned), None) => Ok(Completeness::Partial(format!(
            "{points} of {planned} tests are told of"
        ))),
        (None, None) if points == 0 && found.is_empty() => Err(Problem::NoTest),
        (None, None) => Ok(Completeness::Partial("the plan is missing, as 1..N".to_owned())),
    }
}

#[derive(Default)]
struct Reading {
    /// How many tests the outermost plan announces, and how many there were.
    planned: Option<usize>,
    points: usize,
    bailed: Option<String>,
    /// The names of the subtests that are open, the outer first.
    open: Vec<String>,
    /// How many points ended at each depth since the last one of a lesser depth, and whether one was bad.
    below: Vec<(usize, bool)>,
    last: Option<Point>,
    in_details: bool,
}

struct Point {
    group: String,
    name: String,
    status: TestStatus,
    details: String,
    duration: Option<Duration>,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        let trimmed = line.trim_start_matches(' ');
        let depth = ((line.len() - trimmed.len()) / 4).min(MAX_DEPTH);
        if self.in_details {
            self.detail(trimmed);
        } else if trimmed.trim_end() == "---" && self.last.is_some() {
            self.in_details = true;
        } else if let Some(name) = trimmed.strip_prefix("# Subtest: ") {
            self.open.truncate(depth);
            self.open.resize(depth, String::new());
            self.open.push(name.trim().to_owned());
        } else if let Some(reason) = trimmed.strip_prefix("Bail out!") {
            self.bailed = Some(reason.trim().to_owned());
        } else if let Some(rest) = trimmed.strip_prefix("not ok") {
            self.point(depth, rest, TestStatus::Failed, found);
        } else if let Some(rest) = trimmed.strip_prefix("ok") {
            self.point(depth, rest, TestStatus::Passed, found);
        } else if let Some(plan) = trimmed.strip_prefix("1..")
            && depth == 0
        {
            self.planned = plan
                .split([' ', '#'])
                .next()
                .and_then(|count| count.trim().parse().ok());
        }
    }

    fn detail(&mut self, line: &str) {
        let Some(point) = &mut self.last else {
            self.in_details = false;
            return;
        };
        if line.trim_end() == "..." {
            self.in_details = false;
        } else if let Some(time) = line.strip_prefix("duration_ms: ") {
            point.duration = time.trim().parse().ok().and_then(milliseconds);
        } else {
            point.details.push_str(line);
            point.details.push('\n');
        }
    }

    fn point(&mut self, depth: usize, rest: &str, verdict: TestStatus, found: &mut Collector) {
        if !rest.is_empty() && !rest.starts_with(' ') {
            return;
        }
        self.tell(found);
        let (number, name, directive) = parts(rest);
        let status = match directive.to_ascii_lowercase() {
            skip if skip.starts_with("skip") || skip.starts_with("todo") => TestStatus::Skipped,
            _ => verdict,
        };
        self.points += usize::from(depth == 0);
        self.below.resize(depth + 2, (0, false));
        let (inner, inner_bad) = std::mem::take(&mut self.below[depth + 1]);
        self.below[depth].0 += 1;
        self.below[depth].1 |= status.is_bad();
        // A subtest with tests of its own is told of by them, unless it fails though they all pass.
        if inner > 0 && (!status.is_bad() || inner_bad) {
            self.last = None;
            return;
        }
        let outer: Vec<&str> = self.open.iter().take(depth).map(String::as_str).collect();
        let outer: Vec<&str> = outer.into_iter().filter(|name| !name.is_empty()).collect();
        self.last = Some(Point {
            group: outer.join(" > "),
            name: if name.is_empty() { number } else { name },
            status,
            details: String::new(),
            duration: None,
        });
    }

    /// A point is told of when the next one begins: its details stand behind it.
    fn tell(&mut self, found: &mut Collector) {
        self.in_details = false;
        if let Some(point) = self.last.take() {
            found.add(
                named(point.group, point.name),
                point.status,
                &point.details,
                point.duration,
            );
        }
    }
}

/// Takes `1 - adds # SKIP not yet` apart: number, name, directive.
fn parts(rest: &str) -> (String, String, String) {
    let rest = rest.trim();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let mut marks = rest.match_indices('#').map(|(at, _)| at);
    let mark = marks.rfind(|at| !rest[..*at].ends_with('\\'));
    let (name, directive) = match mark {
        Some(at) => (&rest[..at], rest[at + 1..].trim()),
        None => (rest, ""),
    };
    let name = name.trim().replace("\\#", "#").replace("\\\\", "\\");
    (number.to_owned(), name, directive.to_owned())
}
