//! Rust: items, `impl` as a scope, `use` trees and modules in other files.

use super::{Shape, ShapeKind};
use crate::tree::{on_one_line, slice};
use crate::{Import, SymbolKind};
use tree_sitter::Node;

/// How deep `use` trees are followed.
const USE_DEPTH: usize = 16;

pub(super) fn shape<'t>(node: Node<'t>, text: &str) -> Option<Shape<'t>> {
    match node.kind() {
        "function_item" | "function_signature_item" => Shape::named(node, text, SymbolKind::Function),
        "struct_item" | "union_item" => {
            let mut shape = Shape::named(node, text, SymbolKind::Struct)?;
            shape.body = shape.body.filter(|body| body.kind() == "field_declaration_list");
            Some(shape)
        }
        "enum_item" => Shape::named(node, text, SymbolKind::Enum),
        "trait_item" => Shape::named(node, text, SymbolKind::Trait),
        "mod_item" => Shape::named(node, text, SymbolKind::Module).filter(|shape| shape.body.is_some()),
        "const_item" | "static_item" => Shape::named(node, text, SymbolKind::Constant),
        "type_item" => Shape::named(node, text, SymbolKind::Type),
        "macro_definition" => {
            let name = slice(text, node.child_by_field_name("name")?);
            let body = node
                .children(&mut node.walk())
                .find(|child| matches!(child.kind(), "{" | "(" | "["));
            Some(Shape::new(name, SymbolKind::Macro, body))
        }
        "impl_item" => {
            let of = node.child_by_field_name("type")?;
            let of = if of.kind() == "generic_type" {
                of.child_by_field_name("type").unwrap_or(of)
            } else {
                of
            };
            let name = slice(text, of).trim_start_matches(['&', '*', ' ']);
            let body = node.child_by_field_name("body");
            Some(Shape {
                name: on_one_line(name),
                qualifier: None,
                kind: ShapeKind::TypeScope,
                body,
            })
        }
        _ => None,
    }
}

pub(super) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let line = node.start_position().row as u32 + 1;
    match node.kind() {
        "mod_item" if node.child_by_field_name("body").is_none() => {
            if let Some(name) = node.child_by_field_name("name") {
                found.push(Import {
                    target: slice(text, name).to_owned(),
                    names: Vec::new(),
                    line,
                });
            }
        }
        "extern_crate_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                found.push(Import {
                    target: slice(text, name).to_owned(),
                    names: Vec::new(),
                    line,
                });
            }
        }
        "use_declaration" => {
            if let Some(tree) = node.child_by_field_name("argument") {
                use_tree(tree, text, line, found);
            }
        }
        _ => {}
    }
}

fn use_tree(tree: Node<'_>, text: &str, line: u32, found: &mut Vec<Import>) {
    let mut open = vec![(String::new(), 0, tree)];
    let first = found.len();
    while let Some((prefix, depth, node)) = open.pop() {
        let plain = |node: Node<'_>| slice(text, node).split_whitespace().collect::<String>();
        let joined = |path: &str| {
            if prefix.is_empty() {
                path.to_owned()
            } else {
                format!("{prefix}::{path}")
            }
        };
        let mut leaf = |path: &str| {
            let whole = joined(path);
            let (target, name) = whole
                .rsplit_once("::")
                .map_or((whole.as_str(), None), |(t, n)| (t, Some(n)));
            let (target, name) = if name == Some("self") {
                target.rsplit_once("::").map_or((target, None), |(t, n)| (t, Some(n)))
            } else {
                (target, name)
            };
            match found[first..].iter_mut().find(|import| import.target == target) {
                Some(import) => import.names.extend(name.map(ToOwned::to_owned)),
                None => found.push(Import {
                    target: target.to_owned(),
                    names: name.map(ToOwned::to_owned).into_iter().collect(),
                    line,
                }),
            }
        };
        match node.kind() {
            "use_as_clause" => {
                if let Some(path) = node.child_by_field_name("path") {
                    leaf(&plain(path));
                }
            }
            "scoped_use_list" | "use_list" if depth < USE_DEPTH => {
                let list = node.child_by_field_name("list").unwrap_or(node);
                let prefix = node
                    .child_by_field_name("path")
                    .map_or(prefix.clone(), |path| joined(&plain(path)));
                let parts: Vec<_> = list.named_children(&mut list.walk()).collect();
                open.extend(parts.into_iter().rev().map(|part| (prefix.clone(), depth + 1, part)));
            }
            "use_wildcard" | "identifier" | "scoped_identifier" | "self" | "crate" | "super" => leaf(&plain(node)),
            _ => {}
        }
    }
}
