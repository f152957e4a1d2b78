//! What a file defines and imports, and on which lines.

use crate::chunks::{Chunk, chunks_of};
use crate::scan::{Definition, Scan, scan_of};
use crate::{Import, SourceLanguage, SymbolKind};
use magis_core::{LineSpan, RepoPath};

/// What a file defines and imports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The language; none means that nothing below could be found out.
    pub language: Option<SourceLanguage>,
    /// The definitions in the order of the file, an outer one before those inside it.
    pub symbols: Vec<Symbol>,
    /// The imports in the order of the file.
    pub imports: Vec<Import>,
    /// How many lines the file has.
    pub lines: u32,
}

/// A definition of a source file, with the lines it spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// Its name within the file: `Session.request`, `net::connect`, `Server.Close`. The type of a Go receiver or a
    /// Rust `impl` counts as the container.
    pub qualified_name: String,
    pub kind: SymbolKind,
    /// The whole definition, with its decorators, attributes and the doc comment directly above.
    pub span: LineSpan,
    /// The line on which the definition proper begins, behind decorators, attributes and doc comments.
    pub body_first: u32,
    /// The last line of its head, which has its name and parameters; where nothing stands behind a head, the same line as `body_first`.
    pub head_last: u32,
    /// The head of the definition on one line, at most 200 characters.
    pub signature: String,
    /// How many definitions it lies in.
    pub depth: u32,
    /// Whether it is built for tests alone, as Rust's `#[cfg(test)]` modules and `#[test]` functions are, with all that lies in them.
    pub is_test: bool,
}

/// Finds the definitions and imports of a text.
pub fn outline(path: &RepoPath, text: &str) -> Outline {
    let found = scan_of(path, text);
    outline_of(SourceLanguage::of(path), found, text)
}

/// [`outline`] and [`chunks`](crate::chunks), for which the text is read once.
pub fn outline_and_chunks(path: &RepoPath, text: &str, max_lines: u32) -> (Outline, Vec<Chunk>) {
    let found = scan_of(path, text);
    let chunks = chunks_of(found.as_ref().map_or(&[], |found| &found.definitions), text, max_lines);
    (outline_of(SourceLanguage::of(path), found, text), chunks)
}

pub(crate) fn outline_of(language: Option<SourceLanguage>, found: Option<Scan>, text: &str) -> Outline {
    let found = found.unwrap_or_default();
    Outline {
        language,
        symbols: symbols(language, found.definitions, text),
        imports: found.imports,
        lines: text.lines().count() as u32,
    }
}

fn symbols(language: Option<SourceLanguage>, definitions: Vec<Definition>, text: &str) -> Vec<Symbol> {
    let lines: Vec<&str> = text.lines().collect();
    let mut tests: Vec<LineSpan> = Vec::new();
    let symbol = |definition: Definition| {
        let head = (definition.span.first() as usize - 1)..(definition.body_first as usize);
        let mut attributes = lines.get(head).into_iter().flatten();
        if language == Some(SourceLanguage::Rust) && attributes.any(|line| is_for_tests(line)) {
            tests.push(definition.span);
        }
        Some(Symbol {
            is_test: tests.iter().any(|test| test.contains(definition.span.first())),
            kind: definition.symbol_kind()?,
            name: definition.name,
            qualified_name: definition.qualified_name,
            span: definition.span,
            body_first: definition.body_first,
            head_last: if definition.has_body {
                definition.head_last
            } else {
                definition.body_first
            },
            signature: definition.signature,
            depth: definition.depth,
        })
    };
    definitions.into_iter().filter_map(symbol).collect()
}

/// Returns whether a line is an attribute of Rust that has what follows built for tests alone.
fn is_for_tests(line: &str) -> bool {
    let Some(attribute) = line.trim_start().strip_prefix("#[") else {
        return false;
    };
    let end = attribute.find(['(', ']', ' ', '=']).unwrap_or(attribute.len());
    let name = attribute[..end].rsplit("::").next().unwrap_or_default();
    let is_condition = name == "cfg"
        && ["(test)", "(all(test,", "(all(test)"]
            .iter()
            .any(|test| attribute[end..].starts_with(test));
    is_condition
        || matches!(name, "test" | "bench" | "rstest" | "quickcheck")
        || name.starts_with("test_")
        || name.ends_with("_test")
}

impl Outline {
    /// Returns the definition deepest inside of which `line` lies.
    pub fn innermost(&self, line: u32) -> Option<&Symbol> {
        self.symbols
            .iter()
            .filter(|symbol| symbol.span.contains(line))
            .max_by_key(|symbol| symbol.depth)
    }
}

/// Returns whether the parts of `name` are the last parts of `qualified_name`. `.` and `::` count as the same.
pub(crate) fn is_called(qualified_name: &str, name: &str) -> bool {
    let (whole, wanted) = (qualified_name.replace("::", "."), name.replace("::", "."));
    whole
        .strip_suffix(&wanted)
        .is_some_and(|rest| !wanted.is_empty() && (rest.is_empty() || rest.ends_with('.')))
}

impl std::fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
