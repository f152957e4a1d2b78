//! Reads what sympy's own `bin/test --verbose` prints.

use super::collect::{Collector, plain};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut file = String::new();
    let mut failure: Option<(TestId, String)> = None;
    let mut ended = false;
    for line in report.lines() {
        let line = plain(line);
        if line.contains(" tests finished: ") {
            ended = true;
            break;
        } else if let Some((failed, test)) = failure_head(&line) {
            tell(failure.take(), found);
            failure = Some((id_in(failed, test), String::new()));
        } else if let Some((_, text)) = &mut failure
            && line.trim_matches('_').is_empty() == line.trim().is_empty()
        {
            text.push_str(&line);
            text.push('\n');
        } else if let Some((name, status)) = result_of(&line) {
            found.add(id_in(&file, name), status, "", None);
        } else if let Some(entered) = file_of(&line) {
            entered.clone_into(&mut file);
            if line.contains("Failed to import") {
                found.add(id_in(&file, ""), TestStatus::Errored, "", None);
            }
        }
    }
    tell(failure, found);
    match (ended, found.is_empty()) {
        (true, _) => Ok(Completeness::Whole),
        (false, true) => Err(Problem::NoTest),
        (false, false) => Ok(Completeness::Partial(
            "the output stops before 'tests finished'".to_owned(),
        )),
    }
}

/// Makes an identity; the name is empty where it is the file as a whole.
fn id_in(file: &str, name: &str) -> TestId {
    TestId {
        file: Some(file.to_owned()),
        group: String::new(),
        name: name.to_owned(),
    }
}

fn tell(failure: Option<(TestId, String)>, found: &mut Collector) {
    if let Some((id, text)) = failure {
        found.explain(id, &text);
    }
}

/// Reads `sympy/core/tests/test_basic.py[20]`; the number is a question mark where the file cannot be imported.
fn file_of(line: &str) -> Option<&str> {
    let (file, rest) = line.split_once(".py[")?;
    let (count, _) = rest.split_once(']')?;
    let is_file = (count == "?" || count.parse::<usize>().is_ok()) && !file.contains(char::is_whitespace);
    is_file.then(|| &line[..file.len() + ".py".len()])
}

/// Reads `test_adds ok`, behind which the verdict on the whole file may stand.
fn result_of(line: &str) -> Option<(&str, TestStatus)> {
    let line = line.trim_end();
    let line = line
        .strip_suffix("[OK]")
        .or_else(|| line.strip_suffix("[FAIL]"))
        .unwrap_or(line);
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| name.starts_with("test"))?;
    let status = match words.next_back()? {
        "ok" | "X" => TestStatus::Passed,
        "F" => TestStatus::Failed,
        "E" | "T" => TestStatus::Errored,
        "f" | "s" | "w" | "K" => TestStatus::Skipped,
        _ => return None,
    };
    Some((name, status))
}

/// Reads `____ sympy/core/tests/test_basic.py:test_adds ____`; the test is empty where the whole file failed.
fn failure_head(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix("__")?.strip_suffix("__")?.trim_matches('_').trim();
    let end = inner.find(".py")? + ".py".len();
    let rest = &inner[end..];
    let test = rest.trim_start_matches(':');
    (rest.is_empty() || test.len() < rest.len()).then_some((&inner[..end], test))
}
