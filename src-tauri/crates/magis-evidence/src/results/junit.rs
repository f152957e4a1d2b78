//! Reads `JUnit` XML as the many runners write it.
//!
//! The root may be `testsuites` or a single `testsuite`, suites may lie within each other, and what a suite says about
//! the number of its tests is not believed: pytest counts subtests there that it does not list.

use super::collect::{Collector, seconds};
use super::form::Problem;
use super::xml::{Document, Element, Piece};
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut document = Document::new(report);
    let mut reading = Reading::default();
    loop {
        match document.next() {
            Ok(Piece::Open(element)) => reading.open(element),
            Ok(Piece::Text(text)) => reading.text(&text),
            Ok(Piece::Close(name)) => reading.close(&name, found),
            Ok(Piece::End) if reading.is_junit => return Ok(Completeness::Whole),
            Ok(Piece::End) => return Err(Problem::Broken("it has no element 'testsuite'".to_owned())),
            Err(problem) if reading.is_junit && !found.is_empty() => return Ok(Completeness::Partial(problem)),
            Err(problem) => return Err(Problem::Broken(problem)),
        }
    }
}

#[derive(Default)]
struct Reading {
    is_junit: bool,
    /// The suites that are open, the outer first.
    suites: Vec<Element>,
    case: Option<Case>,
}

struct Case {
    element: Element,
    status: TestStatus,
    /// What the failure, the error or the skip says.
    said: String,
    /// What the test printed; told where a failure says nothing.
    printed: String,
    inside: Inside,
}

/// In which child of a test case the reader stands.
#[derive(PartialEq, Eq)]
enum Inside {
    Verdict,
    Output,
    Other,
}

impl Reading {
    fn open(&mut self, element: Element) {
        self.is_junit |= matches!(element.name.as_str(), "testsuites" | "testsuite");
        match (element.name.as_str(), &mut self.case) {
            ("testsuite", None) => self.suites.push(element),
            ("testcase", None) => self.case = Some(Case::new(element)),
            ("failure", Some(case)) => case.verdict(TestStatus::Failed, &element),
            ("error", Some(case)) => case.verdict(TestStatus::Errored, &element),
            ("skipped", Some(case)) => case.verdict(TestStatus::Skipped, &element),
            ("system-out" | "system-err", Some(case)) => case.inside = Inside::Output,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(case) = &mut self.case {
            match case.inside {
                Inside::Verdict => case.said.push_str(text),
                Inside::Output => case.printed.push_str(text),
                Inside::Other => {}
            }
        }
    }

    fn close(&mut self, name: &str, found: &mut Collector) {
        match name {
            "testcase" => {
                if let Some(case) = self.case.take() {
                    let text = if case.said.trim().is_empty() {
                        &case.printed
                    } else {
                        &case.said
                    };
                    let duration = case.element.attribute("time").and_then(seconds);
                    found.add(self.id(&case.element), case.status, text, duration);
                }
            }
            "testsuite" if self.case.is_none() => {
                self.suites.pop();
            }
            _ => {
                if let Some(case) = &mut self.case {
                    case.inside = Inside::Other;
                }
            }
        }
    }

    fn id(&self, case: &Element) -> TestId {
        let of_suite = |name: &str| self.suites.iter().rev().find_map(|suite| suite.attribute(name));
        let file = case.attribute("file").or_else(|| of_suite("file"));
        // Node's runner gives every test the class 'test'; what tells them apart there is the suite.
        let class = case.attribute("classname").or_else(|| case.attribute("class"));
        let group = match class.filter(|class| *class != "test") {
            Some(class) => class.to_owned(),
            None => {
                let names: Vec<&str> = self.suites.iter().filter_map(|suite| suite.attribute("name")).collect();
                names.join(" > ")
            }
        };
        TestId {
            file: file.map(str::to_owned),
            group,
            name: case.attribute("name").unwrap_or_default().to_owned(),
        }
    }
}

impl Case {
    fn new(element: Element) -> Self {
        // CTest's own words; a test whose program was not built is no skipped test.
        let status = match element.attribute("status") {
            Some("notrun") => TestStatus::Errored,
            Some("disabled") => TestStatus::Skipped,
            _ => TestStatus::Passed,
        };
        Self {
            element,
            status,
            said: String::new(),
            printed: String::new(),
            inside: Inside::Other,
        }
    }

    fn verdict(&mut self, status: TestStatus, element: &Element) {
        if status.weight() > self.status.weight() || self.status == TestStatus::Passed {
            self.status = status;
        }
        self.inside = Inside::Verdict;
        if let Some(message) = element.attribute("message") {
            self.said.push_str(message);
            self.said.push('\n');
        }
    }
}
