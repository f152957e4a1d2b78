//! The names of files in an issue: over a block, in its first line, in a command.

use crate::reproduction::passages::Block;
use crate::reproduction::pattern::Pattern;

static NAME: Pattern = Pattern::new(
    r"^(?:[\w.-]+/)*[\w.-]*\.(?:py|pyi|ini|cfg|toml|rst|md|txt|json|yaml|yml|html|css|js|jsx|mjs|ts|tsx|rs|go|java|rb|php|c|h|cpp|hpp|sh|csv|xml|po|pot|tex|conf|ipynb|pylintrc|flake8|coveragerc|env)$",
);
static ANYWHERE: Pattern = Pattern::new(
    r"(?:[\w.-]+/)*[\w-][\w.-]*\.(?:py|ini|cfg|toml|rst|md|txt|json|yaml|yml|html|js|ts|rs|go|java|rb|php|c|cpp|sh|csv|xml)\b",
);
static COMMENT: Pattern = Pattern::new(
    r"^\s*(?:#+|//|;|\.\.|/\*|<!--|--)\s*(?:file(?:name)?:?\s+|content of\s+|in\s+)?[`'\x22*]*([\w./-]+)[`'\x22*]*:?\s*(?:\*/|-->)?\s*$",
);

/// Returns whether a text is a path of a file, by its form: relative, and with a known extension.
pub fn is_file_name(text: &str) -> bool {
    NAME.is_match(text) && !text.contains("..") && !text.starts_with('/')
}

/// Returns whether a path has the extension, given in lower case.
pub fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, own)| own.eq_ignore_ascii_case(extension))
}

/// Finds the names of files in a text.
pub fn file_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = ANYWHERE.find(rest) {
        if is_file_name(next.as_str()) && !found.contains(&next.as_str()) {
            found.push(next.as_str());
        }
        rest = &rest[next.end()..];
    }
    found
}

/// Returns the text of a named block, without the line that names it.
pub(crate) fn text_of(block: &Block) -> String {
    let (first, rest) = block.text.split_once('\n').unwrap_or((&block.text, ""));
    let named = COMMENT.captures(first).and_then(|parts| parts.get(1));
    if named.is_some_and(|path| is_file_name(path.as_str())) {
        format!("{}\n", rest.trim_start_matches('\n'))
    } else {
        format!("{}\n", block.text)
    }
}

/// Returns the path that a block's first line, or the words directly over it, give as its name.
pub(crate) fn name_of(block: &Block) -> Option<String> {
    let first = block.text.lines().next().unwrap_or_default();
    let commented = COMMENT.captures(first).and_then(|parts| parts.get(1));
    if let Some(path) = commented.map(|path| path.as_str()).filter(|path| is_file_name(path)) {
        return Some(path.to_owned());
    }
    let last = block.lead.lines().last().unwrap_or_default();
    named_by(last).or_else(|| block.lead.is_empty().then(|| named_by(&block.heading)).flatten())
}

/// Returns the file a line announces: the name alone, or last, or the only one before words such as "contains".
fn named_by(line: &str) -> Option<String> {
    let bare = line
        .trim()
        .trim_matches(['`', '*', '"', '\'', ':', '#', '_', '-', ' ', '(', ')']);
    if is_file_name(bare) {
        return Some(bare.to_owned());
    }
    let names = file_names(line);
    let [only] = names.as_slice() else { return None };
    let after = line.rsplit(only).next().unwrap_or_default();
    let after = after.trim_matches(['`', '*', '"', '\'', ' ', '.']);
    let announces = after.is_empty() && line.trim_end().ends_with(':')
        || matches!(
            after,
            ":" | "file:"
                | "contains:"
                | "with:"
                | "with content:"
                | "contains"
                | "as follows:"
                | "like this:"
                | "file with:"
        );
    announces.then(|| (*only).to_owned())
}
