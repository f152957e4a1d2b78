//! C and C++: functions and their prototypes, types, namespaces, file-level names, macros, includes.

use super::{Inside, Shape, Surroundings};
use crate::tree::{on_one_line, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

/// How many pointers, references and parentheses may lie around a name.
const DECLARATOR_DEPTH: usize = 32;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "function_definition" => {
            let (name, _) = declared(node.child_by_field_name("declarator")?)?;
            Some(qualified(
                name,
                text,
                SymbolKind::Function,
                node.child_by_field_name("body"),
            ))
        }
        "declaration" | "field_declaration" if around.inside != Inside::Function => {
            let declarator = node.child_by_field_name("declarator")?;
            match declared(declarator)? {
                (name, Declares::Function) => Some(qualified(name, text, SymbolKind::Function, None)),
                (name, Declares::Value) if around.inside == Inside::Module => {
                    Some(qualified(name, text, SymbolKind::Constant, None))
                }
                (_, Declares::Value) => None,
            }
        }
        "class_specifier" => with_body(node, text, SymbolKind::Class),
        "struct_specifier" | "union_specifier" if around.parent != "type_definition" => {
            with_body(node, text, SymbolKind::Struct)
        }
        "enum_specifier" if around.parent != "type_definition" => with_body(node, text, SymbolKind::Enum),
        "type_definition" => {
            let of = node.child_by_field_name("type")?;
            let body = of.child_by_field_name("body");
            let kind = match (of.kind(), body) {
                ("struct_specifier" | "union_specifier", Some(_)) => SymbolKind::Struct,
                ("enum_specifier", Some(_)) => SymbolKind::Enum,
                _ => SymbolKind::Type,
            };
            let (name, _) = declared(node.child_by_field_name("declarator")?)?;
            Some(Shape::new(slice(text, name), kind, body))
        }
        "namespace_definition" => Shape::named(node, text, SymbolKind::Module),
        "alias_declaration" | "concept_definition" => Shape::named(node, text, SymbolKind::Type),
        "preproc_function_def" => Shape::named(node, text, SymbolKind::Macro),
        "preproc_def" if node.child_by_field_name("value").is_some() => Shape::named(node, text, SymbolKind::Macro),
        _ => None,
    }
}

fn with_body<'t>(node: Node<'t>, text: &str, kind: SymbolKind) -> Option<Shape<'t>> {
    let body = node.child_by_field_name("body")?;
    let name = node.child_by_field_name("name")?;
    Some(qualified(name, text, kind, Some(body)))
}

enum Declares {
    Function,
    Value,
}

/// Returns the name at the bottom of a declarator, and whether it is a function's.
fn declared(declarator: Node<'_>) -> Option<(Node<'_>, Declares)> {
    let mut node = declarator;
    let mut declares = Declares::Value;
    for _ in 0..DECLARATOR_DEPTH {
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "operator_cast"
            | "template_function"
            | "primitive_type" => return Some((node, declares)),
            "function_declarator" => {
                let inner = node.child_by_field_name("declarator")?;
                if inner.kind() != "parenthesized_declarator" {
                    declares = Declares::Function;
                }
                node = inner;
            }
            _ => node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        }
    }
    None
}

/// Returns a name such as `ns::Type<T>::f`, taken apart.
fn qualified<'t>(name: Node<'_>, text: &str, kind: SymbolKind, body: Option<Node<'t>>) -> Shape<'t> {
    let whole = on_one_line(slice(text, name));
    let (whole, operator) = match whole.find("operator") {
        Some(at) => (
            whole[..at].to_owned(),
            Some(whole[at..].split('(').next().unwrap_or_default().to_owned()),
        ),
        None => (whole, None),
    };
    let operator = operator.map(|name| {
        if name == "operator" {
            "operator()".to_owned()
        } else {
            name
        }
    });
    let mut plain = String::new();
    let mut open = 0_u32;
    for character in whole.chars() {
        match character {
            '<' => open += 1,
            '>' => open = open.saturating_sub(1),
            _ if open == 0 => plain.push(character),
            _ => {}
        }
    }
    let (owner, name) = match (plain.rsplit_once("::"), operator) {
        (Some((owner, _)), Some(operator)) => (Some(owner.to_owned()), operator),
        (Some((owner, name)), None) => (Some(owner.to_owned()), name.to_owned()),
        (None, Some(operator)) => (None, operator),
        (None, None) => (None, plain),
    };
    let kind = if owner.is_some() && kind == SymbolKind::Function {
        SymbolKind::Method
    } else {
        kind
    };
    Shape {
        qualifier: owner.filter(|owner| !owner.is_empty()),
        ..Shape::new(name, kind, body)
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "preproc_include"
        && let Some(path) = node.child_by_field_name("path")
    {
        let target = slice(text, path).trim_matches(['"', '<', '>']).to_owned();
        found.push(Import {
            target,
            names: Vec::new(),
            line: node.start_position().row as u32 + 1,
        });
    }
}
