//! Ruby: modules, classes, methods, constants; what is required.

use super::{Inside, Shape, Surroundings};
use crate::tree::{children, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "class" => Shape::named(node, text, SymbolKind::Class),
        "module" => Shape::named(node, text, SymbolKind::Module),
        "method" if around.inside == Inside::Module => Shape::named(node, text, SymbolKind::Function),
        "method" | "singleton_method" => Shape::named(node, text, SymbolKind::Method),
        "assignment" if around.inside != Inside::Function => {
            let left = node
                .child_by_field_name("left")
                .filter(|left| left.kind() == "constant")?;
            Some(Shape::new(slice(text, left), SymbolKind::Constant, None))
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() != "call" || node.child_by_field_name("receiver").is_some() {
        return;
    }
    let called = node
        .child_by_field_name("method")
        .map_or("", |method| slice(text, method));
    let beside = match called {
        "require_relative" => "./",
        "require" | "load" | "autoload" => "",
        _ => return,
    };
    let arguments = node.child_by_field_name("arguments").map_or_else(Vec::new, children);
    let Some(path) = arguments.into_iter().rfind(|argument| argument.kind() == "string") else {
        return;
    };
    let path = slice(text, path).trim_matches(['"', '\'']);
    found.push(Import {
        target: format!("{beside}{path}"),
        names: Vec::new(),
        line: node.start_position().row as u32 + 1,
    });
}
