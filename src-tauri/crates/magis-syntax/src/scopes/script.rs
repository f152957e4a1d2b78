//! The scopes of JavaScript and TypeScript, no finer than functions. Types are left out.

use super::{Role, ScopeKind, Scopes};
use crate::SourceLanguage;
use crate::tree::{Walk, parse, slice};
use tree_sitter::Node;

struct Above<'t> {
    kind: &'t str,
    role: Role,
}

/// Reads a file; none where the grammar does not make sense of all of it, or where it is no module and so may use what
/// other scripts of a page define.
pub(crate) fn read(language: SourceLanguage, text: &str) -> Option<Scopes<'_>> {
    let tree = parse(language, text)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut scopes = Scopes::new();
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut is_module = false;
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        scopes.leave(depth);
        let kind = node.kind();
        if !node.is_named() {
            above.push(Above {
                kind: "",
                role: Role::Neither,
            });
            continue;
        }
        let role = above
            .last()
            .map_or(Role::Used, |above| role(above, walk.field(), node, text));
        is_module |= matches!(kind, "import_statement" | "export_statement");
        match kind {
            "identifier" if role == Role::Used => {
                is_module |= matches!(slice(text, node), "require" | "module");
                scopes.dynamic |= slice(text, node) == "eval";
                scopes.use_name(slice(text, node), node.start_byte());
            }
            "shorthand_property_identifier" if role == Role::Used => {
                scopes.use_name(slice(text, node), node.start_byte());
            }
            "identifier" | "type_identifier" | "shorthand_property_identifier_pattern" if role == Role::Bound => {
                scopes.bind(slice(text, node));
            }
            "with_statement" => scopes.dynamic = true,
            "comment" => bind_told(slice(text, node), &mut scopes),
            "assignment_expression" | "for_in_statement" => bind_implicitly(node, text, &mut scopes),
            _ if is_declaration(kind) => {
                if let Some(name) = node.child_by_field_name("name") {
                    scopes.bind(slice(text, name).split('.').next().unwrap_or_default());
                }
            }
            _ => {}
        }
        if opens(kind) {
            scopes.open(depth, ScopeKind::Function, node.start_byte());
            if let Some(name) = node.child_by_field_name("name").filter(|_| kind != "method_definition") {
                scopes.bind(slice(text, name));
            }
        }
        above.push(Above { kind, role });
    }
    is_module.then_some(scopes)
}

/// Returns whether a name may be one that a build, a framework or a page defines.
pub(crate) fn may_be_global(name: &str) -> bool {
    let web = [
        "HTML",
        "SVG",
        "CSS",
        "DOM",
        "RTC",
        "IDB",
        "Web",
        "Media",
        "Animation",
        "Audio",
        "Performance",
        "Speech",
        "USB",
        "XML",
    ];
    name.starts_with(['$', '_'])
        || name.ends_with("Event")
        || web.iter().any(|prefix| name.starts_with(prefix))
        || !name.chars().any(char::is_lowercase)
}

/// Binds the names that a comment for a linter says are global.
fn bind_told<'s>(comment: &'s str, scopes: &mut Scopes<'s>) {
    let inner = comment.trim_start_matches(['/', '*']).trim_start();
    if inner.starts_with("global") || inner.starts_with("exported") {
        for name in inner.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$') {
            scopes.bind_in(0, name, None);
        }
    }
}

/// Binds what is assigned without being declared, which makes it global.
fn bind_implicitly<'s>(node: Node<'_>, text: &'s str, scopes: &mut Scopes<'s>) {
    if let Some(left) = node
        .child_by_field_name("left")
        .filter(|left| left.kind() == "identifier")
    {
        scopes.bind_in(0, slice(text, left), None);
    }
}

fn is_declaration(kind: &str) -> bool {
    matches!(
        kind,
        "function_declaration"
            | "generator_function_declaration"
            | "function_signature"
            | "class_declaration"
            | "abstract_class_declaration"
            | "enum_declaration"
            | "internal_module"
            | "module"
            | "type_alias_declaration"
            | "interface_declaration"
    )
}

fn opens(kind: &str) -> bool {
    matches!(
        kind,
        "function_declaration"
            | "generator_function_declaration"
            | "function_expression"
            | "generator_function"
            | "arrow_function"
            | "method_definition"
            | "class"
            | "function_signature"
            | "function_type"
            | "constructor_type"
            | "method_signature"
            | "abstract_method_signature"
            | "call_signature"
            | "construct_signature"
            | "class_static_block"
    )
}

fn role(above: &Above<'_>, field: Option<&str>, node: Node<'_>, text: &str) -> Role {
    match (above.kind, field) {
        ("import_specifier", Some("name")) if node.next_named_sibling().is_some() => Role::Neither,
        ("variable_declarator" | "import_specifier" | "namespace_import", Some("name"))
        | ("arrow_function" | "catch_clause", Some("parameter"))
        | ("required_parameter" | "optional_parameter", Some("pattern" | "name"))
        | (
            "for_in_statement" | "assignment_expression" | "assignment_pattern" | "object_assignment_pattern",
            Some("left"),
        ) if !matches!(node.kind(), "member_expression" | "subscript_expression") => {
            // What a default is given to is bound or assigned to as what it stands in.
            Role::Bound
        }
        ("import_specifier", Some("alias")) | ("formal_parameters", _) => Role::Bound,
        ("import_clause" | "namespace_import" | "import_require_clause" | "import_alias", _)
            if node.kind() == "identifier" =>
        {
            Role::Bound
        }
        ("pair_pattern", Some("key"))
        | (
            "export_specifier"
            | "namespace_export"
            | "type_query"
            | "type_predicate"
            | "asserts"
            | "index_signature"
            | "jsx_namespace_name"
            | "nested_type_identifier"
            | "enum_body"
            | "export_clause"
            | "meta_property",
            _,
        ) => Role::Neither,
        ("jsx_opening_element" | "jsx_closing_element" | "jsx_self_closing_element", Some("name"))
            if slice(text, node).starts_with(|first: char| first.is_lowercase()) && node.kind() == "identifier" =>
        {
            Role::Neither
        }
        ("unary_expression", Some("argument")) if is_typeof(node) => Role::Neither,
        (kind, Some("name")) if is_declaration(kind) || opens(kind) => Role::Neither,
        (
            "required_parameter"
            | "optional_parameter"
            | "assignment_pattern"
            | "object_assignment_pattern"
            | "member_expression"
            | "subscript_expression"
            | "computed_property_name"
            | "call_expression",
            _,
        ) => {
            if above.role == Role::Neither {
                Role::Neither
            } else {
                Role::Used
            }
        }
        (_, Some("type" | "return_type" | "type_arguments" | "type_parameters")) => Role::Neither,
        _ => above.role,
    }
}

/// Returns whether a node is what `typeof` is asked of, which need not exist.
fn is_typeof(node: Node<'_>) -> bool {
    node.prev_sibling().is_some_and(|operator| operator.kind() == "typeof")
}
