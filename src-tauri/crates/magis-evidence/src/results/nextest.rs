//! Reads the status lines of `cargo nextest run`. Its `JUnit` report needs a configuration in the project, and its JSON
//! is experimental.

use super::collect::{Collector, named, plain, seconds};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};
use std::collections::BTreeMap;
use std::time::Duration;

struct Line {
    status: TestStatus,
    duration: Option<Duration>,
    said: String,
}

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    // A test that is tried again has several lines, of which the last counts.
    let mut lines: BTreeMap<TestId, Line> = BTreeMap::new();
    let mut current: Option<TestId> = None;
    let mut ended = false;
    let mut started = false;
    for text in report.lines() {
        let text = plain(text);
        let trimmed = text.trim_start();
        started |= trimmed.starts_with("Starting ");
        if trimmed.starts_with("Summary [") {
            ended = true;
            break;
        }
        if let Some((id, line)) = status_line(&text) {
            current = Some(id.clone());
            lines.insert(id, line);
        } else if let Some(line) = current.as_ref().and_then(|id| lines.get_mut(id))
            && !text.starts_with('─')
        {
            line.said.push_str(text.strip_prefix("    ").unwrap_or(&text));
            line.said.push('\n');
        }
    }
    if lines.is_empty() && !started {
        return Err(Problem::NoTest);
    }
    for (id, line) in lines {
        found.add(id, line.status, &line.said, line.duration);
    }
    Ok(if ended {
        Completeness::Whole
    } else {
        Completeness::Partial("the output stops before nextest's summary".to_owned())
    })
}

/// Reads `PASS [   0.012s] (1/5) calc tests::adds`.
fn status_line(line: &str) -> Option<(TestId, Line)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (time, rest) = rest.split_once(']')?;
    let mut word = status.trim();
    if let Some((_, last)) = word.strip_prefix("TRY ").and_then(|tries| tries.split_once(' ')) {
        word = last;
    }
    let status = match word {
        "PASS" | "LEAK" => TestStatus::Passed,
        "FAIL" | "LEAK-FAIL" => TestStatus::Failed,
        "SKIP" => TestStatus::Skipped,
        "ABORT" | "TIMEOUT" | "XFAIL" | "EXECFAIL" | "TMT" => TestStatus::Errored,
        signal if signal.starts_with("SIG") => TestStatus::Errored,
        flaky if flaky.starts_with("FLAKY") => TestStatus::Passed,
        _ => return None,
    };
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let (program, test) = rest.split_once(' ')?;
    let line = Line {
        status,
        duration: seconds(time.trim().trim_end_matches('s')),
        said: String::new(),
    };
    Some((named(program, test.trim()), line))
}
