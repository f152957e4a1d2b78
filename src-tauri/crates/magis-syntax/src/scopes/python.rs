//! Python's scopes, and with them its definitions, calls and the attributes of `self`.

use super::heads::{Decorated, Form, bases, decoration, signature};
use super::{Role, ScopeKind, Scopes};
use crate::SourceLanguage;
use crate::tree::{Walk, parse, slice};
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// Calls that make names without writing them.
const NAME_MAKERS: [&str; 4] = ["globals", "exec", "execfile", "var"];
/// Longer strings are prose, and name no attributes.
const NAMING_CHARS: usize = 400;

/// What is known of a Python file.
pub(crate) struct PythonFile<'s> {
    pub(crate) scopes: Scopes<'s>,
    pub(crate) definitions: Vec<PythonDefinition<'s>>,
    pub(crate) calls: Vec<PythonCall<'s>>,
    /// Uses of an attribute of `self`.
    pub(crate) own_attributes: Vec<OwnAttribute<'s>>,
    /// Attributes of anything that are assigned to.
    pub(crate) stored: HashSet<&'s str>,
    /// The words of short strings, which may name attributes.
    pub(crate) words: HashSet<&'s str>,
    /// Whether attributes may come to be unseen.
    pub(crate) dynamic_attributes: bool,
    /// The classes that others are derived from.
    extended: HashSet<&'s str>,
    /// For each scope of a definition, the definition's number.
    numbers: HashMap<usize, usize>,
}

/// A function or class.
pub(crate) struct PythonDefinition<'s> {
    pub(crate) name: &'s str,
    /// The scope of what is in it.
    pub(crate) scope: usize,
    pub(crate) decorated: Decorated,
    /// Whether it says that something is left to those who derive from it.
    pub(crate) leaves_open: bool,
    pub(crate) form: Form<'s>,
}

/// A call by name, or of a method by `self` or `cls`.
pub(crate) struct PythonCall<'s> {
    pub(crate) scope: usize,
    pub(crate) byte: usize,
    pub(crate) row: usize,
    /// `self` or `cls`, if called by it.
    pub(crate) by: Option<&'s str>,
    pub(crate) name: &'s str,
    pub(crate) positional: usize,
    pub(crate) keywords: Vec<&'s str>,
}

/// An attribute of `self` where it is used.
pub(crate) struct OwnAttribute<'s> {
    pub(crate) name: &'s str,
    pub(crate) scope: usize,
    pub(crate) byte: usize,
}

struct Above<'t> {
    kind: &'t str,
    role: Role,
    /// Whether it is caught here that a name is missing or a call does not fit.
    guarded: bool,
}

/// Reads a file; none where the grammar does not make sense of all of it.
pub(crate) fn read(text: &str) -> Option<PythonFile<'_>> {
    let tree = parse(SourceLanguage::Python, text)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut file = PythonFile {
        scopes: Scopes::new(),
        definitions: Vec::new(),
        calls: Vec::new(),
        own_attributes: Vec::new(),
        stored: HashSet::new(),
        words: HashSet::new(),
        dynamic_attributes: false,
        extended: HashSet::new(),
        numbers: HashMap::new(),
    };
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut decorated = Decorated::No;
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        file.scopes.leave(depth);
        if !node.is_named() {
            above.push(Above {
                kind: "",
                role: Role::Neither,
                guarded: false,
            });
            continue;
        }
        let parent = above.last();
        let role = parent.map_or(Role::Used, |parent| role(parent, walk.field(), node.kind()));
        let guarded = parent.is_some_and(|parent| parent.guarded) || is_guarded(node, text);
        match node.kind() {
            "decorated_definition" => decorated = decoration(node, text),
            "function_definition" | "class_definition" => {
                file.define(node, text, depth, decorated);
                decorated = Decorated::No;
            }
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                file.import(node, text);
                walk.skip_children();
            }
            "global_statement" | "nonlocal_statement" => {
                for name in node.named_children(&mut node.walk()) {
                    file.scopes.bind(slice(text, name));
                    file.scopes.bind_in(0, slice(text, name), None);
                }
                walk.skip_children();
            }
            "identifier" if role == Role::Bound => file.scopes.bind(slice(text, node)),
            "identifier" if role == Role::Used && !guarded => {
                file.scopes.use_name(slice(text, node), node.start_byte());
            }
            "raise_statement" if slice(text, node).contains("NotImplemented") => file.leave_open(),
            "named_expression" => file.walrus(node, text),
            "exec_statement" => file.scopes.dynamic = true,
            "string_content" => file.note_words(slice(text, node)),
            "attribute" => file.note_attribute(node, text, role, guarded),
            "call" => file.note_call(node, text, guarded),
            "lambda"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => {
                file.scopes.open(depth, ScopeKind::Inner, node.start_byte());
            }
            _ => {}
        }
        above.push(Above {
            kind: node.kind(),
            role,
            guarded,
        });
    }
    Some(file)
}

