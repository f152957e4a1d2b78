//! Java: types, their methods and constructors, constants.

use super::Shape;
use crate::tree::slice;
use crate::{Import, SymbolKind};
use tree_sitter::Node;

pub(super) fn shape<'t>(node: Node<'t>, text: &str) -> Option<Shape<'t>> {
    match node.kind() {
        "class_declaration" | "record_declaration" => Shape::named(node, text, SymbolKind::Class),
        "interface_declaration" | "annotation_type_declaration" => Shape::named(node, text, SymbolKind::Interface),
        "enum_declaration" => Shape::named(node, text, SymbolKind::Enum),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            Shape::named(node, text, SymbolKind::Method)
        }
        "field_declaration" => {
            let modifiers = node.named_child(0).filter(|first| first.kind() == "modifiers")?;
            let words: Vec<&str> = slice(text, modifiers).split_whitespace().collect();
            let constant = words.contains(&"static") && words.contains(&"final");
            let name = node.child_by_field_name("declarator")?.child_by_field_name("name")?;
            constant.then(|| Shape::new(slice(text, name), SymbolKind::Constant, None))
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() != "import_declaration" {
        return;
    }
    let parts = crate::tree::children(node);
    let has = |kind: &str| parts.iter().any(|part| part.kind() == kind);
    let Some(path) = parts
        .iter()
        .find(|part| matches!(part.kind(), "scoped_identifier" | "identifier"))
    else {
        return;
    };
    let path: String = slice(text, *path).split_whitespace().collect();
    let (target, names) = if has("asterisk") {
        (path, vec!["*".to_owned()])
    } else if has("static") {
        match path.rsplit_once('.') {
            Some((class, member)) => (class.to_owned(), vec![member.to_owned()]),
            None => (path, Vec::new()),
        }
    } else {
        (path, Vec::new())
    };
    found.push(Import {
        target,
        names,
        line: node.start_position().row as u32 + 1,
    });
}
