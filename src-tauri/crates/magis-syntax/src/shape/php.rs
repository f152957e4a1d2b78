//! PHP: functions, types, their methods, constants, namespaces with a body; what is used and what is included.

use super::{Inside, Shape, Surroundings};
use crate::tree::{children, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "function_definition" => Shape::named(node, text, SymbolKind::Function),
        "method_declaration" => Shape::named(node, text, SymbolKind::Method),
        "class_declaration" => Shape::named(node, text, SymbolKind::Class),
        "interface_declaration" => Shape::named(node, text, SymbolKind::Interface),
        "trait_declaration" => Shape::named(node, text, SymbolKind::Trait),
        "enum_declaration" => Shape::named(node, text, SymbolKind::Enum),
        "namespace_definition" => Shape::named(node, text, SymbolKind::Module).filter(|shape| shape.body.is_some()),
        "const_element" if around.inside != Inside::Function => {
            let name = children(node).into_iter().find(|part| part.kind() == "name")?;
            Some(Shape::new(slice(text, name), SymbolKind::Constant, None))
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut add = |target: String| {
        found.push(Import {
            target,
            names: Vec::new(),
            line: node.start_position().row as u32 + 1,
        });
    };
    match node.kind() {
        "namespace_use_declaration" => {
            let parts = children(node);
            let prefix = parts.iter().find(|part| part.kind() == "namespace_name");
            let prefix = prefix.map_or(String::new(), |prefix| format!("{}\\", slice(text, *prefix)));
            let grouped = node.child_by_field_name("body").map_or_else(Vec::new, children);
            for clause in parts.into_iter().chain(grouped) {
                let name = |part: &Node<'_>| matches!(part.kind(), "qualified_name" | "name");
                if clause.kind() == "namespace_use_clause"
                    && let Some(path) = children(clause).into_iter().find(name)
                {
                    add(format!("{prefix}{}", slice(text, path))
                        .trim_start_matches('\\')
                        .to_owned());
                }
            }
        }
        "include_expression" | "include_once_expression" | "require_expression" | "require_once_expression" => {
            let mut parts = slice(text, node).split(['\'', '"']);
            if let (Some(before), Some(path)) = (parts.next(), parts.next().filter(|path| !path.is_empty())) {
                add(match folder(before) {
                    Some(folder) => format!("{folder}{}", path.trim_start_matches('/')),
                    None => path.to_owned(),
                });
            }
        }
        _ => {}
    }
}

/// Returns the folder that stands before a path, seen from the file: `__DIR__ . '/a.php'` lies beside it, and each
/// `dirname` goes one up. What is put together otherwise is not known here.
fn folder(before: &str) -> Option<String> {
    let gone_up = before.matches("dirname").count();
    let up = if before.contains("__DIR__") {
        gone_up
    } else if before.contains("__FILE__") {
        gone_up.checked_sub(1)?
    } else {
        return None;
    };
    Some(if up == 0 { "./".to_owned() } else { "../".repeat(up) })
}
