//! What the index keeps of a file besides its terms, so that no second run parses it: symbols, imports, size, kind.
//!
//! Parsing itself is `magis-syntax`'s.

use crate::known_symbol::{KnownSymbol, SymbolShape};
use crate::vocabulary::{Counted, Vocabulary};
use crate::{literals, uses};
use magis_core::{BlobId, LineSpan, RepoPath, SkipReason};
use magis_syntax::{SourceLanguage, SymbolKind};
use serde::{Deserialize, Serialize};

/// A larger text is indexed by its path alone.
pub(crate) const LARGEST_TEXT: usize = 1 << 20;
/// Longer lines, on average, are minified.
const LONGEST_AVERAGE_LINE: usize = 400;
/// In reading words alone, one counts so many times at most in a file: more hardly add to its score.
const REPEATS: u32 = 12;
/// Function-sized: what the best chunk of a file is measured over.
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
            language: SourceLanguage::of(path).map(|language| language.name().to_owned()),
        }
    }
}

/// What is known of one content of the index. Stored as JSON with its document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileMetadata {
    pub key: Key,
    /// How many terms its text has.
    pub length: u64,
    pub symbols: Vec<KnownSymbol>,
    pub imports: Vec<KnownImport>,
    /// The names that its symbols refer to.
    pub names: Vec<String>,
    /// Whether the text says that a program wrote it, or looks so.
    pub origin: Origin,
    /// How far it was read.
    pub depth: Depth,
    /// Why it is no text; such a content is kept only so that it is not read again.
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkipReason>,
}

/// How far a content was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Depth {
    /// Its words: it is one chunk, and its symbols, imports and literals are not known yet.
    #[serde(rename = "t")]
    Text,
    /// All that is ever known of it.
    #[serde(rename = "w")]
    Whole,
}

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    Written,
    Generated,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownImport {
    #[serde(rename = "t")]
    pub target: String,
    #[serde(rename = "n")]
    pub names: Vec<String>,
}

/// A chunk of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChunkWords {
    pub span: LineSpan,
    pub words: Counted,
}

/// Returns whether a text is huge or minified: such a file is found by its path alone.
fn unindexable(text: &str) -> bool {
    let lines = text.lines().count().max(1);
    text.len() > LARGEST_TEXT || (text.len() > 5_000 && text.len() / lines > LONGEST_AVERAGE_LINE)
}

/// What the index keeps of a text.
#[derive(Debug)]
pub(crate) struct IndexedText {
    pub metadata: FileMetadata,
    pub chunks: Vec<ChunkWords>,
    /// The word sequences of its string literals.
    pub literals: Vec<String>,
    /// Whether it is found by its path alone.
    pub path_only: bool,
}

impl IndexedText {
    /// Nothing of it but what it is.
    fn empty(path: &RepoPath, blob: &BlobId, depth: Depth) -> Self {
        Self {
            metadata: FileMetadata {
                key: Key::of(path, blob),
                length: 0,
                symbols: Vec::new(),
                imports: Vec::new(),
                names: Vec::new(),
                origin: Origin::Generated,
                depth,
                skipped: None,
            },
            chunks: Vec::new(),
            literals: Vec::new(),
            path_only: false,
        }
    }

    /// Returns one that is no text.
    pub fn without_text(path: &RepoPath, blob: &BlobId, why: SkipReason) -> Self {
        let mut content = Self::empty(path, blob, Depth::Whole);
        content.metadata.skipped = Some(why);
        content
    }

    /// Returns bytes of its terms.
    pub fn weight(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.words.terms.len()).sum()
    }
}

/// Reads one file so far; a huge or minified one gives nothing of its text.
pub(crate) fn read(path: &RepoPath, blob: &BlobId, text: &str, depth: Depth, words: &mut Vocabulary) -> IndexedText {
    let mut content = IndexedText::empty(path, blob, depth);
    if unindexable(text) {
        content.path_only = true;
        content.metadata.depth = Depth::Whole;
        return content;
    }
    content.metadata.origin = origin(text);
    match depth {
        Depth::Text => {
            let lines = LineSpan::new(1, text.lines().count().max(1) as u32).ok();
            let words = words.count(text, REPEATS);
            content.chunks = lines.map(|span| ChunkWords { span, words }).into_iter().collect();
        }
        Depth::Whole => {
            let (outline, chunks) = magis_syntax::outline_and_chunks(path, text, CHUNK_LINES);
            content.metadata.symbols = outline.symbols.into_iter().map(known_symbol).collect();
            content.metadata.imports = outline.imports.into_iter().map(known_import).collect();
            content.literals = literals::of_source(text);
            let lines = line_starts(text);
            content.metadata.names = uses::find(&mut content.metadata.symbols, |span| lines_of(text, &lines, span));
            let chunks = chunks.into_iter().map(|chunk| ChunkWords {
                span: chunk.span,
                words: words.count(lines_of(text, &lines, chunk.span), u32::MAX),
            });
            content.chunks = chunks.collect();
        }
    }
    content.chunks.retain(|chunk| chunk.words.length > 0);
    content.metadata.length = content.chunks.iter().map(|chunk| chunk.words.length).sum();
    content
}

/// Returns where each line begins, and the end of the text.
fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
    starts.chain([text.len()]).collect()
}

fn lines_of<'t>(text: &'t str, starts: &[usize], span: LineSpan) -> &'t str {
    let at = |line: u32| starts.get(line as usize).copied().unwrap_or(text.len());
    &text[at(span.first() - 1)..at(span.last())]
}

fn known_import(import: magis_syntax::Import) -> KnownImport {
    KnownImport {
        target: import.target,
        names: import.names,
    }
}

fn known_symbol(symbol: magis_syntax::Symbol) -> KnownSymbol {
    let shape = match symbol.kind {
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => SymbolShape::Function,
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Interface
        | SymbolKind::Trait
        | SymbolKind::Module => SymbolShape::Container,
        SymbolKind::Constant | SymbolKind::Type => SymbolShape::Constant,
    };
    KnownSymbol {
        qualified: symbol.qualified_name,
        span: symbol.span,
        shape,
        uses: Vec::new(),
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
