//! What the index keeps of a file besides its terms, so that no second run parses it: symbols, imports, size, kind.
//!
//! Parsing itself is `magis-syntax`'s.

use crate::{literals, tokens};
use magis_core::{BlobId, LineSpan, RepoPath};
use magis_syntax::{Language, SymbolKind};
use serde::{Deserialize, Serialize};

/// A larger text is indexed by its path alone.
pub(crate) const LARGEST_TEXT: usize = 1 << 20;
/// Longer lines, on average, are minified.
const LONGEST_AVERAGE_LINE: usize = 400;
/// Function-sized: what the best piece of a file is measured over.
const CHUNK_LINES: u32 = 80;

/// Which content: a blob, and the language it is read as. Where it lies in a tree is the view's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    #[serde(rename = "b")]
    pub blob: BlobId,
    /// By name; none where no grammar reads it.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl Key {
    pub fn of(path: &RepoPath, blob: &BlobId) -> Self {
        Self {
            blob: blob.clone(),
            language: Language::of(path).map(|language| language.name().to_owned()),
        }
    }
}

/// What is known of one content of the index. Stored as JSON with its document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub key: Key,
    /// How many terms its text has.
    pub length: u64,
    pub symbols: Vec<KnownSymbol>,
    pub imports: Vec<KnownImport>,
    /// Whether the text says that a program wrote it, or looks so.
    pub origin: Origin,
}

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    Written,
    Generated,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownSymbol {
    #[serde(rename = "q")]
    pub qualified: String,
    #[serde(rename = "s")]
    pub span: LineSpan,
    #[serde(rename = "k")]
    pub shape: Shape,
}

/// What a symbol is to the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// It has a body of its own: a function or method.
    #[serde(rename = "f")]
    Function,
    /// It holds others: a type or module.
    #[serde(rename = "t")]
    Container,
    /// A constant or an alias.
    #[serde(rename = "c")]
    Constant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownImport {
    #[serde(rename = "t")]
    pub target: String,
    #[serde(rename = "n")]
    pub names: Vec<String>,
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub span: LineSpan,
    pub text: String,
    /// How many terms it has.
    pub length: u64,
}

impl KnownSymbol {
    /// The name without its owners.
    pub fn name(&self) -> &str {
        let name = self.qualified.rsplit('.').next().unwrap_or(&self.qualified);
        name.rsplit("::").next().unwrap_or(name)
    }
}

/// Why a text is not indexed.
fn unindexable(text: &str) -> bool {
    let lines = text.lines().count().max(1);
    text.len() > LARGEST_TEXT || (text.len() > 5_000 && text.len() / lines > LONGEST_AVERAGE_LINE)
}

/// A text, read.
#[derive(Debug)]
pub(crate) struct Content {
    pub facts: Facts,
    pub pieces: Vec<Piece>,
    /// The word sequences of its string literals.
    pub literals: Vec<String>,
    /// Whether it is found by its path alone.
    pub path_only: bool,
}

/// Reads one file; a huge or minified one gives nothing of its text.
pub(crate) fn read(path: &RepoPath, blob: &BlobId, text: &str) -> Content {
    let mut facts = Facts {
        key: Key::of(path, blob),
        length: 0,
        symbols: Vec::new(),
        imports: Vec::new(),
        origin: Origin::Generated,
    };
    if unindexable(text) {
        return Content {
            facts,
            pieces: Vec::new(),
            literals: Vec::new(),
            path_only: true,
        };
    }
    facts.origin = origin(text);
    let outline = magis_syntax::outline(path, text);
    facts.symbols = outline.symbols.into_iter().map(known_symbol).collect();
    facts.imports = outline
        .imports
        .into_iter()
        .map(|import| KnownImport {
            target: import.target,
            names: import.names,
        })
        .collect();
    let lines: Vec<&str> = text.lines().collect();
    let pieces: Vec<Piece> = magis_syntax::chunks(path, text, CHUNK_LINES)
        .into_iter()
        .map(|chunk| piece(&lines, chunk.span))
        .filter(|piece| piece.length > 0)
        .collect();
    facts.length = pieces.iter().map(|piece| piece.length).sum();
    Content {
        facts,
        pieces,
        literals: literals::of_source(text),
        path_only: false,
    }
}

fn known_symbol(symbol: magis_syntax::Symbol) -> KnownSymbol {
    let shape = match symbol.kind {
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => Shape::Function,
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Interface
        | SymbolKind::Trait
        | SymbolKind::Module => Shape::Container,
        SymbolKind::Constant | SymbolKind::Type => Shape::Constant,
    };
    KnownSymbol {
        qualified: symbol.qualified_name,
        span: symbol.span,
        shape,
    }
}

fn piece(lines: &[&str], span: LineSpan) -> Piece {
    let first = (span.first() as usize - 1).min(lines.len());
    let last = (span.last() as usize).min(lines.len());
    let text = lines[first..last.max(first)].join("\n");
    Piece {
        span,
        length: tokens::terms(&text).len() as u64,
        text,
    }
}

fn origin(text: &str) -> Origin {
    let head: String = text.lines().take(8).collect::<Vec<_>>().join("\n").to_lowercase();
    let says_so = [
        "do not edit",
        "@generated",
        "autogenerated",
        "auto-generated",
        "generated by ",
    ]
    .iter()
    .any(|mark| head.contains(mark));
    if says_so { Origin::Generated } else { Origin::Written }
}
