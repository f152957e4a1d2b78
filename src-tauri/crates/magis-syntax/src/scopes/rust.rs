//! Rust's lower-case names, no finer than functions, and the calls of functions. Whatever macros are given is bound.

use super::{Role, ScopeKind, Scopes};
use crate::SourceLanguage;
use crate::tree::{Walk, parse, slice};
use std::collections::HashMap;
use tree_sitter::Node;

/// What is known of a Rust file.
pub(crate) struct RustFile<'s> {
    pub(crate) scopes: Scopes<'s>,
    pub(crate) functions: Vec<RustFunction<'s>>,
    pub(crate) calls: Vec<RustCall<'s>>,
    /// How many functions there are of a name, wherever.
    pub(crate) named: HashMap<&'s str, u32>,
}

/// A function with a body, or without as in a trait.
pub(crate) struct RustFunction<'s> {
    pub(crate) name: &'s str,
    /// The type it is of, as the `impl` around it names it.
    pub(crate) of: Option<&'s str>,
    /// What it takes, `self` included.
    pub(crate) takes: usize,
    pub(crate) takes_self: bool,
    /// Whether attributes or dots may change what it takes.
    pub(crate) unsure: bool,
}

/// A call of a plain name, or of a function of the same type by `self` or `Self`.
pub(crate) struct RustCall<'s> {
    pub(crate) scope: usize,
    pub(crate) byte: usize,
    pub(crate) row: usize,
    pub(crate) name: &'s str,
    pub(crate) by: Caller,
    /// The type whose `impl` it stands in.
    pub(crate) of: Option<&'s str>,
    pub(crate) arguments: usize,
}

/// How a function is named in a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Name,
    /// `self.name(…)`.
    Value,
    /// `Self::name(…)`.
    Type,
}

struct Above<'t, 's> {
    kind: &'t str,
    role: Role,
    of: Option<&'s str>,
}

/// Reads a file; none where the grammar does not make sense of all of it.
pub(crate) fn read(text: &str) -> Option<RustFile<'_>> {
    let tree = parse(SourceLanguage::Rust, text)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut file = RustFile {
        scopes: Scopes::new(),
        functions: Vec::new(),
        calls: Vec::new(),
        named: HashMap::new(),
    };
    let mut above: Vec<Above<'_, '_>> = Vec::new();
    let mut unsure = false;
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        file.scopes.leave(depth);
        let kind = node.kind();
        let role = above.last().map_or(Role::Used, |above| role(above, walk.field(), node));
        let mut of = above.last().and_then(|above| above.of);
        match kind {
            "identifier" | "shorthand_field_identifier" if role == Role::Bound => file.scopes.bind(slice(text, node)),
            "identifier" if role == Role::Used && is_lower(slice(text, node)) => {
                file.scopes.use_name(slice(text, node), node.start_byte());
            }
            "token_tree" | "macro_definition" => {
                bind_words(slice(text, node), &mut file.scopes);
                walk.skip_children();
            }
            "macro_invocation" => {
                // A macro among items may define functions, and one that includes a file does.
                let among_items = above.last().is_none_or(|above| {
                    matches!(above.kind, "source_file" | "declaration_list" | "expression_statement")
                }) && file.scopes.all[file.scopes.current()].kind == ScopeKind::Module;
                file.scopes.dynamic |= among_items || slice(text, node).starts_with("include!");
            }
            "attribute_item" => {
                unsure |= !is_harmless(slice(text, node));
                walk.skip_children();
            }
            "use_declaration" => {
                file.import(node, text);
                walk.skip_children();
            }
            "inner_attribute_item" | "visibility_modifier" | "extern_crate_declaration" => walk.skip_children(),
            "mod_item" => {
                file.scopes.open(depth, ScopeKind::Module, node.start_byte());
            }
            "impl_item" | "trait_item" => {
                let named = node
                    .child_by_field_name("type")
                    .or_else(|| node.child_by_field_name("name"));
                of = named.map(|named| slice(text, named));
            }
            "function_item" | "function_signature_item" => {
                let in_type = above
                    .iter()
                    .rev()
                    .nth(1)
                    .is_some_and(|at| matches!(at.kind, "impl_item" | "trait_item"));
                file.define(node, text, of.filter(|_| in_type), std::mem::take(&mut unsure));
                file.scopes.open(depth, ScopeKind::Function, node.start_byte());
            }
            "call_expression" => file.note_call(node, text, of),
            _ => {}
        }
        // An attribute concerns the item it stands before.
        if kind != "attribute_item" && kind.ends_with("_item") {
            unsure = false;
        }
        above.push(Above { kind, role, of });
    }
    Some(file)
}

