//! Go: functions, methods under their receiver's type, types, package-level names.

use super::{Inside, Shape, Surroundings};
use crate::tree::{children, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str, around: Surroundings<'_>) -> Option<Shape<'t>> {
    match node.kind() {
        "function_declaration" => Shape::named(node, text, SymbolKind::Function),
        "method_declaration" => {
            let mut shape = Shape::named(node, text, SymbolKind::Method)?;
            shape.qualifier = receiver(node, text);
            Some(shape)
        }
        "type_spec" | "type_alias" => {
            let of = node.child_by_field_name("type");
            let kind = match of.map_or("", |of| of.kind()) {
                "struct_type" => SymbolKind::Struct,
                "interface_type" => SymbolKind::Interface,
                _ => SymbolKind::Type,
            };
            let mut shape = Shape::named(node, text, kind)?;
            let opens = |child: &Node<'_>| matches!(child.kind(), "field_declaration_list" | "{");
            let holds_members = |of: &Node<'_>| matches!(of.kind(), "struct_type" | "interface_type");
            shape.body = of
                .filter(holds_members)
                .and_then(|of| children(of).into_iter().find(opens));
            Some(shape)
        }
        "const_spec" | "var_spec" if around.inside == Inside::Module => Shape::named(node, text, SymbolKind::Constant),
        "method_elem" => Shape::named(node, text, SymbolKind::Method),
        _ => None,
    }
}

/// Returns the type of a method's receiver without pointer and type parameters.
fn receiver(method: Node<'_>, text: &str) -> Option<String> {
    let list = method.child_by_field_name("receiver")?;
    let of = list.named_child(0)?.child_by_field_name("type")?;
    let name = slice(text, of).trim_start_matches(['*', '(', ' ']);
    let name = name.split(['[', ')', ' ']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "import_spec"
        && let Some(path) = node.child_by_field_name("path")
    {
        let target = slice(text, path).trim_matches(['"', '`']).to_owned();
        found.push(Import {
            target,
            names: Vec::new(),
            line: node.start_position().row as u32 + 1,
        });
    }
}
