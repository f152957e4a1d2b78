//! Cases that are not handled any more.

use super::super::grammar::{parts, text_of, whole_lines};
use super::super::kind::MutationKind;
use super::Site;
use tree_sitter::Node;

pub(super) fn at(node: Node<'_>, site: &mut Site<'_>) {
    let span = match node.kind() {
        "elif_clause" => whole_lines(site.text, node),
        "else_clause" if site.is_python() && node.parent().is_some_and(|parent| parent.kind() == "if_statement") => {
            whole_lines(site.text, node)
        }
        "if_statement" => guard(node, node, site.text),
        "expression_statement" => {
            let inner = parts(node).pop().filter(|inner| inner.kind() == "if_expression");
            inner.and_then(|inner| guard(inner, node, site.text))
        }
        "match_arm" => {
            let arms = node.parent().map(parts).unwrap_or_default();
            let pattern = |arm: Node<'_>| {
                arm.child_by_field_name("pattern")
                    .map(|pattern| text_of(site.text, pattern))
            };
            let others = arms.iter().any(|arm| pattern(*arm) == Some("_") && *arm != node);
            whole_lines(site.text, node).filter(|_| others)
        }
        "switch_case" => {
            let ends = parts(node)
                .last()
                .is_some_and(|last| matches!(last.kind(), "break_statement" | "return_statement"));
            whole_lines(site.text, node).filter(|_| ends)
        }
        "pair" => {
            let pairs = node.parent().map(parts).unwrap_or_default();
            whole_lines(site.text, node).filter(|_| pairs.len() >= 3)
        }
        _ => None,
    };
    if let Some(span) = span {
        site.add(MutationKind::RemovedCase, span, "");
    }
}

/// Returns the lines of an `if` without an `else` that leaves the block, where something stands behind it.
fn guard(node: Node<'_>, statement: Node<'_>, text: &str) -> Option<std::ops::Range<usize>> {
    if node.child_by_field_name("alternative").is_some() {
        return None;
    }
    let consequence = node.child_by_field_name("consequence")?;
    let last = match consequence.kind() {
        "block" | "statement_block" => parts(consequence).pop()?,
        _ => consequence,
    };
    let last = if last.kind() == "expression_statement" {
        parts(last).pop()?
    } else {
        last
    };
    let leaves = matches!(
        last.kind(),
        "return_statement"
            | "continue_statement"
            | "break_statement"
            | "return_expression"
            | "continue_expression"
            | "break_expression"
    );
    let more = statement.next_named_sibling().is_some();
    whole_lines(text, statement).filter(|_| leaves && more)
}