fn role(above: &Above<'_>, field: Option<&str>, kind: &str) -> Role {
    match (above.kind, field) {
        (_, Some("type_parameters" | "alias"))
        | (
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" | "type_alias_statement",
            Some("left"),
        )
        | ("parameters" | "lambda_parameters", _) => Role::Bound,
        ("function_definition" | "class_definition" | "keyword_argument" | "named_expression", Some("name"))
        | ("attribute", Some("attribute")) => Role::Neither,
        ("member_type", _) if kind == "identifier" => Role::Neither,
        ("attribute" | "subscript" | "call", _)
        | ("default_parameter" | "typed_default_parameter" | "typed_parameter", Some("value" | "type"))
        | ("assignment", Some("type")) => Role::Used,
        _ if kind == "case_pattern" => Role::Bound,
        _ => above.role,
    }
}

/// Returns whether what is in a node may go wrong: a `try` that catches it, or a test that it does.
fn is_guarded(node: Node<'_>, text: &str) -> bool {
    let catches = |clause: Node<'_>| {
        let mut cursor = clause.walk();
        let what = clause
            .named_children(&mut cursor)
            .find(|child| child.kind() != "comment");
        clause.kind() == "except_clause"
            && what.is_none_or(|what| what.kind() == "block" || names_misuse(slice(text, what)))
    };
    match node.kind() {
        "try_statement" => node.children(&mut node.walk()).any(catches),
        "with_statement" => node
            .named_child(0)
            .is_some_and(|what| slice(text, what).contains("aises") || names_misuse(slice(text, what))),
        "call" => node.child_by_field_name("function").is_some_and(|function| {
            let name = function.child_by_field_name("attribute").unwrap_or(function);
            name.kind() == "identifier" && slice(text, name).to_lowercase().contains("raises")
        }),
        _ => false,
    }
}

fn names_misuse(exceptions: &str) -> bool {
    ["NameError", "TypeError", "AttributeError"]
        .iter()
        .any(|name| exceptions.contains(name))
}

impl<'s> PythonFile<'s> {
    fn define(&mut self, node: Node<'_>, text: &'s str, depth: usize, decorated: Decorated) {
        let number = self.definitions.len();
        let owner = self.scopes.current();
        let name = node.child_by_field_name("name").map_or("", |name| slice(text, name));
        self.scopes.bind_in(owner, name, Some(number));
        if let Some(generic) = node.child_by_field_name("type_parameters") {
            for name in slice(text, generic).split(|c: char| !c.is_alphanumeric() && c != '_') {
                self.scopes.bind_in(owner, name, None);
            }
        }
        let body_start = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let (kind, form) = if node.kind() == "class_definition" {
            let bases = bases(node, text);
            self.extended.extend(bases.iter().flatten());
            (ScopeKind::Class, Form::Class(bases))
        } else {
            (ScopeKind::Function, Form::Function(signature(node, text)))
        };
        let scope = self.scopes.open(depth, kind, body_start);
        self.numbers.insert(scope, number);
        self.definitions.push(PythonDefinition {
            name,
            scope,
            decorated,
            leaves_open: false,
            form,
        });
    }

    /// Notes for every definition around that something is left to those who derive from it.
    fn leave_open(&mut self) {
        let mut at = Some(self.scopes.current());
        while let Some(scope) = at {
            if let Some(number) = self.numbers.get(&scope) {
                self.definitions[*number].leaves_open = true;
            }
            at = self.scopes.all[scope].above;
        }
    }

