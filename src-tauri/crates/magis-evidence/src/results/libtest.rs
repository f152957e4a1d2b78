//! Reads what `cargo test` prints, line by line. The JSON of libtest would say more, but is not stable.
//!
//! Cargo names the test program on standard error and libtest its tests on standard output, so both have to come
//! through one pipe.

use super::collect::{Collector, named, plain};
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};

pub(super) fn read(report: &str, found: &mut Collector) -> Result<Completeness, Problem> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(&plain(line), found);
    }
    reading.explain(found);
    reading.end();
    match (reading.stopped, reading.programs) {
        (Some(program), _) => Ok(Completeness::Partial(format!(
            "the output stops in the tests of {program}"
        ))),
        (None, 0) if reading.not_compiled => Err(Problem::Broken("the project does not compile".to_owned())),
        (None, 0) => Err(Problem::NoTest),
        (None, _) if reading.not_compiled => Ok(Completeness::Partial(
            "a part of the project does not compile".to_owned(),
        )),
        (None, _) => Ok(Completeness::Whole),
    }
}

#[derive(Default)]
struct Reading {
    /// The test program whose tests come next: its source file and its name.
    file: Option<String>,
    program: String,
    programs: usize,
    /// Tests that the program still owes.
    owed: usize,
    running: bool,
    stopped: Option<String>,
    not_compiled: bool,
    /// Behind `failures:` stand the outputs of the tests, which may look like anything.
    in_failures: bool,
    explained: Option<(TestId, String)>,
}

impl Reading {
    fn line(&mut self, line: &str, found: &mut Collector) {
        if let Some((file, program)) = program_of(line) {
            self.end();
            (self.file, self.program) = (file, program);
        } else if line.starts_with("error: could not compile") {
            self.not_compiled = true;
        } else if let Some(count) = count_of(line) {
            self.end();
            self.programs += 1;
            self.running = true;
            self.owed = count;
        } else if line.starts_with("test result: ") {
            self.explain(found);
            if self.owed == 0 {
                self.running = false;
            }
            self.end();
        } else if line == "failures:" {
            self.explain(found);
            self.in_failures = true;
        } else if self.in_failures {
            self.output(line, found);
        } else if let Some((name, status)) = test_of(line) {
            self.owed = self.owed.saturating_sub(1);
            found.add(self.id(name), status, "", None);
        }
    }

    /// A program's tests are over. One that died tells of no result.
    fn end(&mut self) {
        if self.running && self.stopped.is_none() {
            self.stopped = Some(self.program.clone());
        }
        self.running = false;
        self.in_failures = false;
        self.owed = 0;
    }

    fn output(&mut self, line: &str, found: &mut Collector) {
        let head = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----"));
        let name = head.and_then(|head| head.strip_suffix(" stdout").or_else(|| head.strip_suffix(" stderr")));
        if let Some(name) = name {
            self.explain(found);
            self.explained = Some((self.id(name), String::new()));
        } else if let Some((_, text)) = &mut self.explained {
            text.push_str(line);
            text.push('\n');
        }
    }

    fn explain(&mut self, found: &mut Collector) {
        if let Some((id, text)) = self.explained.take() {
            found.explain(id, &text);
        }
    }

    fn id(&self, name: &str) -> TestId {
        TestId {
            file: self.file.clone(),
            ..named(
                self.program.clone(),
                name.strip_suffix(" - should panic").unwrap_or(name),
            )
        }
    }
}

/// Reads `Running unittests src/lib.rs (target/debug/deps/calc-0123456789abcdef)`, `Running tests/whole.rs (...)` and
/// `Doc-tests calc`.
fn program_of(line: &str) -> Option<(Option<String>, String)> {
    let line = line.trim_start();
    if let Some(library) = line.strip_prefix("Doc-tests ") {
        return Some((None, format!("{} (doc-tests)", library.trim())));
    }
    let (source, program) = line.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let source = source.strip_prefix("unittests ").unwrap_or(source);
    let program = program.rsplit(['/', '\\']).next()?;
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let name = program.rsplit_once('-').map_or(program, |(name, _)| name);
    Some((Some(source.replace('\\', "/")), name.to_owned()))
}

fn count_of(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("running ")?;
    let (count, unit) = rest.split_once(' ')?;
    matches!(unit, "test" | "tests").then(|| count.parse().ok()).flatten()
}

fn test_of(line: &str) -> Option<(&str, TestStatus)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let word = result.split([',', ' ', '<']).next().unwrap_or_default();
    let status = match word {
        "ok" | "bench:" => TestStatus::Passed,
        "FAILED" => TestStatus::Failed,
        "ignored" => TestStatus::Skipped,
        _ => return None,
    };
    Some((name, status))
}
