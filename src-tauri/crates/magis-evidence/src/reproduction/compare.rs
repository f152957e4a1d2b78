//! When two texts of output count as the same.

use crate::reproduction::passages::dedented;
use crate::reproduction::pattern::Pattern;

static ESCAPE: Pattern = Pattern::new(r"\x1b\[[0-9;]*[A-Za-z]");
static ADDRESS: Pattern = Pattern::new(r"0x[0-9a-fA-F]{4,}");
static FOLDERS: Pattern = Pattern::new(r#"(?:[A-Za-z]:)?(?:[^\s"'(,;:=]*[/\\])([\w-]+\.\w{1,5}\b)"#);
static NUMBER: Pattern = Pattern::new(r"\d+(?:\.\d+)?");
static BANNER: Pattern = Pattern::new(
    r"^(?:[=_*\-. #+]*$|=+ .* =+$|platform |rootdir|plugins:|collected |collecting|cachedir|configfile|Python |Running Sphinx|\(.*% *\)|\[?\s*\d+%\]?)",
);

/// Returns a text without colours, addresses and differences of white space.
pub(crate) fn normal(text: &str) -> String {
    let text = ESCAPE.replace_all(text, "");
    let text = ADDRESS.replace_all(&text, "0x");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether an output is what an issue shows; where the issue writes `...` anything may stand.
pub(crate) fn is_shown(output: &str, shown: &str) -> bool {
    let (output, shown) = (normal(output), normal(shown));
    if shown.is_empty() {
        return false;
    }
    if output == shown || shown.len() >= 8 && output.replace(' ', "") == shown.replace(' ', "") {
        return true;
    }
    let parts: Vec<&str> = shown.split("...").map(str::trim).collect();
    if parts.len() < 2 || shown.len() < 12 {
        return false;
    }
    let mut rest = output.as_str();
    for (at, part) in parts.iter().enumerate() {
        let Some(found) = rest.find(part).filter(|found| at > 0 || *found == 0) else {
            return false;
        };
        rest = &rest[found + part.len()..];
    }
    rest.is_empty() || parts.last().is_some_and(|part| part.is_empty())
}

/// Returns whether two texts have the same words and signs, in whatever order: people write a result down as they would
/// say it, and literal comparison fails on the order of arguments.
pub(crate) fn has_same_words(output: &str, shown: &str) -> bool {
    let words = |text: &str| {
        let mut words: Vec<String> = Vec::new();
        let mut last_is_part = false;
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            let is_part = c.is_alphanumeric() || c == '_';
            match words.last_mut().filter(|_| is_part && last_is_part) {
                Some(word) => word.push(c),
                None => words.push(c.to_string()),
            }
            last_is_part = is_part;
        }
        words.sort();
        words
    };
    let (output, shown) = (words(&normal(output)), words(&normal(shown)));
    shown.len() >= 4 && output == shown
}

/// Returns whether an output is what an issue shows, line by line with the same layout.
pub(crate) fn is_laid_out(output: &str, shown: &str) -> bool {
    let lines = |text: &str| {
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim_end)
            .skip_while(|line| line.is_empty())
            .collect();
        dedented(&lines).trim_end().to_owned()
    };
    lines(output) == lines(shown)
}

/// How exactly lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// But for the folders of paths.
    Lines,
    /// Numbers do not count either.
    WithoutNumbers,
}

/// Returns the lines of an output that tell something, ready to be compared.
pub(crate) fn telling_lines(text: &str, exactness: Exactness) -> Vec<String> {
    let told = |line: &str| {
        let line = normal(line);
        let letters = line.chars().filter(|c| c.is_alphabetic()).count();
        if letters < 3 || BANNER.is_match(&line) {
            return None;
        }
        let line = FOLDERS.replace_all(&line, "$1").into_owned();
        Some(match exactness {
            Exactness::Lines => line,
            Exactness::WithoutNumbers => NUMBER.replace_all(&line, "0").into_owned(),
        })
    };
    text.lines().filter_map(told).collect()
}