    /// Returns the definition whose scope this is.
    pub(crate) fn definition_of(&self, scope: usize) -> Option<&PythonDefinition<'s>> {
        self.numbers.get(&scope).map(|number| &self.definitions[*number])
    }

    /// Returns whether a class is made to be derived from, by its name or by what it leaves open, or is.
    pub(crate) fn is_extended(&self, class: &PythonDefinition<'_>) -> bool {
        let name = class.name.to_lowercase();
        let parts = ["mixin", "base", "abstract", "interface", "protocol"];
        class.leaves_open || self.extended.contains(class.name) || parts.iter().any(|part| name.contains(part))
    }

    /// Returns the class whose method has `word` (`self`, `cls`) for its first parameter where it is used.
    pub(crate) fn class_of(&self, scope: usize, byte: usize, word: &str) -> Option<usize> {
        let binder = self.scopes.binder(word, scope, byte).ok()?;
        let method = &self.scopes.all[binder];
        let class = method
            .above
            .filter(|above| self.scopes.all[*above].kind == ScopeKind::Class)?;
        let definition = self.definition_of(binder)?;
        let first = match &definition.form {
            Form::Function(signature) => signature.positional.first()?,
            Form::Class(_) => return None,
        };
        let rebound = method.names.get(word).is_none_or(|bound| bound.times > 1);
        (first.name == word && definition.decorated != Decorated::Static && !rebound).then_some(class)
    }

    fn import(&mut self, node: Node<'_>, text: &'s str) {
        let whole = node.kind() == "import_statement";
        for child in node.named_children(&mut node.walk()) {
            self.scopes.dynamic |= child.kind() == "wildcard_import";
        }
        for name in node.children_by_field_name("name", &mut node.walk()) {
            let bound = match name.child_by_field_name("alias") {
                Some(alias) => slice(text, alias),
                None if whole => slice(text, name).split('.').next().unwrap_or_default().trim(),
                None => slice(text, name),
            };
            self.scopes.bind(bound);
        }
    }

    /// Binds the name of an assignment within an expression, which comprehensions around it pass on.
    fn walrus(&mut self, node: Node<'_>, text: &'s str) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let mut at = self.scopes.current();
        self.scopes.bind_in(at, slice(text, name), None);
        while let (ScopeKind::Inner, Some(above)) = (self.scopes.all[at].kind, self.scopes.all[at].above) {
            at = above;
            self.scopes.bind_in(at, slice(text, name), None);
        }
    }

    fn note_words(&mut self, content: &'s str) {
        if content.len() <= NAMING_CHARS {
            let words = content.split(|c: char| !c.is_alphanumeric() && c != '_');
            self.words.extend(words.filter(|word| !word.is_empty()));
        }
    }

    fn note_attribute(&mut self, node: Node<'_>, text: &'s str, role: Role, guarded: bool) {
        let (Some(object), Some(name)) = (
            node.child_by_field_name("object"),
            node.child_by_field_name("attribute"),
        ) else {
            return;
        };
        let name = slice(text, name);
        self.dynamic_attributes |= name == "__dict__";
        if role == Role::Bound {
            self.stored.insert(name);
        } else if !guarded && object.kind() == "identifier" && slice(text, object) == "self" {
            self.own_attributes.push(OwnAttribute {
                name,
                scope: self.scopes.current(),
                byte: node.start_byte(),
            });
        }
    }

    fn note_call(&mut self, node: Node<'_>, text: &'s str, guarded: bool) {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        let (by, name) = match (function.kind(), function.child_by_field_name("object")) {
            ("identifier", _) => (None, Some(function)),
            ("attribute", Some(object)) if matches!(slice(text, object), "self" | "cls") => {
                (Some(slice(text, object)), function.child_by_field_name("attribute"))
            }
            _ => return,
        };
        let name = name.map_or("", |name| slice(text, name));
        let at_module = self.scopes.all[self.scopes.current()].kind != ScopeKind::Function;
        if by.is_none() {
            self.scopes.dynamic |= NAME_MAKERS.contains(&name) || (at_module && matches!(name, "locals" | "vars"));
            self.dynamic_attributes |= matches!(name, "setattr" | "vars");
        }
        let mut call = PythonCall {
            scope: self.scopes.current(),
            byte: node.start_byte(),
            row: node.start_position().row,
            by,
            name,
            positional: usize::from(arguments.kind() == "generator_expression"),
            keywords: Vec::new(),
        };
        if arguments.kind() == "argument_list" {
            for argument in arguments.named_children(&mut arguments.walk()) {
                match argument.kind() {
                    "comment" | "line_continuation" => {}
                    "keyword_argument" => {
                        let keyword = argument.child_by_field_name("name");
                        call.keywords.extend(keyword.map(|keyword| slice(text, keyword)));
                    }
                    "list_splat" | "dictionary_splat" => return,
                    "parenthesized_expression" if slice(text, argument).starts_with("(*") => return,
                    _ => call.positional += 1,
                }
            }
        }
        if !guarded {
            self.calls.push(call);
        }
    }
}
