//! JavaScript, TypeScript and TSX: declarations, functions bound to a name, members, and the module systems.

use super::{Inside, Shape, Surroundings};
use crate::tree::{on_one_line, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            Shape::named(node, text, SymbolKind::Function)
        }
        "class_declaration" | "abstract_class_declaration" => Shape::named(node, text, SymbolKind::Class),
        "interface_declaration" => Shape::named(node, text, SymbolKind::Interface),
        "enum_declaration" => Shape::named(node, text, SymbolKind::Enum),
        "type_alias_declaration" => Shape::named(node, text, SymbolKind::Type),
        "internal_module" | "module" => {
            let name = node.child_by_field_name("name")?;
            let name = slice(text, name).trim_matches(['"', '\'']);
            Some(Shape::new(name, SymbolKind::Module, node.child_by_field_name("body")))
        }
        "method_definition" | "abstract_method_signature" | "method_signature" => {
            Shape::named(node, text, SymbolKind::Method)
        }
        "variable_declarator" => {
            let name = node
                .child_by_field_name("name")
                .filter(|name| name.kind() == "identifier")?;
            let name = slice(text, name);
            match node.child_by_field_name("value") {
                Some(value) if function_or_class(value).is_some() => bound(name, value, SymbolKind::Function),
                _ if around.inside == Inside::Module => Some(Shape::new(name, SymbolKind::Constant, None)),
                _ => None,
            }
        }
        "assignment_expression" => {
            let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
            let target = match left.kind() {
                "identifier" | "member_expression" => on_one_line(slice(text, left)).replace(".prototype.", "."),
                _ => return None,
            };
            let target = target
                .trim_start_matches("module.")
                .trim_start_matches("exports.")
                .trim_start_matches("this.");
            match target.rsplit_once('.') {
                Some((owner, name)) => {
                    let mut shape = bound(name, right, SymbolKind::Method)?;
                    shape.qualifier = Some(owner.to_owned());
                    Some(shape)
                }
                // A module that is one function is known by that function's name.
                None if target == "exports" => {
                    let own = right.child_by_field_name("name").map(|name| slice(text, name));
                    bound(own.unwrap_or(target), right, SymbolKind::Function)
                }
                None => bound(target, right, SymbolKind::Function),
            }
        }
        "function_expression" | "generator_function" if !is_bound(node) => {
            Shape::named(node, text, SymbolKind::Function)
        }
        "pair" => {
            let key = slice(text, node.child_by_field_name("key")?).trim_matches(['"', '\'']);
            bound(key, node.child_by_field_name("value")?, SymbolKind::Method)
        }
        "field_definition" | "public_field_definition" => {
            let name = node
                .child_by_field_name("name")
                .or_else(|| node.child_by_field_name("property"))?;
            bound(
                slice(text, name),
                node.child_by_field_name("value")?,
                SymbolKind::Method,
            )
        }
        "export_statement" => {
            let value = node.child_by_field_name("value")?;
            bound("default", value, SymbolKind::Function)
        }
        _ => None,
    }
}

/// Returns a function or class that is a value, under the name it is bound to.
fn bound<'t>(name: &str, value: Node<'t>, function: SymbolKind) -> Option<Shape<'t>> {
    let (kind, body) = function_or_class(value)?;
    Some(Shape::new(name, kind.unwrap_or(function), body))
}

/// Returns whether a function that is a value is known by the name that it is bound to.
fn is_bound(value: Node<'_>) -> bool {
    value.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "variable_declarator"
                | "assignment_expression"
                | "pair"
                | "field_definition"
                | "public_field_definition"
                | "export_statement"
        )
    })
}

fn function_or_class(value: Node<'_>) -> Option<(Option<SymbolKind>, Option<Node<'_>>)> {
    match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" | "function" => {
            Some((None, value.child_by_field_name("body")))
        }
        "class" => Some((Some(SymbolKind::Class), value.child_by_field_name("body"))),
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let line = node.start_position().row as u32 + 1;
    let unquoted = |node: Node<'_>| slice(text, node).trim_matches(['"', '\'', '`']).to_owned();
    match node.kind() {
        "import_statement" | "export_statement" => {
            if let Some(source) = node.child_by_field_name("source") {
                found.push(Import {
                    target: unquoted(source),
                    names: clause_names(node, text),
                    line,
                });
            }
        }
        "call_expression" => {
            let called = node
                .child_by_field_name("function")
                .map_or("", |function| slice(text, function));
            let arguments = node.child_by_field_name("arguments");
            if let ("require" | "import", Some(arguments)) = (called, arguments)
                && let Some(target) = arguments.named_child(0).filter(|target| target.kind() == "string")
            {
                found.push(Import {
                    target: unquoted(target),
                    names: Vec::new(),
                    line,
                });
            }
        }
        _ => {}
    }
}

/// Returns the names in the clause of an import or of an export from another module.
fn clause_names(node: Node<'_>, text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for clause in node.children(&mut node.walk()) {
        match clause.kind() {
            "import_clause" => {
                for part in clause.named_children(&mut clause.walk()) {
                    match part.kind() {
                        "identifier" => names.push(slice(text, part).to_owned()),
                        "namespace_import" => names.push("*".to_owned()),
                        "named_imports" => specifier_names(part, text, &mut names),
                        _ => {}
                    }
                }
            }
            "export_clause" => specifier_names(clause, text, &mut names),
            "namespace_export" | "*" => names.push("*".to_owned()),
            _ => {}
        }
    }
    names
}

fn specifier_names(list: Node<'_>, text: &str, names: &mut Vec<String>) {
    for specifier in list.named_children(&mut list.walk()) {
        if let Some(name) = specifier.child_by_field_name("name") {
            names.push(slice(text, name).to_owned());
        }
    }
}
