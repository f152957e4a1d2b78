//! Reads TRX, which `dotnet test` writes: `UnitTestResult` elements, and the classes of the tests in `TestMethod`
//! elements behind them.

use super::collect::{Collector, named};
use super::form::Problem;
use super::xml::{Document, Element, Piece};
use super::{Completeness, TestStatus};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut document = Document::new(report);
    let mut reading = Reading::default();
    let ended = loop {
        match document.next() {
            Ok(Piece::Open(element)) => reading.open(element),
            Ok(Piece::Text(text)) => reading.text(&text),
            Ok(Piece::Close(name)) => reading.close(&name),
            Ok(Piece::End) if reading.is_trx => break Completeness::Whole,
            Ok(Piece::End) => return Err(Problem::Broken("it has no element 'TestRun'".to_owned())),
            Err(problem) if reading.is_trx => break Completeness::Partial(problem),
            Err(problem) => return Err(Problem::Broken(problem)),
        }
    };
    let whole = ended == Completeness::Whole;
    if !whole && reading.results.is_empty() {
        return Err(Problem::NoTest);
    }
    reading.tell(found);
    Ok(ended)
}

#[derive(Default)]
struct Reading {
    is_trx: bool,
    results: Vec<UnitResult>,
    open_result: bool,
    /// Standing in a failure's message or its trace.
    in_failure: bool,
    /// The id of the test that is being defined.
    defining: String,
    classes: BTreeMap<String, String>,
}

struct UnitResult {
    element: Element,
    said: String,
}

impl Reading {
    fn open(&mut self, element: Element) {
        match element.name.as_str() {
            "TestRun" => self.is_trx = true,
            "UnitTestResult" => {
                self.open_result = true;
                self.results.push(UnitResult {
                    element,
                    said: String::new(),
                });
            }
            "Message" | "StackTrace" => self.in_failure = self.open_result,
            "UnitTest" => element
                .attribute("id")
                .unwrap_or_default()
                .clone_into(&mut self.defining),
            "TestMethod" => {
                let class = element.attribute("className").unwrap_or_default();
                self.classes
                    .insert(std::mem::take(&mut self.defining), class.to_owned());
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_failure
            && let Some(result) = self.results.last_mut()
        {
            result.said.push_str(text);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "UnitTestResult" => self.open_result = false,
            "Message" | "StackTrace" => {
                self.text("\n");
                self.in_failure = false;
            }
            _ => {}
        }
    }

    fn tell(self, found: &mut Collector) {
        for result in &self.results {
            let element = &result.element;
            let status = match element.attribute("outcome").unwrap_or_default() {
                "Passed" | "PassedButRunAborted" | "Warning" => TestStatus::Passed,
                "Failed" => TestStatus::Failed,
                "NotExecuted" | "NotRunnable" | "Inconclusive" | "Disconnected" | "Pending" => TestStatus::Skipped,
                _ => TestStatus::Errored,
            };
            let class = element.attribute("testId").and_then(|id| self.classes.get(id));
            let class = class.map(String::as_str).unwrap_or_default();
            let name = element.attribute("testName").unwrap_or_default();
            // xUnit and NUnit write the class in front of the method, MSTest does not.
            let name = name
                .strip_prefix(class)
                .and_then(|rest| rest.strip_prefix('.'))
                .unwrap_or(name);
            let duration = element.attribute("duration").and_then(clock);
            found.add(named(class, name), status, &result.said, duration);
        }
    }
}

/// Reads a length of time as TRX writes it: `00:00:01.2345678`.
fn clock(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    for part in text.splitn(3, ':') {
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Duration::try_from_secs_f64(seconds).ok()
}
