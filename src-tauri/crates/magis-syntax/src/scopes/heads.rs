//! What the head of a Python definition says: decorators, bases, parameters.

use crate::tree::slice;
use tree_sitter::Node;

/// What stands above a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decorated {
    No,
    Static,
    Class,
    /// In a way that may change what it takes.
    Otherwise,
}

/// What a definition is made of.
pub(crate) enum Form<'s> {
    Function(Signature<'s>),
    /// The names of its bases; none where it has bases that are no names, or keywords.
    Class(Option<Vec<&'s str>>),
}

/// What a function takes, `self` included.
#[derive(Default)]
pub(crate) struct Signature<'s> {
    /// What can be given by place, in order.
    pub(crate) positional: Vec<Parameter<'s>>,
    pub(crate) keyword_only: Vec<Parameter<'s>>,
    /// How many of the first cannot be given by name.
    pub(crate) nameless: usize,
    /// Whether it takes any number of arguments or any keywords.
    pub(crate) any: bool,
}

/// One of what a function takes.
#[derive(Clone, Copy)]
pub(crate) struct Parameter<'s> {
    pub(crate) name: &'s str,
    pub(crate) required: bool,
}

/// Returns what the decorators of a definition do.
pub(super) fn decoration(node: Node<'_>, text: &str) -> Decorated {
    let mut found = Decorated::No;
    for decorator in node
        .children(&mut node.walk())
        .filter(|child| child.kind() == "decorator")
    {
        found = match (found, slice(text, decorator).trim_start_matches('@').trim()) {
            (Decorated::No, "staticmethod") => Decorated::Static,
            (Decorated::No, "classmethod") => Decorated::Class,
            _ => Decorated::Otherwise,
        };
    }
    found
}

/// Returns the bases of a class if they are names, without `object`.
pub(super) fn bases<'s>(node: Node<'_>, text: &'s str) -> Option<Vec<&'s str>> {
    let Some(list) = node.child_by_field_name("superclasses") else {
        return Some(Vec::new());
    };
    let mut bases = Vec::new();
    for base in list.named_children(&mut list.walk()) {
        match (base.kind(), slice(text, base)) {
            ("comment" | "line_continuation", _) | ("identifier", "object") => {}
            ("identifier", name) => bases.push(name),
            _ => return None,
        }
    }
    Some(bases)
}

/// Returns what a function takes.
pub(super) fn signature<'s>(node: Node<'_>, text: &'s str) -> Signature<'s> {
    let mut found = Signature::default();
    let Some(parameters) = node.child_by_field_name("parameters") else {
        return found;
    };
    let mut keyword_only = false;
    for node in parameters.named_children(&mut parameters.walk()) {
        let named = match node.kind() {
            "identifier" => Some(node),
            "default_parameter" | "typed_default_parameter" => node.child_by_field_name("name"),
            "typed_parameter" => node.named_child(0),
            "keyword_separator" => {
                keyword_only = true;
                continue;
            }
            "positional_separator" => {
                found.nameless = found.positional.len();
                continue;
            }
            "comment" | "line_continuation" => continue,
            _ => None,
        };
        let Some(named) = named.filter(|named| named.kind() == "identifier") else {
            found.any = true;
            continue;
        };
        let parameter = Parameter {
            name: slice(text, named),
            required: node.child_by_field_name("value").is_none(),
        };
        if keyword_only {
            found.keyword_only.push(parameter);
        } else {
            found.positional.push(parameter);
        }
    }
    found
}
