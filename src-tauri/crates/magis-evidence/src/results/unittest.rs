//! Reads what `python -m unittest -v` and Django's test runner print on standard error.

use super::collect::{Collector, named, plain};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    reading.explain(found);
    match (reading.ended, found.is_empty()) {
        (true, _) => Ok(Completeness::Whole),
        (false, true) => Err(Problem::NoTest),
        (false, false) => Ok(Completeness::Partial(
            "the output stops before 'Ran … tests'".to_owned(),
        )),
    }
}

#[derive(Default)]
struct Reading {
    /// The test that was announced and whose result has not come yet: its docstring or what it printed may stand
    /// between.
    announced: Option<TestId>,
    /// The failure that is being told behind the list of tests.
    failure: Option<(TestId, String)>,
    behind_list: bool,
    ended: bool,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if line.len() >= 70 && line.chars().all(|c| c == '=') {
            self.explain(found);
            self.behind_list = true;
        } else if line.starts_with("Ran ") && line.contains(" test") {
            self.explain(found);
            self.ended = true;
        } else if self.behind_list {
            self.behind(line);
        } else {
            self.in_list(line, found);
        }
    }

    fn in_list(&mut self, line: &str, found: &mut Collector) {
        let (head, result) = match line.rsplit_once(" ... ") {
            Some((head, result)) => (head, Some(result)),
            None => (line.strip_suffix(" ...").unwrap_or(line), None),
        };
        if let Some(id) = id_of(head) {
            self.announced = Some(id);
        }
        let status = result.and_then(status_of).or_else(|| status_of(line));
        if let Some(status) = status
            && let Some(id) = self.announced.take()
        {
            found.add(id, status, "", None);
        }
    }

    fn behind(&mut self, line: &str) {
        let is_rule = line.len() >= 70 && line.chars().all(|c| c == '-');
        match (&mut self.failure, line.split_once(": ")) {
            (Some((_, text)), _) if !is_rule => {
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(("FAIL" | "ERROR" | "UNEXPECTED SUCCESS", head))) => {
                self.failure = id_of(head).map(|id| (id, String::new()));
            }
            _ => {}
        }
    }

    fn explain(&mut self, found: &mut Collector) {
        if let Some((id, text)) = self.failure.take() {
            found.explain(id, &text);
        }
    }
}

/// Reads `test_adds (tests.test_calc.CalcCase.test_adds)`. Before Python 3.11 the method was not repeated in the
/// brackets; what a subtest was called with may stand behind them.
pub(super) fn id_of(head: &str) -> Option<TestId> {
    let (name, rest) = head.trim().split_once(" (")?;
    let (path, _) = rest.split_once(')')?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.[]-".contains(c));
    if !is_name(name) || !is_name(path) {
        return None;
    }
    let group = path
        .strip_suffix(name)
        .and_then(|path| path.strip_suffix('.'))
        .unwrap_or(path);
    Some(named(group, name))
}

fn status_of(result: &str) -> Option<TestStatus> {
    match result.trim() {
        "ok" => Some(TestStatus::Passed),
        "FAIL" | "unexpected success" => Some(TestStatus::Failed),
        "ERROR" => Some(TestStatus::Errored),
        "expected failure" => Some(TestStatus::Skipped),
        other if other.starts_with("skipped") => Some(TestStatus::Skipped),
        _ => None,
    }
}
