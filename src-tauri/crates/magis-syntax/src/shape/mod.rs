//! What a node of a language's tree defines or imports; one file a family of languages.
//!
//! These files look at single nodes. Where a definition stands, and what belongs to it, is `scan`'s matter.

mod c;
mod csharp;
mod go;
mod java;
mod kotlin;
mod php;
mod python;
mod ruby;
mod rust;
mod script;

use crate::{Import, Language, SymbolKind};
use tree_sitter::Node;

/// A definition as its node tells it.
pub(crate) struct Shape<'t> {
    pub(crate) name: String,
    /// What the name is qualified with beyond the definitions it lies in, as a Go receiver does.
    pub(crate) qualifier: Option<String>,
    pub(crate) kind: ShapeKind,
    /// What follows the head.
    pub(crate) body: Option<Node<'t>>,
}

/// What kind of thing a shape is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShapeKind {
    /// A symbol.
    Symbol(SymbolKind),
    /// No symbol of its own, but its name qualifies those inside: a Rust `impl`.
    TypeScope,
}

/// What is around a node.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'t> {
    /// The kind of the node's parent.
    pub(crate) parent: &'t str,
    /// The innermost definition around it.
    pub(crate) inside: Inside,
}

/// The innermost definition around a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// None, or modules alone.
    Module,
    /// A class, struct, trait and the like.
    Type,
    /// A function.
    Function,
}

impl<'t> Shape<'t> {
    pub(crate) fn new(name: impl Into<String>, kind: SymbolKind, body: Option<Node<'t>>) -> Self {
        Self {
            name: name.into(),
            qualifier: None,
            kind: ShapeKind::Symbol(kind),
            body,
        }
    }

    /// The shape of a node with the fields `name` and `body`.
    fn named(node: Node<'t>, text: &str, kind: SymbolKind) -> Option<Self> {
        let name = crate::tree::slice(text, node.child_by_field_name("name")?);
        (!name.is_empty()).then(|| Self::new(name, kind, node.child_by_field_name("body")))
    }
}

impl SymbolKind {
    /// Whether it holds members.
    pub(crate) fn inside(self) -> Inside {
        match self {
            Self::Function | Self::Method | Self::Macro => Inside::Function,
            Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Trait => Inside::Type,
            Self::Module | Self::Constant | Self::Type => Inside::Module,
        }
    }
}

/// What `node` defines, if anything.
pub(crate) fn shape<'t>(language: Language, node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    if !node.is_named() {
        return None;
    }
    match language {
        Language::Python => python::shape(node, text, around),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script::shape(node, text, around),
        Language::Rust => rust::shape(node, text),
        Language::Go => go::shape(node, text, around),
        Language::Java => java::shape(node, text),
        Language::C | Language::Cpp => c::shape(node, text, around),
        Language::CSharp => csharp::shape(node, text),
        Language::Ruby => ruby::shape(node, text, around),
        Language::Php => php::shape(node, text, around),
        Language::Kotlin => kotlin::shape(node, text, around),
    }
}

/// Adds what `node` imports to `found`.
pub(crate) fn imports(language: Language, node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if !node.is_named() {
        return;
    }
    match language {
        Language::Python => python::imports(node, text, found),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script::imports(node, text, found),
        Language::Rust => rust::imports(node, text, found),
        Language::Go => go::imports(node, text, found),
        Language::Java => java::imports(node, text, found),
        Language::C | Language::Cpp => c::imports(node, text, found),
        Language::CSharp => csharp::imports(node, text, found),
        Language::Ruby => ruby::imports(node, text, found),
        Language::Php => php::imports(node, text, found),
        Language::Kotlin => kotlin::imports(node, text, found),
    }
}

/// Whether `node` only wraps one definition, which then begins and ends where the wrapper does.
pub(crate) fn wraps(node: Node<'_>) -> bool {
    match node.kind() {
        "decorated_definition"
        | "export_statement"
        | "ambient_declaration"
        | "template_declaration"
        | "expression_statement" => true,
        "lexical_declaration"
        | "variable_declaration"
        | "type_declaration"
        | "const_declaration"
        | "var_declaration" => node.named_child_count() == 1,
        _ => false,
    }
}

/// Whether `node`, standing before a definition, belongs to it.
pub(crate) fn leads(language: Language, node: Node<'_>, text: &str) -> bool {
    match node.kind() {
        "attribute_item" | "decorator" => true,
        "comment" | "line_comment" | "block_comment" => {
            let comment = crate::tree::slice(text, node);
            match language {
                Language::Python => false,
                Language::Go | Language::C | Language::Cpp | Language::Ruby => true,
                Language::JavaScript
                | Language::TypeScript
                | Language::Tsx
                | Language::Rust
                | Language::Java
                | Language::CSharp
                | Language::Php
                | Language::Kotlin => {
                    (comment.starts_with("///") && !comment.starts_with("////"))
                        || (comment.starts_with("/**") && !comment.starts_with("/**/"))
                }
            }
        }
        _ => false,
    }
}

/// Whether `node` is a decorator, annotation or attribute, which comes before the line a definition is known by.
pub(crate) fn decorates(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "decorator"
            | "annotation"
            | "marker_annotation"
            | "attribute_item"
            | "attribute_declaration"
            | "attribute_list"
    ) || is_comment(node)
}

/// Whether `node` is a comment.
pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "comment" | "line_comment" | "block_comment" | "html_comment"
    )
}

/// What separates the parts of a qualified name behind a container of that kind.
pub(crate) fn separator(language: Language, container: ShapeKind) -> &'static str {
    match (language, container) {
        (Language::C | Language::Cpp, _) => "::",
        (Language::Rust, ShapeKind::Symbol(kind)) if kind.inside() != Inside::Type => "::",
        _ => ".",
    }
}

/// Whether the definition is for use inside only, by its name or the words of its head.
pub(crate) fn is_private(language: Language, name: &str, head: &str, scope: Inside) -> bool {
    match language {
        Language::Python => name.starts_with('_') && !name.ends_with("__"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            name.starts_with(['_', '#']) || head.starts_with("private ")
        }
        Language::Rust => scope == Inside::Module && !head.starts_with("pub") && !head.starts_with("macro_rules"),
        Language::Go => name.starts_with(|first: char| !first.is_uppercase()),
        Language::Java | Language::CSharp | Language::Php | Language::Kotlin => head.starts_with("private "),
        // What is private is said by a call before it.
        Language::Ruby => name.starts_with('_'),
        Language::C | Language::Cpp => head.starts_with("static ") && scope == Inside::Module,
    }
}
