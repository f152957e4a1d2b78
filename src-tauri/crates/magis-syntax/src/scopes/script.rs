//! The scopes of JavaScript and TypeScript, no finer than functions, and with them what the top level defines and the calls
//! of plain names. Types are left out.

use super::{Role, ScopeKind, Scopes};
use crate::SourceLanguage;
use crate::tree::{Walk, parse, slice};
use std::collections::HashMap;
use tree_sitter::Node;

/// What is known of a script.
pub(crate) struct ScriptFile<'s> {
    pub(crate) scopes: Scopes<'s>,
    /// Classes and functions of the top level; their names may be bound elsewhere as well.
    pub(crate) definitions: HashMap<&'s str, ScriptDefinition>,
    pub(crate) calls: Vec<ScriptCall<'s>>,
}

/// What can be called.
#[derive(Clone, Copy)]
pub(crate) enum ScriptDefinition {
    /// A class without decorators.
    Class,
    /// A function each of whose parameters takes one argument.
    Function {
        takes: usize,
        /// Whether an argument may be left out because the type of the last parameter may be `void`.
        may_take_fewer: bool,
    },
}

/// A call of a plain name.
pub(crate) struct ScriptCall<'s> {
    pub(crate) row: usize,
    pub(crate) last_row: usize,
    pub(crate) name: &'s str,
    /// None where arguments are spread.
    pub(crate) arguments: Option<usize>,
}

struct Above<'t> {
    kind: &'t str,
    role: Role,
    /// Whether it is caught here that a call does not fit.
    guarded: bool,
}

/// Reads a file; none where the grammar does not make sense of all of it, or where it is no module and so may use what
/// other scripts of a page define.
pub(crate) fn read(language: SourceLanguage, text: &str) -> Option<ScriptFile<'_>> {
    let tree = parse(language, text)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut file = ScriptFile {
        scopes: Scopes::new(),
        definitions: HashMap::new(),
        calls: Vec::new(),
    };
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut is_module = false;
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        file.scopes.leave(depth);
        let kind = node.kind();
        if !node.is_named() {
            above.push(Above {
                kind: "",
                role: Role::Neither,
                guarded: false,
            });
            continue;
        }
        let parent = above.last();
        let role = parent.map_or(Role::Used, |parent| role(parent, walk.field(), node, text));
        let guarded = parent.is_some_and(|parent| parent.guarded);
        if depth == 1 || depth == 2 && parent.is_some_and(|parent| parent.kind == "export_statement") {
            file.define(node, text);
        }
        is_module |= matches!(kind, "import_statement" | "export_statement");
        match kind {
            "identifier" if role == Role::Used => {
                is_module |= matches!(slice(text, node), "require" | "module");
                file.scopes.dynamic |= slice(text, node) == "eval";
                file.scopes.use_name(slice(text, node), node.start_byte());
            }
            "shorthand_property_identifier" if role == Role::Used => {
                file.scopes.use_name(slice(text, node), node.start_byte());
            }
            "identifier" | "type_identifier" | "shorthand_property_identifier_pattern" if role == Role::Bound => {
                file.scopes.bind(slice(text, node));
            }
            "with_statement" => file.scopes.dynamic = true,
            "comment" => bind_told(slice(text, node), &mut file.scopes),
            "assignment_expression" | "for_in_statement" => bind_implicitly(node, text, &mut file.scopes),
            "call_expression" if !guarded => file.note_call(node, text),
            _ if is_declaration(kind) => {
                if let Some(name) = node.child_by_field_name("name") {
                    let name = slice(text, name).split('.').next().unwrap_or_default();
                    file.scopes.bind(name);
                }
            }
            _ => {}
        }
        if opens(kind) {
            file.scopes.open(depth, ScopeKind::Function, node.start_byte());
            // The name of a declaration is bound around it.
            let own = node
                .child_by_field_name("name")
                .filter(|_| kind != "method_definition" && !is_declaration(kind));
            if let Some(name) = own {
                file.scopes.bind(slice(text, name));
            }
        }
        above.push(Above {
            kind,
            role,
            guarded: guarded || is_guarded(node, text),
        });
    }
    is_module.then_some(file)
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

