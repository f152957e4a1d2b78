//! A file cut into pieces the size of a function, for ranking.

use crate::SymbolKind;
use crate::scan::{Definition, scan_of};
use crate::shape::Inside;
use magis_core::{LineSpan, RepoPath};

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its lines.
    pub span: LineSpan,
    /// The qualified name of the definition it is or belongs to; none for code between definitions.
    pub name: Option<String>,
}

/// Pieces of at most `max_lines` lines that together cover the whole file, in its order: one a function, the code
/// between as its own. In an unknown language, blocks cut at blank lines.
pub fn chunks(path: &RepoPath, text: &str, max_lines: u32) -> Vec<Chunk> {
    let found = scan_of(path, text);
    chunks_of(found.as_ref().map_or(&[], |found| &found.definitions), text, max_lines)
}

/// Returns the pieces of a text that defines these.
pub(crate) fn chunks_of(definitions: &[Definition], text: &str, max_lines: u32) -> Vec<Chunk> {
    let lines: Vec<&str> = text.lines().collect();
    let owners = owners(definitions, &lines);
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < lines.len() {
        let owner = owners[first];
        let end = (first..lines.len())
            .find(|at| owners[*at] != owner)
            .unwrap_or(lines.len());
        let name = owner.map(|owner| definitions[owner].qualified_name.clone());
        cut(
            &lines,
            first..end,
            max_lines.max(1) as usize,
            name.as_ref(),
            &mut pieces,
        );
        first = end;
    }
    pieces
}

/// For each line the definition whose chunk it goes to, by its index. Blank lines go with what is above them.
fn owners(definitions: &[Definition], lines: &[&str]) -> Vec<Option<usize>> {
    let mut owners = vec![None; lines.len()];
    for (index, definition) in definitions.iter().enumerate() {
        let small = matches!(
            definition.symbol_kind(),
            Some(SymbolKind::Constant | SymbolKind::Type | SymbolKind::Macro)
        );
        if definition.inside == Inside::Function || (small && definition.span.lines() < 8) {
            continue;
        }
        let end = (definition.span.last() as usize).min(lines.len());
        let first = (definition.span.first() as usize - 1).min(end);
        owners[first..end].fill(Some(index));
    }
    for at in 1..lines.len() {
        if lines[at].trim().is_empty() {
            owners[at] = owners[at - 1];
        }
    }
    owners
}

/// Cuts lines into pieces of at most `most`, at a blank line where one is in the second half of a piece.
fn cut(lines: &[&str], range: std::ops::Range<usize>, most: usize, name: Option<&String>, pieces: &mut Vec<Chunk>) {
    let mut first = range.start;
    while first < range.end {
        let mut end = range.end.min(first + most);
        if end < range.end {
            let blank = (first + most / 2 + 1..end)
                .rev()
                .find(|at| lines[*at - 1].trim().is_empty());
            end = blank.unwrap_or(end);
        }
        if let Ok(span) = LineSpan::new(first as u32 + 1, end as u32) {
            pieces.push(Chunk {
                span,
                name: name.cloned(),
            });
        }
        first = end;
    }
}
