//! Kotlin: types and objects, functions and secondary constructors, top-level properties and constants, type aliases.

use super::{Inside, Shape, Surroundings};
use crate::tree::{children, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    let name = |field: &str| Some(slice(text, node.child_by_field_name(field)?));
    let part = |kinds: &[&str]| children(node).into_iter().find(|part| kinds.contains(&part.kind()));
    match node.kind() {
        "class_declaration" => {
            let body = part(&["class_body", "enum_class_body"]);
            let kind = if part(&["interface"]).is_some() {
                SymbolKind::Interface
            } else if body.is_some_and(|body| body.kind() == "enum_class_body") || has_modifier(node, text, "enum") {
                SymbolKind::Enum
            } else {
                SymbolKind::Class
            };
            Some(Shape::new(name("name")?, kind, body))
        }
        "object_declaration" => Some(Shape::new(name("name")?, SymbolKind::Class, part(&["class_body"]))),
        "function_declaration" => Some(Shape::new(
            name("name")?,
            SymbolKind::Function,
            part(&["function_body"]),
        )),
        "secondary_constructor" => Some(Shape::new("constructor", SymbolKind::Method, part(&["block"]))),
        "property_declaration" if around.inside == Inside::Module || has_modifier(node, text, "const") => {
            let declared = part(&["variable_declaration"])?;
            let name = children(declared)
                .into_iter()
                .find(|part| part.kind() == "identifier")?;
            Some(Shape::new(slice(text, name), SymbolKind::Constant, None))
        }
        "type_alias" => Some(Shape::new(name("type")?, SymbolKind::Type, None)),
        _ => None,
    }
}

fn has_modifier(node: Node<'_>, text: &str, word: &str) -> bool {
    let mut modifiers = children(node).into_iter().filter(|part| part.kind() == "modifiers");
    modifiers.any(|modifiers| slice(text, modifiers).split_whitespace().any(|found| found == word))
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() != "import" {
        return;
    }
    let parts = children(node);
    let Some(path) = parts.iter().find(|part| part.kind() == "qualified_identifier") else {
        return;
    };
    let all = parts.iter().any(|part| part.kind() == "*");
    found.push(Import {
        target: slice(text, *path).split_whitespace().collect(),
        names: all.then(|| "*".to_owned()).into_iter().collect(),
        line: node.start_position().row as u32 + 1,
    });
}
