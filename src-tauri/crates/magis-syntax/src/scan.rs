//! The one walk over a tree that finds definitions, imports, comments and the lines that frame them.
//!
//! It is what outline, skeleton, chunks and extraction are made of. What a single node means is `shape`'s matter.

use crate::shape::{self, Inside, ShapeKind, Surroundings};
use crate::tree::{Walk, children, joined, last_row, parse};
use crate::{Import, SourceLanguage, SymbolKind};
use magis_core::{LineSpan, RepoPath};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Definitions nested deeper than this are not told apart from the one they lie in.
const DEEPEST: usize = 48;
/// How long a signature may be, in characters.
const SIGNATURE_CHARS: usize = 200;

/// What a walk found, all in the order of the file.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) imports: Vec<Import>,
    /// The lines of the statements that import.
    pub(crate) import_spans: Vec<LineSpan>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) docstrings: Vec<LineSpan>,
    /// Statements outside functions that may hold definitions or imports: `if`, `try`, calls.
    pub(crate) frames: Vec<LineSpan>,
    /// Members of a type that are no definitions and span several lines.
    pub(crate) long_members: Vec<LineSpan>,
}

/// A definition with what only this crate needs to know of it.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) qualified_name: String,
    pub(crate) kind: ShapeKind,
    pub(crate) span: LineSpan,
    /// From the first decorator or doc comment to the end.
    pub(crate) bytes: Range<usize>,
    pub(crate) body_first: u32,
    /// The last line of the head.
    pub(crate) head_last: u32,
    pub(crate) has_body: bool,
    pub(crate) signature: String,
    pub(crate) depth: u32,
    pub(crate) private: bool,
    /// What it lies in.
    pub(crate) inside: Inside,
    head: Range<usize>,
}

/// A comment of a source file, with its place.
pub(crate) struct Comment {
    pub(crate) bytes: Range<usize>,
    pub(crate) span: LineSpan,
    /// Whether it documents what follows.
    pub(crate) documents: bool,
    /// Whether no code precedes it on its line.
    pub(crate) own_line: bool,
}

/// Parses a file and walks over it; nothing in an unknown language.
pub(crate) fn scan_of(path: &RepoPath, text: &str) -> Option<Scan> {
    let language = SourceLanguage::of(path)?;
    Some(scan(language, &parse(language, text)?, text))
}

/// Walks over the tree of `text`.
pub(crate) fn scan(language: SourceLanguage, tree: &Tree, text: &str) -> Scan {
    let mut found = Scan::default();
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut scopes: Vec<Scope> = Vec::new();
    for (depth, node) in Walk::new(tree) {
        levels.truncate(depth + 1);
        if levels.len() == depth {
            let (parent, outer) = levels.last().map_or(("", None), |above| (above.kind, above.passes_on));
            levels.push(Level {
                parent,
                outer,
                kind: "",
                passes_on: None,
                lead: None,
            });
        }
        while scopes.last().is_some_and(|scope| scope.depth >= depth) {
            scopes.pop();
        }
        let inside = scopes.last().map_or(Inside::Module, |scope| scope.inside);
        let level = &mut levels[depth];
        level.kind = node.kind();
        level.passes_on = None;
        let documents = shape::leads(language, node, text);
        if shape::is_comment(node) {
            found.comments.push(Comment {
                bytes: node.byte_range(),
                span: rows(node, node),
                documents,
                own_line: begins_its_line(text, node),
            });
        }
        if documents {
            if begins_its_line(text, node) {
                level.lead_with(node);
            }
            continue;
        }
        if shape::is_comment(node) {
            continue;
        }
        let start = level.start_of(node);
        if shape::wraps(node) {
            level.passes_on = Some(start);
        }
        let imports_before = found.imports.len();
        shape::imports(language, node, text, &mut found.imports);
        if found.imports.len() > imports_before {
            found.import_spans.push(rows(node, node));
        }
        let around = Surroundings {
            parent: level.parent,
            inside,
        };
        found.note_lines(language, node, around);
        if scopes.len() >= DEEPEST {
            continue;
        }
        if let Some(shape) = shape::shape(language, node, text, around) {
            let definition = define(language, text, node, start, shape, &scopes);
            scopes.push(Scope {
                depth,
                qualified_name: definition.qualified_name.clone(),
                kind: definition.kind,
                inside: match definition.kind {
                    ShapeKind::Symbol(kind) => kind.inside(),
                    ShapeKind::TypeScope => Inside::Type,
                },
                symbols: definition.depth + u32::from(definition.kind != ShapeKind::TypeScope),
            });
            found.definitions.push(definition);
            continue;
        }
        found.note_member(node, around);
        if is_anonymous_function(node) {
            let (qualified_name, kind, symbols) = scopes.last().map_or_else(
                || (String::new(), ShapeKind::Symbol(SymbolKind::Module), 0),
                |scope| (scope.qualified_name.clone(), scope.kind, scope.symbols),
            );
            scopes.push(Scope {
                depth,
                qualified_name,
                kind,
                inside: Inside::Function,
                symbols,
            });
        }
    }
    found.write_signatures(language, text);
    found
}

