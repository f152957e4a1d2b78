//! Reads what minitest prints when it is verbose: `TestCalc#test_adds = 0.01 s = .`

use super::collect::{Collector, named, plain, seconds};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut failure: Option<(Option<TestId>, String)> = None;
    let mut ended = false;
    for line in report.lines() {
        let line = plain(line);
        let counts = line
            .split_once(" runs, ")
            .is_some_and(|(count, _)| count.parse::<usize>().is_ok());
        if counts || is_headline(&line) {
            tell(failure.take(), found);
            ended |= counts;
            failure = (!counts).then(|| (None, String::new()));
        } else if let Some((id, text)) = &mut failure {
            match id {
                None => *id = id_of(line.split([' ', ':']).next().unwrap_or_default()),
                Some(_) => {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        } else if let Some((id, status, time)) = result_of(&line) {
            found.add(id, status, "", seconds(time));
        }
    }
    tell(failure, found);
    match (ended, found.is_empty()) {
        (true, _) => Ok(Completeness::Whole),
        (false, true) => Err(Problem::NoTest),
        (false, false) => Ok(Completeness::Partial(
            "the output stops before the number of runs".to_owned(),
        )),
    }
}

fn tell(failure: Option<(Option<TestId>, String)>, found: &mut Collector) {
    if let Some((Some(id), text)) = failure {
        found.explain(id, &text);
    }
}

/// Returns whether a line is `  1) Failure:`, or the like.
fn is_headline(line: &str) -> bool {
    let head = line.trim().split_once(") ");
    head.is_some_and(|(number, kind)| {
        number.parse::<usize>().is_ok() && matches!(kind, "Failure:" | "Error:" | "Skipped:")
    })
}

fn result_of(line: &str) -> Option<(TestId, TestStatus, &str)> {
    let (head, mark) = line.trim_end().rsplit_once(" = ")?;
    let status = match mark {
        "." => TestStatus::Passed,
        "F" => TestStatus::Failed,
        "E" => TestStatus::Errored,
        "S" => TestStatus::Skipped,
        _ => return None,
    };
    let (name, time) = head.rsplit_once(" = ")?;
    Some((id_of(name)?, status, time.trim_end_matches([' ', 's'])))
}

fn id_of(name: &str) -> Option<TestId> {
    let (class, method) = name.trim().split_once('#')?;
    Some(named(class, method))
}
