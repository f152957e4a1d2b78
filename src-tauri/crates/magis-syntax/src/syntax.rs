//! Whether a text is well-formed, and whether a change made it worse.

use crate::SourceLanguage;
use crate::tree::{Walk, parse};
use magis_core::RepoPath;
use tree_sitter::Node;

/// Returns how many places of `text` the grammar could not make sense of; in Python, also how many statements are
/// indented unlike their block and how many blocks are empty, which the grammar lets pass. A text that could not be
/// parsed within reasonable time counts one for each of its lines.
pub fn syntax_errors(language: SourceLanguage, text: &str) -> u32 {
    let Some(tree) = parse(language, text) else {
        return text.lines().count().max(1) as u32;
    };
    let mut errors = 0;
    let mut walk = Walk::new(&tree);
    while let Some((_, node)) = walk.next() {
        if node.is_error() || node.is_missing() {
            errors += 1;
        }
        if language == SourceLanguage::Python {
            errors += misplaced(node, text);
        } else if !node.has_error() {
            walk.skip_children();
        }
    }
    errors
}

/// Returns the syntax errors before and after, where there are more after; none where not, or in an unknown language.
pub fn parses_worse(path: &RepoPath, before: &str, after: &str) -> Option<(u32, u32)> {
    let language = SourceLanguage::of(path)?;
    let (before, after) = (syntax_errors(language, before), syntax_errors(language, after));
    (after > before).then_some((before, after))
}

/// Returns how often a Python text breaks the rules of indentation and of blocks that the grammar does not watch.
pub(crate) fn misplacements(text: &str) -> u32 {
    parse(SourceLanguage::Python, text).map_or(0, |tree| Walk::new(&tree).map(|(_, node)| misplaced(node, text)).sum())
}

/// Statements of a Python block that do not stand where its first one does, and a block without any.
fn misplaced(node: Node<'_>, text: &str) -> u32 {
    match node.kind() {
        "module" => statements(node)
            .filter(|at| starts_line(*at, text).is_some_and(|indent| !indent.is_empty()))
            .count() as u32,
        "block" => {
            let mut indents = statements(node)
                .filter_map(|at| starts_line(at, text))
                .map(str::to_owned);
            let empty = u32::from(statements(node).next().is_none());
            let first = indents.next();
            empty + indents.filter(|indent| first.as_ref() != Some(indent)).count() as u32
        }
        "try_statement" => {
            let handled =
                |child: Node<'_>| matches!(child.kind(), "except_clause" | "except_group_clause" | "finally_clause");
            u32::from(!node.has_error() && !node.children(&mut node.walk()).any(handled))
        }
        "decorated_definition" => {
            let definition = node
                .child_by_field_name("definition")
                .and_then(|at| starts_line(at, text));
            u32::from(definition.is_some_and(|indent| starts_line(node, text).is_some_and(|own| own != indent)))
        }
        "function_definition"
        | "class_definition"
        | "if_statement"
        | "for_statement"
        | "while_statement"
        | "with_statement"
        | "else_clause"
        | "except_clause"
        | "finally_clause"
            if !node.children(&mut node.walk()).any(|child| child.kind() == "block") =>
        {
            u32::from(!node.has_error())
        }
        _ => 0,
    }
}

fn statements(block: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = block.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while more {
            let node = cursor.node();
            more = cursor.goto_next_sibling();
            if node.is_named() && node.kind() != "comment" && !node.is_error() {
                return Some(node);
            }
        }
        None
    })
}

/// Returns the white space before a node, if nothing else is before it on its line.
fn starts_line<'s>(node: Node<'_>, text: &'s str) -> Option<&'s str> {
    let before = text.get(..node.start_byte())?;
    let line = before
        .rsplit('\n')
        .next()
        .unwrap_or(before)
        .trim_start_matches('\u{feff}');
    line.trim().is_empty().then_some(line)
}
