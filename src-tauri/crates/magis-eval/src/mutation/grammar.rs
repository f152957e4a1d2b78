//! Parsing the languages in which mutations are made, and the few ways of reading a tree that the other modules share.

use magis_syntax::SourceLanguage;
use tree_sitter::{Node, Parser, Tree};

/// Parses a text; none in a language in which no mutations are made, or where the text has errors.
pub(super) fn parse(language: SourceLanguage, text: &str) -> Option<Tree> {
    let grammar = match language {
        SourceLanguage::Python => tree_sitter_python::LANGUAGE.into(),
        SourceLanguage::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        SourceLanguage::Rust => tree_sitter_rust::LANGUAGE.into(),
        _ => return None,
    };
    let mut parser = Parser::new();
    parser.set_language(&grammar).ok()?;
    parser.parse(text, None).filter(|tree| !tree.root_node().has_error())
}

/// Returns all nodes, the outer before the inner.
pub(super) fn nodes(tree: &Tree) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        found.push(node);
        open.extend(children(node).into_iter().rev());
    }
    found
}

pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// Returns the named children but for comments.
pub(super) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let all: Vec<Node<'_>> = node.named_children(&mut node.walk()).collect();
    all.into_iter()
        .filter(|part| !part.kind().contains("comment"))
        .collect()
}

pub(super) fn text_of<'t>(text: &'t str, node: Node<'_>) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Returns the nodes around a node, the inner first.
pub(super) fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
}

/// Returns whether a node is a function that has a name.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "function_item"
            | "function_expression"
            | "arrow_function"
    )
}

/// Returns the bytes of the whole lines that a node stands on, with their last line break; none where something else stands on them.
pub(super) fn whole_lines(text: &str, node: Node<'_>) -> Option<std::ops::Range<usize>> {
    let start = text.get(..node.start_byte())?.rfind('\n').map_or(0, |at| at + 1);
    let end = text
        .get(node.end_byte()..)?
        .find('\n')
        .map_or(text.len(), |at| node.end_byte() + at + 1);
    let before = text.get(start..node.start_byte())?;
    let after = text
        .get(node.end_byte()..end)?
        .trim()
        .trim_end_matches([',', ';'])
        .trim();
    let plain = before.trim().is_empty() && (after.is_empty() || after.starts_with('#') || after.starts_with("//"));
    plain.then_some(start..end)
}
