//! Reads the short summary of `pytest -rA`, for runs that wrote no XML. The identities are those of the XML.

use super::collect::{Collector, plain};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut in_summary = false;
    let mut ended = false;
    for line in report.lines() {
        let line = plain(line);
        if line.starts_with('=') && line.contains(" short test summary info ") {
            in_summary = true;
        } else if in_summary && let Some((id, status, text)) = result_of(&line) {
            found.add(id, status, &text, None);
        } else {
            ended |= is_end(&line);
        }
    }
    match (ended, found.is_empty()) {
        (true, _) => Ok(Completeness::Whole),
        (false, true) => Err(Problem::NoTest),
        (false, false) => Ok(Completeness::Partial(
            "the output stops before pytest's last line".to_owned(),
        )),
    }
}

/// Returns whether a line is pytest's last: `=== 4 failed, 4 passed in 0.07s ===`.
fn is_end(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let counted = line
        .split_once(' ')
        .is_some_and(|(count, _)| count.parse::<usize>().is_ok());
    (counted || line.starts_with("no tests ran")) && line.contains(" in ") && line.ends_with(['s', ')'])
}

/// Reads `FAILED tests/test_calc.py::test_adds - assert 3 == 4`, and the like.
pub(super) fn result_of(line: &str) -> Option<(TestId, TestStatus, String)> {
    let (word, rest) = line.split_once(' ')?;
    let status = match word {
        "PASSED" | "XPASS" => TestStatus::Passed,
        "FAILED" => TestStatus::Failed,
        "ERROR" => TestStatus::Errored,
        "XFAIL" => TestStatus::Skipped,
        // Skipped tests are told by place only: `[1] tests/test_calc.py:5: not yet`.
        "SKIPPED" => {
            let place = rest.split_once("] ")?.1;
            let (place, _) = place.split_once(": ").unwrap_or((place, ""));
            let (file, line) = place.rsplit_once(':')?;
            return Some((
                of_file(file, &format!("line {line}")),
                TestStatus::Skipped,
                String::new(),
            ));
        }
        sub if sub.starts_with("SUBFAILED") || sub.starts_with("SUBFAIL") => TestStatus::Failed,
        _ => return None,
    };
    let (node, text) = split_message(rest);
    Some((id_of(node), status, text.to_owned()))
}

/// Splits `tests/a.py::test[x - y] - assert 1` at the first dash outside of brackets.
fn split_message(rest: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, character) in rest.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && rest[at..].starts_with(" - ") => return (&rest[..at], &rest[at + 3..]),
            _ => {}
        }
    }
    (rest, "")
}

fn id_of(node: &str) -> TestId {
    let Some((file, rest)) = node.split_once("::") else {
        return of_file(node, "");
    };
    let parameters = rest.find('[').unwrap_or(rest.len());
    match rest[..parameters].rsplit_once("::") {
        Some((classes, _)) => TestId {
            group: format!("{}.{}", module(file), classes.replace("::", ".")),
            ..of_file(file, &rest[classes.len() + 2..])
        },
        None => of_file(file, rest),
    }
}

fn of_file(file: &str, name: &str) -> TestId {
    TestId {
        file: Some(file.to_owned()),
        group: module(file),
        name: name.to_owned(),
    }
}

fn module(file: &str) -> String {
    file.strip_suffix(".py").unwrap_or(file).replace(['/', '\\'], ".")
}
