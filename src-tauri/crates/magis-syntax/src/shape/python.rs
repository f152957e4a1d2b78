//! Python: functions, classes, module-level names, type aliases.

use super::{Inside, Shape, Surroundings};
use crate::tree::slice;
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "function_definition" => Shape::named(node, text, SymbolKind::Function),
        "class_definition" => Shape::named(node, text, SymbolKind::Class),
        "assignment" if around.parent == "expression_statement" && around.inside == Inside::Module => {
            let left = node
                .child_by_field_name("left")
                .filter(|left| left.kind() == "identifier")?;
            Some(Shape::new(slice(text, left), SymbolKind::Constant, None))
        }
        "type_alias_statement" => {
            let left = node.child_by_field_name("left")?;
            let name = slice(text, left).split('[').next().unwrap_or_default().trim();
            Some(Shape::new(name, SymbolKind::Type, None))
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let line = node.start_position().row as u32 + 1;
    let plain = |node: Node<'_>| {
        let named = if node.kind() == "aliased_import" {
            node.child_by_field_name("name").unwrap_or(node)
        } else {
            node
        };
        slice(text, named).split_whitespace().collect::<String>()
    };
    let taken = || {
        node.children_by_field_name("name", &mut node.walk())
            .map(plain)
            .collect::<Vec<_>>()
    };
    match node.kind() {
        "import_statement" => {
            found.extend(taken().into_iter().map(|target| Import {
                target,
                names: Vec::new(),
                line,
            }));
        }
        "import_from_statement" => {
            let Some(module) = node.child_by_field_name("module_name") else {
                return;
            };
            let mut names = taken();
            if node
                .named_children(&mut node.walk())
                .any(|child| child.kind() == "wildcard_import")
            {
                names.push("*".to_owned());
            }
            found.push(Import {
                target: plain(module),
                names,
                line,
            });
        }
        "future_import_statement" => {
            found.push(Import {
                target: "__future__".to_owned(),
                names: taken(),
                line,
            });
        }
        _ => {}
    }
}
