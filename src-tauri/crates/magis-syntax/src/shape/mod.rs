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

use crate::{Import, SourceLanguage, SymbolKind};
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

    /// Returns the shape of a node with the fields `name` and `body`.
    fn named(node: Node<'t>, text: &str, kind: SymbolKind) -> Option<Self> {
        let name = crate::tree::slice(text, node.child_by_field_name("name")?);
        (!name.is_empty()).then(|| Self::new(name, kind, node.child_by_field_name("body")))
    }
}

impl SymbolKind {
    /// Returns whether it holds members.
    pub(crate) fn inside(self) -> Inside {
        match self {
            Self::Function | Self::Method | Self::Macro => Inside::Function,
            Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Trait => Inside::Type,
            Self::Module | Self::Constant | Self::Type => Inside::Module,
        }
    }
}

/// Returns what `node` defines, if anything.
pub(crate) fn shape<'t>(
    language: SourceLanguage,
    node: Node<'t>,
    text: &str,
    around: Surroundings<'_>,
) -> Option<Shape<'t>> {
    if !node.is_named() {
        return None;
    }
    match language {
        SourceLanguage::Python => python::shape(node, text, around),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            script::shape(node, text, around)
        }
        SourceLanguage::Rust => rust::shape(node, text),
        SourceLanguage::Go => go::shape(node, text, around),
        SourceLanguage::Java => java::shape(node, text),
        SourceLanguage::C | SourceLanguage::Cpp => c::shape(node, text, around),
        SourceLanguage::CSharp => csharp::shape(node, text),
        SourceLanguage::Ruby => ruby::shape(node, text, around),
        SourceLanguage::Php => php::shape(node, text, around),
        SourceLanguage::Kotlin => kotlin::shape(node, text, around),
    }
}

/// Adds what `node` imports to `found`.
pub(crate) fn imports(language: SourceLanguage, node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if !node.is_named() {
        return;
    }
    match language {
        SourceLanguage::Python => python::imports(node, text, found),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            script::imports(node, text, found);
        }
        SourceLanguage::Rust => rust::imports(node, text, found),
        SourceLanguage::Go => go::imports(node, text, found),
        SourceLanguage::Java => java::imports(node, text, found),
        SourceLanguage::C | SourceLanguage::Cpp => c::imports(node, text, found),
        SourceLanguage::CSharp => csharp::imports(node, text, found),
        SourceLanguage::Ruby => ruby::imports(node, text, found),
        SourceLanguage::Php => php::imports(node, text, found),
        SourceLanguage::Kotlin => kotlin::imports(node, text, found),
    }
}

/// Returns whether `node` only wraps one definition, which then begins and ends where the wrapper does.
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

/// Returns whether `node`, standing before a definition, belongs to it.
pub(crate) fn leads(language: SourceLanguage, node: Node<'_>, text: &str) -> bool {
    match node.kind() {
        "attribute_item" | "decorator" => true,
        "comment" | "line_comment" | "block_comment" => {
            let comment = crate::tree::slice(text, node);
            match language {
                SourceLanguage::Python => false,
                SourceLanguage::Go | SourceLanguage::C | SourceLanguage::Cpp | SourceLanguage::Ruby => true,
                SourceLanguage::JavaScript
                | SourceLanguage::TypeScript
                | SourceLanguage::Tsx
                | SourceLanguage::Rust
                | SourceLanguage::Java
                | SourceLanguage::CSharp
                | SourceLanguage::Php
                | SourceLanguage::Kotlin => {
                    (comment.starts_with("///") && !comment.starts_with("////"))
                        || (comment.starts_with("/**") && !comment.starts_with("/**/"))
                }
            }
        }
        _ => false,
    }
}

/// Returns whether `node` is a decorator, annotation or attribute, which comes before the line a definition is known
/// by.
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

/// Returns whether `node` is a comment.
pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "comment" | "line_comment" | "block_comment" | "html_comment"
    )
}

/// Returns what separates the parts of a qualified name behind a container of that kind.
pub(crate) fn separator(language: SourceLanguage, container: ShapeKind) -> &'static str {
    match (language, container) {
        (SourceLanguage::C | SourceLanguage::Cpp, _) => "::",
        (SourceLanguage::Rust, ShapeKind::Symbol(kind)) if kind.inside() != Inside::Type => "::",
        _ => ".",
    }
}

/// Returns whether the definition is for use inside only, by its name or the words of its head.
pub(crate) fn is_private(language: SourceLanguage, name: &str, head: &str, scope: Inside) -> bool {
    match language {
        SourceLanguage::Python => name.starts_with('_') && !name.ends_with("__"),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            name.starts_with(['_', '#']) || head.starts_with("private ")
        }
        SourceLanguage::Rust => scope == Inside::Module && !head.starts_with("pub") && !head.starts_with("macro_rules"),
        SourceLanguage::Go => name.starts_with(|first: char| !first.is_uppercase()),
        SourceLanguage::Java | SourceLanguage::CSharp | SourceLanguage::Php | SourceLanguage::Kotlin => {
            head.starts_with("private ")
        }
        // What is private is said by a call before it.
        SourceLanguage::Ruby => name.starts_with('_'),
        SourceLanguage::C | SourceLanguage::Cpp => head.starts_with("static ") && scope == Inside::Module,
    }
}