impl Definition {
    /// Returns what kind of symbol it is, if it is one.
    pub(crate) fn symbol_kind(&self) -> Option<SymbolKind> {
        match self.kind {
            ShapeKind::Symbol(kind) => Some(kind),
            ShapeKind::TypeScope => None,
        }
    }

    /// Returns whether it holds members rather than statements.
    pub(crate) fn holds_members(&self) -> bool {
        self.symbol_kind()
            .is_none_or(|kind| kind.inside() == Inside::Type || kind == SymbolKind::Module)
    }
}

/// What is known about the siblings at one depth of the walk.
struct Level<'t> {
    /// The kind of the node above.
    parent: &'t str,
    /// Where the wrapper above begins and ends, if the node above is one.
    outer: Option<Start>,
    /// The kind of the sibling seen last, and its extent if it is a wrapper.
    kind: &'t str,
    passes_on: Option<Start>,
    /// Attributes and doc comments waiting for what they belong to.
    lead: Option<Lead>,
}

#[derive(Clone, Copy)]
struct Lead {
    byte: usize,
    row: usize,
    last_row: usize,
}

/// The extent of a definition with all that wraps it.
#[derive(Clone, Copy)]
struct Start {
    byte: usize,
    row: usize,
    head_byte: usize,
    end_byte: usize,
    last_row: usize,
}

struct Scope {
    depth: usize,
    qualified_name: String,
    kind: ShapeKind,
    inside: Inside,
    /// How many symbols something inside lies in.
    symbols: u32,
}

impl Level<'_> {
    fn lead_with(&mut self, node: Node<'_>) {
        let (row, last_row) = (node.start_position().row, last_row(node));
        match &mut self.lead {
            Some(lead) if row <= lead.last_row + 1 => lead.last_row = last_row,
            lead => {
                *lead = Some(Lead {
                    byte: node.start_byte(),
                    row,
                    last_row,
                });
            }
        }
    }

    fn start_of(&mut self, node: Node<'_>) -> Start {
        let lead = self
            .lead
            .take()
            .filter(|lead| node.start_position().row <= lead.last_row + 1);
        if let Some(outer) = self.outer {
            return outer;
        }
        let own = (node.start_byte(), node.start_position().row);
        let (byte, row) = lead.map_or(own, |lead| (lead.byte, lead.row));
        let head = head_of(node);
        Start {
            byte,
            row,
            head_byte: head.start_byte(),
            end_byte: node.end_byte(),
            last_row: last_row(node),
        }
    }
}

impl Scan {
    fn note_lines(&mut self, language: SourceLanguage, node: Node<'_>, around: Surroundings<'_>) {
        let lines = rows(node, node);
        match node.kind() {
            "if_statement"
            | "try_statement"
            | "with_statement"
            | "else_clause"
            | "elif_clause"
            | "except_clause"
            | "finally_clause"
            | "expression_statement"
            | "linkage_specification"
            | "import_declaration"
            | "const_declaration"
            | "type_declaration"
            | "var_declaration"
                if around.inside != Inside::Function =>
            {
                self.frames.push(lines);
            }
            "package_clause"
            | "package_declaration"
            | "package_header"
            | "file_scoped_namespace_declaration"
            | "php_tag" => self.import_spans.push(lines),
            "namespace_definition" if node.child_by_field_name("body").is_none() => self.import_spans.push(lines),
            "singleton_class" => self.frames.push(lines),
            "module" | "block" if language == SourceLanguage::Python => {
                let documented = matches!(around.parent, "" | "function_definition" | "class_definition");
                let first = node
                    .named_children(&mut node.walk())
                    .find(|child| !shape::is_comment(*child));
                if let Some(first) = first.filter(|first| documented && first.kind() == "expression_statement")
                    && first.named_child(0).is_some_and(|child| child.kind() == "string")
                {
                    self.docstrings.push(rows(first, first));
                }
            }
            _ => {}
        }
    }

    /// Notes a member of a type that is no definition and is long.
    fn note_member(&mut self, node: Node<'_>, around: Surroundings<'_>) {
        let lines = rows(node, node);
        let bodies = [
            "block",
            "body_statement",
            "class_body",
            "declaration_list",
            "enum_body",
            "field_declaration_list",
        ];
        let wraps_definition = shape::wraps(node) && node.kind() != "expression_statement";
        let member = around.inside == Inside::Type && bodies.contains(&around.parent) && node.is_named();
        if member && !wraps_definition && lines.lines() > 4 {
            self.long_members.push(lines);
        }
    }

