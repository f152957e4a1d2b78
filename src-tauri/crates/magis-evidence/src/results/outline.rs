//! What the outputs have in common that runners print for a person as an indented outline: headings, numbers, times, paths.

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
