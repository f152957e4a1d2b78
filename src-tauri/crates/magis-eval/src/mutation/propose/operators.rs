//! Operators, bounds, conditions and truth values.

use super::super::grammar::{children, parts, text_of};
use super::super::kind::MutationKind;
use super::Site;
use tree_sitter::Node;

pub(super) fn at(node: Node<'_>, site: &mut Site<'_>) {
    match node.kind() {
        "binary_operator" | "binary_expression" | "boolean_operator" | "comparison_operator" => binary(node, site),
        "augmented_assignment" | "augmented_assignment_expression" | "compound_assignment_expr" => {
            let operator = node.child_by_field_name("operator");
            if let Some(operator) = operator {
                let other = match text_of(site.text, operator) {
                    "+=" => "-=",
                    "-=" => "+=",
                    "*=" => "/=",
                    _ => return,
                };
                if !is_text(node.child_by_field_name("right"), site.text) {
                    site.add(MutationKind::Operator, operator.byte_range(), other);
                }
            }
        }
        "not_operator" => negation(node, node.child_by_field_name("argument"), site),
        "unary_expression" if text_of(site.text, node).starts_with('!') => negation(node, parts(node).pop(), site),
        "integer" | "integer_literal" | "number" => number(node, site),
        "true" => site.add(
            MutationKind::Constant,
            node.byte_range(),
            if site.is_python() { "False" } else { "false" },
        ),
        "false" => site.add(
            MutationKind::Constant,
            node.byte_range(),
            if site.is_python() { "True" } else { "true" },
        ),
        "boolean_literal" => {
            let other = if text_of(site.text, node) == "true" {
                "false"
            } else {
                "true"
            };
            site.add(MutationKind::Constant, node.byte_range(), other);
        }
        "range_expression" => {
            for operator in children(node) {
                match operator.kind() {
                    ".." if parts(node).len() == 2 => site.add(MutationKind::Bound, operator.byte_range(), "..="),
                    "..=" => site.add(MutationKind::Bound, operator.byte_range(), ".."),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn binary(node: Node<'_>, site: &mut Site<'_>) {
    let all = parts(node);
    let [left, right] = all.as_slice() else { return };
    let Some(operator) = children(node)
        .into_iter()
        .find(|child| !child.is_named() || child.kind().contains(' '))
    else {
        return;
    };
    // Operators of two words, `is not` and `not in`, stand there as one node or as two.
    let span = operator.start_byte()..text_before(site.text, right.start_byte());
    let words = site
        .text
        .get(span.clone())
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let texts = is_text(Some(*left), site.text) || is_text(Some(*right), site.text);
    let (kind, other) = match words.as_str() {
        "+" if !texts => (MutationKind::Operator, "-"),
        "-" => (MutationKind::Operator, "+"),
        "*" if !texts => (MutationKind::Operator, "/"),
        "/" => (MutationKind::Operator, "*"),
        "//" => (MutationKind::Operator, "/"),
        "%" if !texts => (MutationKind::Operator, if site.is_python() { "//" } else { "/" }),
        "<<" => (MutationKind::Operator, ">>"),
        ">>" => (MutationKind::Operator, "<<"),
        "&" => (MutationKind::Operator, "|"),
        "|" => (MutationKind::Operator, "&"),
        "<" => (MutationKind::Bound, "<="),
        "<=" => (MutationKind::Bound, "<"),
        ">" => (MutationKind::Bound, ">="),
        ">=" => (MutationKind::Bound, ">"),
        "==" => (MutationKind::Condition, "!="),
        "!=" => (MutationKind::Condition, "=="),
        "===" => (MutationKind::Condition, "!=="),
        "!==" => (MutationKind::Condition, "==="),
        "is" => (MutationKind::Condition, "is not"),
        "is not" => (MutationKind::Condition, "is"),
        "in" if site.is_python() => (MutationKind::Condition, "not in"),
        "not in" => (MutationKind::Condition, "in"),
        "and" => (MutationKind::Condition, "or"),
        "or" => (MutationKind::Condition, "and"),
        "&&" => (MutationKind::Condition, "||"),
        "||" => (MutationKind::Condition, "&&"),
        _ => return,
    };
    site.add(kind, span, other);
    if matches!(words.as_str(), "and" | "or" | "&&" | "||") {
        site.add(
            MutationKind::Condition,
            node.byte_range(),
            text_of(site.text, *left).to_owned(),
        );
    }
    if matches!(words.as_str(), "+" | "-") && matches!(text_of(site.text, *right), "1") {
        site.add(
            MutationKind::Bound,
            node.byte_range(),
            text_of(site.text, *left).to_owned(),
        );
    }
}

/// Returns where the white space before a place begins.
fn text_before(text: &str, at: usize) -> usize {
    text.get(..at).map_or(at, |before| before.trim_end().len())
}

fn negation(node: Node<'_>, inner: Option<Node<'_>>, site: &mut Site<'_>) {
    if let Some(inner) = inner {
        site.add(
            MutationKind::Condition,
            node.byte_range(),
            text_of(site.text, inner).to_owned(),
        );
    }
}

/// A number that says where something begins or ends is one more, or one less.
fn number(node: Node<'_>, site: &mut Site<'_>) {
    let says_where = node.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "slice"
                | "subscript"
                | "comparison_operator"
                | "subscript_expression"
                | "range_expression"
                | "index_expression"
        ) || parent.kind() == "binary_expression" && text_of(site.text, parent).contains(['<', '>'])
    });
    let Ok(value) = text_of(site.text, node).parse::<u64>() else {
        return;
    };
    if says_where && value < 1000 {
        site.add(MutationKind::Bound, node.byte_range(), (value + 1).to_string());
    }
}

fn is_text(node: Option<Node<'_>>, text: &str) -> bool {
    node.is_some_and(|node| {
        node.kind().contains("string")
            || node.kind().contains("list")
            || text_of(text, node).starts_with(['\'', '"', '`'])
    })
}