    /// Signatures are written last, when the comments within them are known.
    fn write_signatures(&mut self, language: SourceLanguage, text: &str) {
        for definition in &mut self.definitions {
            let mut head = String::new();
            let mut at = definition.head.start;
            let first = self.comments.partition_point(|comment| comment.bytes.start < at);
            for comment in self.comments[first..]
                .iter()
                .take_while(|comment| comment.bytes.start < definition.head.end)
            {
                head.push_str(text.get(at..comment.bytes.start).unwrap_or_default());
                head.push(' ');
                at = comment.bytes.end;
            }
            head.push_str(text.get(at..definition.head.end).unwrap_or_default());
            let head = joined(&head);
            let head = head.trim_end_matches([':', ';', ',', ' ']);
            let head = head.strip_suffix(" {").unwrap_or(head);
            definition.private = shape::is_private(language, &definition.name, head, definition.inside);
            definition.signature = capped(head, SIGNATURE_CHARS);
        }
    }
}

/// At most `most` characters, with an ellipsis where it was longer.
pub(crate) fn capped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

fn define(
    language: SourceLanguage,
    text: &str,
    node: Node<'_>,
    start: Start,
    shape: shape::Shape<'_>,
    scopes: &[Scope],
) -> Definition {
    let scope = scopes.last();
    let inside = scope.map_or(Inside::Module, |scope| scope.inside);
    let kind = match shape.kind {
        ShapeKind::Symbol(SymbolKind::Function) if inside == Inside::Type => ShapeKind::Symbol(SymbolKind::Method),
        kind => kind,
    };
    let mut own = shape.name.clone();
    if let Some(qualifier) = &shape.qualifier {
        let separator = shape::separator(language, ShapeKind::TypeScope);
        own = format!("{qualifier}{separator}{own}");
    }
    let qualified_name = match scope {
        Some(scope) if !scope.qualified_name.is_empty() => {
            format!(
                "{}{}{own}",
                scope.qualified_name,
                shape::separator(language, scope.kind)
            )
        }
        _ => own,
    };
    let colon = || {
        let colon = |child: &Node<'_>| child.kind() == ":";
        (language == SourceLanguage::Python && shape.body.is_some())
            .then(|| children(node).into_iter().find(colon))
            .flatten()
    };
    let (head_end, head_last) = match (colon(), shape.body) {
        (Some(colon), _) => (colon.end_byte(), colon.start_position().row),
        // A body of Ruby has no bracket of its own: the head ends with what stands before it.
        (None, Some(body)) if language == SourceLanguage::Ruby => {
            let last = body.prev_sibling().unwrap_or(body);
            (last.end_byte(), last_row(last))
        }
        (None, Some(body)) => (body.start_byte(), body.start_position().row),
        (None, None) => (start.end_byte, start.last_row),
    };
    let body_first = head_of(node).start_position().row;
    Definition {
        name: shape.name,
        qualified_name,
        kind,
        span: line_span(start.row, start.last_row),
        bytes: start.byte..start.end_byte,
        body_first: body_first as u32 + 1,
        head_last: head_last.max(body_first) as u32 + 1,
        has_body: shape.body.is_some(),
        signature: String::new(),
        depth: scope.map_or(0, |scope| scope.symbols),
        private: false,
        inside,
        head: start.head_byte.min(head_end)..head_end.max(start.head_byte).min(text.len()),
    }
}

/// Returns the first child that is neither decorator nor comment, where a node has such in front.
fn head_of(node: Node<'_>) -> Node<'_> {
    let mut holder = node;
    loop {
        let mut cursor = holder.walk();
        let Some(first) = holder.children(&mut cursor).find(|child| {
            !shape::decorates(*child)
                && (child.kind() != "modifiers" || !child.children(&mut child.walk()).all(shape::decorates))
        }) else {
            return holder;
        };
        if first.kind() != "modifiers" {
            return if first.start_byte() == node.start_byte() {
                node
            } else {
                first
            };
        }
        holder = first;
    }
}

fn is_anonymous_function(node: Node<'_>) -> bool {
    node.is_named()
        && matches!(
            node.kind(),
            "arrow_function"
                | "function_expression"
                | "generator_function"
                | "func_literal"
                | "lambda_expression"
                | "closure_expression"
                | "lambda"
                | "lambda_literal"
                | "anonymous_function"
        )
}

fn begins_its_line(text: &str, node: Node<'_>) -> bool {
    let before = text.as_bytes().get(..node.start_byte()).unwrap_or_default();
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    before[line..]
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(&before[line..])
        .iter()
        .all(u8::is_ascii_whitespace)
}

/// Returns the lines from the first of `from` to the last of `to`.
fn rows(from: Node<'_>, to: Node<'_>) -> LineSpan {
    line_span(from.start_position().row, last_row(to))
}

fn line_span(first_row: usize, last_row: usize) -> LineSpan {
    let first = first_row as u32 + 1;
    LineSpan::new(first, (last_row as u32 + 1).max(first)).expect("the last line was raised to the first")
}
