//! Variables of a function in each other's place.

use super::super::grammar::{ancestors, is_function, text_of};
use super::super::kind::MutationKind;
use super::Site;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The longest function that is looked at, in names.
const MOST_NAMES: usize = 400;

/// Adds the mutations of the names that a function reads.
pub(super) fn within(function: Node<'_>, site: &mut Site<'_>) {
    let (Some(parameters), Some(body)) = (
        function.child_by_field_name("parameters"),
        function.child_by_field_name("body"),
    ) else {
        return;
    };
    let mut names: Vec<Node<'_>> = Vec::new();
    let mut open = vec![parameters, body];
    while let Some(node) = open.pop() {
        if node.kind() == "identifier" {
            names.push(node);
        }
        let inner = super::super::grammar::children(node);
        open.extend(inner.into_iter().filter(|child| !is_function(*child)));
    }
    if names.len() > MOST_NAMES {
        return;
    }
    names.sort_by_key(Node::start_byte);
    let text = site.text;
    let bound: BTreeSet<&str> = names
        .iter()
        .filter(|name| binds(**name, parameters))
        .map(|name| text_of(text, *name))
        .filter(|name| !matches!(*name, "self" | "cls" | "_"))
        .collect();
    for name in &names {
        let own = text_of(text, *name);
        if !bound.contains(own) || !is_read(*name, parameters) {
            continue;
        }
        // What is bound before the place, so that it has a value there.
        let before: BTreeSet<&str> = names
            .iter()
            .filter(|other| other.start_byte() < name.start_byte() && binds(**other, parameters))
            .map(|other| text_of(text, *other))
            .filter(|other| bound.contains(other) && *other != own)
            .collect();
        let chosen = before.iter().nth(name.start_byte() % before.len().max(1));
        if let Some(other) = chosen {
            site.add(MutationKind::WrongVariable, name.byte_range(), *other);
        }
    }
}

fn binds(name: Node<'_>, parameters: Node<'_>) -> bool {
    let Some(parent) = name.parent() else { return false };
    if parent == parameters {
        return true;
    }
    let is = |field: &str| parent.child_by_field_name(field) == Some(name);
    match parent.kind() {
        "typed_parameter" => true,
        "default_parameter" | "typed_default_parameter" | "variable_declarator" => is("name"),
        "assignment" | "assignment_pattern" | "for_statement" | "assignment_expression" => is("left"),
        "parameter" | "let_declaration" | "for_expression" => is("pattern"),
        "pattern_list" | "tuple_pattern" => parent
            .parent()
            .is_some_and(|outer| outer.child_by_field_name("left") == Some(parent)),
        _ => false,
    }
}

fn is_read(name: Node<'_>, parameters: Node<'_>) -> bool {
    if binds(name, parameters) || ancestors(name).any(|outer| outer == parameters) {
        return false;
    }
    let Some(parent) = name.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(name);
    match parent.kind() {
        "keyword_argument" => is("value"),
        "attribute" | "field_expression" | "member_expression" => is("object") || is("value"),
        "augmented_assignment" | "augmented_assignment_expression" | "compound_assignment_expr" => !is("left"),
        "call" | "call_expression" | "macro_invocation" | "scoped_identifier" | "token_tree" | "global_statement"
        | "nonlocal_statement" | "delete_statement" | "pattern_list" | "tuple_pattern" | "as_pattern_target" => false,
        _ => true,
    }
}
