//! What the outputs have in common that runners print for a person as an indented outline: headings, numbers, times, paths.

use super::collect::Collector;
use super::form::Problem;
use super::{Completeness, TestId, TestStatus};
use std::path::Path;

/// The endings of files of JavaScript and TypeScript.
const SCRIPTS: [&str; 8] = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];

/// The headings that are open at a line, each with its indentation in columns.
#[derive(Default)]
pub(super) struct Headings {
    open: Vec<(usize, String)>,
}

impl Headings {
    /// Opens a heading, which closes those that are not indented less.
    pub(super) fn enter(&mut self, indent: usize, title: &str) {
        self.close(indent);
        self.open.push((indent, title.to_owned()));
    }

    /// Returns the headings of what is indented so far, the outer first, and closes the others.
    pub(super) fn above(&mut self, indent: usize) -> Vec<&str> {
        self.close(indent);
        self.open.iter().map(|(_, title)| title.as_str()).collect()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    fn close(&mut self, indent: usize) {
        self.open.retain(|(outer, _)| *outer < indent);
    }
}

/// A failure, with its text as far as it was read.
pub(super) type Failure = (TestId, TestStatus, String);

/// Adds the failure that was read last, if there is one. The outline may have it already, without a text.
pub(super) fn add(failure: Option<Failure>, found: &mut Collector) {
    if let Some((id, status, text)) = failure {
        found.add(id.clone(), status, "", None);
        found.explain(id, &text);
    }
}

/// Returns how complete the results of an output are that ends with `end` where it is whole.
pub(super) fn completeness(is_whole: bool, found: &Collector, end: &str) -> Result<Completeness, Problem> {
    match (is_whole, found.is_empty()) {
        (true, _) => Ok(Completeness::Whole),
        (false, true) => Err(Problem::NoTest),
        (false, false) => Ok(Completeness::Partial(format!("the output stops before {end}"))),
    }
}

/// Splits a line into its indentation, in columns, and what it says.
pub(super) fn indented(line: &str) -> (usize, &str) {
    let said = line.trim_start_matches(' ');
    (line.len() - said.len(), said.trim_end())
}

/// Reads `12) adds numbers`.
pub(super) fn numbered(text: &str) -> Option<(usize, &str)> {
    let (number, title) = text.split_once(") ")?;
    Some((number.parse().ok()?, title.trim_end()))
}

/// Returns a name without the time that may stand behind it, as in `adds (3 ms)`.
pub(super) fn without_time(text: &str) -> &str {
    let timed = text.strip_suffix("s)").and_then(|text| text.rsplit_once(" ("));
    match timed {
        Some((name, time)) if time.trim_end_matches(['m', ' ']).parse::<f64>().is_ok() => name,
        _ => text,
    }
}

/// Returns the path of a script with `/` between its parts. The name of a project may stand before it, and nothing behind.
pub(super) fn script(text: &str) -> Option<String> {
    let mut path = text.trim();
    if let Some(project) = path.strip_prefix('|') {
        path = project.split_once('|')?.1.trim_start();
    }
    while let Some((word, rest)) = path.split_once(' ') {
        if word.contains(['/', '\\', '.']) {
            break;
        }
        path = rest.trim_start();
    }
    let ending = Path::new(path).extension()?.to_str()?;
    SCRIPTS.contains(&ending).then(|| path.replace('\\', "/"))
}
