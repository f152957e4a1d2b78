//! C#: namespaces, types, their methods, constructors and properties with code, constants.

use super::Shape;
use crate::tree::{children, on_one_line, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str) -> Option<Shape<'t>> {
    match node.kind() {
        "namespace_declaration" => {
            let name = on_one_line(slice(text, node.child_by_field_name("name")?));
            Some(Shape::new(name, SymbolKind::Module, node.child_by_field_name("body")))
        }
        "class_declaration" | "record_declaration" => Shape::named(node, text, SymbolKind::Class),
        "struct_declaration" => Shape::named(node, text, SymbolKind::Struct),
        "interface_declaration" => Shape::named(node, text, SymbolKind::Interface),
        "enum_declaration" => Shape::named(node, text, SymbolKind::Enum),
        "delegate_declaration" => Shape::named(node, text, SymbolKind::Type),
        "method_declaration" | "constructor_declaration" | "destructor_declaration" => {
            Shape::named(node, text, SymbolKind::Method)
        }
        "local_function_statement" => Shape::named(node, text, SymbolKind::Function),
        "property_declaration" => {
            let accessors = node.child_by_field_name("accessors");
            let has_code = |accessor: Node<'_>| accessor.child_by_field_name("body").is_some();
            let coded = accessors.filter(|accessors| children(*accessors).into_iter().any(has_code));
            let body = coded.or_else(|| {
                node.child_by_field_name("value")
                    .filter(|value| value.kind() == "arrow_expression_clause")
            })?;
            let name = slice(text, node.child_by_field_name("name")?);
            Some(Shape::new(name, SymbolKind::Method, Some(body)))
        }
        "field_declaration" => {
            let parts = children(node);
            let modifiers: Vec<&str> = parts
                .iter()
                .filter(|part| part.kind() == "modifier")
                .map(|part| slice(text, *part))
                .collect();
            let constant =
                modifiers.contains(&"const") || (modifiers.contains(&"static") && modifiers.contains(&"readonly"));
            let declared = parts.into_iter().find(|part| part.kind() == "variable_declaration")?;
            let declarator = children(declared)
                .into_iter()
                .find(|part| part.kind() == "variable_declarator")?;
            let name = slice(text, declarator.child_by_field_name("name")?);
            constant.then(|| Shape::new(name, SymbolKind::Constant, None))
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() != "using_directive" {
        return;
    }
    // Of `using Short = A.B;` the last is what is meant.
    let Some(target) = children(node).into_iter().rfind(Node::is_named) else {
        return;
    };
    found.push(Import {
        target: slice(text, target).split_whitespace().collect(),
        names: Vec::new(),
        line: node.start_position().row as u32 + 1,
    });
}