/// Returns whether what is in a node may go wrong: a `try` that catches it, or a test that it does.
fn is_guarded(node: Node<'_>, text: &str) -> bool {
    match node.kind() {
        "try_statement" => node.child_by_field_name("handler").is_some(),
        "call_expression" => node
            .child_by_field_name("function")
            .map(|function| function.child_by_field_name("property").unwrap_or(function))
            .filter(|name| matches!(name.kind(), "identifier" | "property_identifier"))
            .is_some_and(|name| {
                let said = slice(text, name).to_lowercase();
                let words = ["throw", "reject", "error", "fail"];
                words.iter().any(|word| said.contains(word))
            }),
        _ => false,
    }
}

impl<'s> ScriptFile<'s> {
    /// Notes what a statement of the top level defines.
    fn define(&mut self, statement: Node<'_>, text: &'s str) {
        match statement.kind() {
            "class_declaration" | "abstract_class_declaration" => {
                // Decorators stand in the class itself, or before its `export`.
                let holders = [Some(statement), statement.parent()];
                let is_decorated = |holder: &Node<'_>| holder.child_by_field_name("decorator").is_some();
                if !holders.iter().flatten().any(is_decorated) {
                    self.define_as(statement, text, ScriptDefinition::Class);
                }
            }
            "function_declaration" | "generator_function_declaration" => {
                if let Some(function) = function_of(statement, text) {
                    self.define_as(statement, text, function);
                }
            }
            "lexical_declaration" => {
                let kind = statement.child_by_field_name("kind");
                if kind.is_none_or(|kind| slice(text, kind) != "const") {
                    return;
                }
                for declarator in statement.named_children(&mut statement.walk()) {
                    let value = declarator.child_by_field_name("value").filter(|value| {
                        matches!(
                            value.kind(),
                            "arrow_function" | "function_expression" | "generator_function"
                        )
                    });
                    // A type beside the name may take fewer arguments or more.
                    let typed = declarator.child_by_field_name("type").is_some();
                    if let Some(function) = value.filter(|_| !typed).and_then(|value| function_of(value, text)) {
                        self.define_as(declarator, text, function);
                    }
                }
            }
            _ => {}
        }
    }

    fn define_as(&mut self, named: Node<'_>, text: &'s str, definition: ScriptDefinition) {
        if let Some(name) = named.child_by_field_name("name") {
            self.definitions.insert(slice(text, name), definition);
        }
    }

    fn note_call(&mut self, node: Node<'_>, text: &'s str) {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        if function.kind() != "identifier" || arguments.kind() != "arguments" {
            return;
        }
        let mut given = Some(0);
        for argument in arguments.named_children(&mut arguments.walk()) {
            match argument.kind() {
                "comment" | "html_comment" => {}
                "spread_element" => given = None,
                _ => given = given.map(|given| given + 1),
            }
        }
        self.calls.push(ScriptCall {
            row: node.start_position().row,
            last_row: node.end_position().row,
            name: slice(text, function),
            arguments: given,
        });
    }
}

/// Returns what a function takes; none where a parameter is optional, is `this`, or takes any number of arguments.
fn function_of(node: Node<'_>, text: &str) -> Option<ScriptDefinition> {
    let Some(parameters) = node.child_by_field_name("parameters") else {
        // Without parentheses there is one parameter, and no type.
        node.child_by_field_name("parameter")?;
        return Some(ScriptDefinition::Function {
            takes: 1,
            may_take_fewer: false,
        });
    };
    let (mut takes, mut last) = (0, None);
    for parameter in parameters.named_children(&mut parameters.walk()) {
        match parameter.kind() {
            "comment" | "html_comment" => {}
            "required_parameter" => {
                let pattern = parameter.child_by_field_name("pattern")?.kind();
                if matches!(pattern, "rest_pattern" | "this") || parameter.child_by_field_name("value").is_some() {
                    return None;
                }
                takes += 1;
                last = parameter.child_by_field_name("type");
            }
            _ => return None,
        }
    }
    Some(ScriptDefinition::Function {
        takes,
        may_take_fewer: last.is_some_and(|annotation| may_be_void(annotation, text)),
    })
}

/// Returns whether a type may be `void`: what is said to be, and names, which may stand for anything.
fn may_be_void(annotation: Node<'_>, text: &str) -> bool {
    let mut types = vec![annotation];
    while let Some(node) = types.pop() {
        match node.kind() {
            "type_annotation" | "union_type" => {
                types.extend(node.named_children(&mut node.walk()));
            }
            "predefined_type" if slice(text, node) != "void" => {}
            "comment" | "array_type" | "tuple_type" | "object_type" | "function_type" | "literal_type" => {}
            _ => return true,
        }
    }
    false
}