fn is_lower(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns whether an attribute leaves what a function takes as it is.
fn is_harmless(attribute: &str) -> bool {
    let name = attribute.trim_start_matches(['#', '[', ' ']);
    let known = [
        "inline",
        "must_use",
        "allow",
        "expect",
        "warn",
        "doc",
        "cold",
        "track_caller",
        "deprecated",
        "derive",
    ];
    known.iter().any(|known| name.starts_with(known))
}

fn bind_words<'s>(tokens: &'s str, scopes: &mut Scopes<'s>) {
    for word in tokens.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if is_lower(word) {
            scopes.bind_in(0, word, None);
        }
    }
}

fn role(above: &Above<'_, '_>, field: Option<&str>, node: Node<'_>) -> Role {
    match (above.kind, field) {
        (_, Some("pattern"))
        | ("closure_parameters" | "const_parameter", _)
        | ("const_item" | "static_item", Some("name")) => Role::Bound,
        (_, Some("return_type" | "type" | "path" | "macro" | "type_arguments"))
        | (
            "scoped_identifier" | "label" | "lifetime" | "where_clause" | "type_parameters" | "generic_pattern"
            | "use_bounds",
            _,
        ) => Role::Neither,
        ("match_pattern", Some("condition")) | (_, Some("value" | "body" | "alternative" | "consequence")) => {
            Role::Used
        }
        (_, Some("name" | "field" | "trait" | "bounds")) if node.kind() != "shorthand_field_identifier" => {
            Role::Neither
        }
        _ => above.role,
    }
}

impl<'s> RustFile<'s> {
    fn define(&mut self, node: Node<'_>, text: &'s str, of: Option<&'s str>, unsure: bool) {
        let Some(name) = node.child_by_field_name("name").map(|name| slice(text, name)) else {
            return;
        };
        *self.named.entry(name).or_default() += 1;
        let mut function = RustFunction {
            name,
            of,
            takes: 0,
            takes_self: false,
            unsure,
        };
        if let Some(parameters) = node.child_by_field_name("parameters") {
            for parameter in parameters.named_children(&mut parameters.walk()) {
                match parameter.kind() {
                    "parameter" => function.takes += 1,
                    "self_parameter" => {
                        function.takes += 1;
                        function.takes_self = true;
                    }
                    "line_comment" | "block_comment" => {}
                    _ => function.unsure = true,
                }
            }
        }
        if of.is_none() {
            let scope = self.scopes.current();
            self.scopes.bind_in(scope, name, Some(self.functions.len()));
        }
        self.functions.push(function);
    }

    /// Binds every name of a `use`: which of them are only on the way does not matter.
    fn import(&mut self, node: Node<'_>, text: &'s str) {
        let written = slice(text, node);
        let scope = self.scopes.current();
        self.scopes.all[scope].open |= written.contains('*');
        for word in written.split(|c: char| !c.is_alphanumeric() && c != '_') {
            self.scopes.bind(word);
        }
    }

    fn note_call(&mut self, node: Node<'_>, text: &'s str, of: Option<&'s str>) {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        let (by, name) = match function.kind() {
            "identifier" => (Caller::Name, Some(function)),
            "field_expression" => {
                let value = function.child_by_field_name("value");
                if value.is_none_or(|value| value.kind() != "self") {
                    return;
                }
                (Caller::Value, function.child_by_field_name("field"))
            }
            "scoped_identifier" => {
                if function
                    .child_by_field_name("path")
                    .is_none_or(|path| slice(text, path) != "Self")
                {
                    return;
                }
                (Caller::Type, function.child_by_field_name("name"))
            }
            _ => return,
        };
        let given = |argument: &Node<'_>| !matches!(argument.kind(), "line_comment" | "block_comment");
        if arguments
            .named_children(&mut arguments.walk())
            .any(|argument| argument.kind() == "attribute_item")
        {
            return;
        }
        self.calls.push(RustCall {
            scope: self.scopes.current(),
            byte: node.start_byte(),
            row: node.start_position().row,
            name: name.map_or("", |name| slice(text, name)),
            by,
            of,
            arguments: arguments.named_children(&mut arguments.walk()).filter(given).count(),
        });
    }
}
