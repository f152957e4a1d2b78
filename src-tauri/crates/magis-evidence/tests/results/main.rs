//! Reports of real runs (pytest, unittest, sympy, Jest, Vitest, Mocha, Node, Go, cargo, nextest, `CTest`) and ones made
//! by hand after the documents of the others, read into results.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

mod documents;
mod logs;
mod outputs;

use magis_evidence::results::{Completeness, ReportForm, TestResults, read};

const FOLDER: &str = "/work/project";

/// Tells results: a line a test; behind a failed one the first and the last line of its text, 80 characters each.
fn told(results: &TestResults) -> String {
    let mut out = String::new();
    for (id, outcome) in &results.tests {
        let status = format!("{:?}", outcome.status).to_lowercase();
        out.push_str(&format!("{status} {id}\n"));
        if let Some(failure) = &outcome.failure {
            let mut lines = failure.text.lines().filter(|line| !line.trim().is_empty());
            for line in [lines.next(), lines.next_back()].into_iter().flatten() {
                let line: String = line.trim().chars().take(80).collect();
                out.push_str(&format!("> {}\n", line.trim_end()));
            }
        }
    }
    match &results.completeness {
        Completeness::Whole => out.push_str("whole"),
        Completeness::Partial(reason) => out.push_str(&format!("partial: {reason}")),
    }
    out
}

fn check(form: ReportForm, report: &str, expected: &str) {
    let results = read(form, report, FOLDER).unwrap();
    let lines: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(told(&results), lines.join("\n"));
}
