//! What can be mutated in a text: every place where one of the kinds fits, by its syntax tree.
//!
//! Nothing here knows whether a test notices the mutation, or whether the text still means something.

mod calls;
mod cases;
mod operators;
mod variables;

use super::grammar::{ancestors, is_function, nodes, parse, text_of};
use super::kind::{Mutation, MutationKind};
use magis_syntax::SourceLanguage;
use std::ops::Range;
use tree_sitter::Node;

/// Returns the mutations that a text allows, in the order of their places; none in a language without mutations or where the text has syntax
/// errors.
pub fn propose(language: SourceLanguage, text: &str) -> Vec<Mutation> {
    let Some(tree) = parse(language, text) else {
        return Vec::new();
    };
    let mut site = Site {
        language,
        text,
        function: None,
        found: Vec::new(),
    };
    for node in nodes(&tree) {
        if is_apart(node, text) {
            continue;
        }
        site.function = function_of(node, text);
        operators::at(node, &mut site);
        calls::at(node, &mut site);
        cases::at(node, &mut site);
        if is_function(node) {
            variables::within(node, &mut site);
        }
    }
    let mut found = site.found;
    found.retain(|one| text.get(one.span.clone()).is_some_and(|old| old != one.replacement));
    found.retain(|one| {
        one.apply(text)
            .is_some_and(|changed| parse(language, &changed).is_some())
    });
    found
}

/// Where mutations are being looked for.
struct Site<'t> {
    language: SourceLanguage,
    text: &'t str,
    function: Option<String>,
    found: Vec<Mutation>,
}

impl Site<'_> {
    fn add(&mut self, kind: MutationKind, span: Range<usize>, replacement: impl Into<String>) {
        self.found.push(Mutation {
            kind,
            span,
            replacement: replacement.into(),
            function: self.function.clone(),
        });
    }

    fn is_python(&self) -> bool {
        self.language == SourceLanguage::Python
    }
}

/// Returns the name of the function around a node, with the class or the like that it stands in.
fn function_of(node: Node<'_>, text: &str) -> Option<String> {
    let mut names = Vec::new();
    for outer in std::iter::once(node).chain(ancestors(node)) {
        let named = outer.child_by_field_name("name").filter(|_| {
            is_function(outer)
                || matches!(
                    outer.kind(),
                    "class_definition" | "class_declaration" | "variable_declarator" | "mod_item"
                )
        });
        names.extend(named.map(|name| text_of(text, name).to_owned()));
    }
    names.reverse();
    (!names.is_empty()).then(|| names.join("."))
}

/// Returns whether a node is in what users do not call: tests within a source, annotations of types, messages of errors.
fn is_apart(node: Node<'_>, text: &str) -> bool {
    std::iter::once(node)
        .chain(ancestors(node))
        .any(|outer| match outer.kind() {
            "type"
            | "type_parameters"
            | "type_arguments"
            | "attribute_item"
            | "macro_definition"
            | "decorator"
            | "raise_statement"
            | "throw_statement"
            | "assert_statement"
            | "import_statement"
            | "import_from_statement"
            | "use_declaration"
            | "const_item"
            | "static_item"
            | "interpolation" => true,
            "mod_item" | "function_item" => {
                let before = std::iter::successors(outer.prev_named_sibling(), Node::prev_named_sibling);
                let mut attributes = before.take_while(|before| before.kind() == "attribute_item");
                attributes.any(|attribute| text_of(text, attribute).contains("test"))
            }
            "function_definition" => {
                let name = outer.child_by_field_name("name").map(|name| text_of(text, name));
                name.is_some_and(|name| matches!(name, "__repr__" | "main") || name.starts_with("test"))
            }
            "if_statement" => {
                let condition = outer
                    .child_by_field_name("condition")
                    .map(|condition| text_of(text, condition));
                condition.is_some_and(|condition| {
                    condition.contains("__name__")
                        || condition.contains("sys.version")
                        || condition.contains("TYPE_CHECKING")
                })
            }
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mutated texts of a kind, the changed line alone.
    fn check(language: SourceLanguage, kind: MutationKind, text: &str, expected: &[&str]) {
        let all = propose(language, text);
        let of_kind = all.iter().filter(|one| one.kind == kind);
        let changed: Vec<String> = of_kind
            .map(|one| {
                let mutated = one.apply(text).unwrap_or_default();
                let mut lines = text
                    .lines()
                    .map(Some)
                    .chain([None])
                    .zip(mutated.lines().map(Some).chain([None]));
                let line = lines.find(|(old, new)| old != new).and_then(|(_, new)| new);
                line.unwrap_or("(end)").trim().to_owned()
            })
            .collect();
        assert_eq!(changed, expected, "{kind:?} of {text}");
    }

    #[test]
    fn mutations_of_python_are_of_the_kind_they_say() {
        let python = SourceLanguage::Python;
        check(
            python,
            MutationKind::Operator,
            "def f(a, b):\n    return a * b\n",
            &["return a / b"],
        );
        check(
            python,
            MutationKind::Bound,
            "def f(a):\n    return a < 3\n",
            &["return a <= 3", "return a < 4"],
        );
        check(
            python,
            MutationKind::Bound,
            "def f(a):\n    return a[1:]\n",
            &["return a[2:]"],
        );
        check(
            python,
            MutationKind::Condition,
            "def f(a, b):\n    return not a and b\n",
            &["return not a or b", "return not a", "return a and b"],
        );
        check(
            python,
            MutationKind::ArgumentOrder,
            "def f(a, b):\n    return g(a, b)\n",
            &["return g(b, a)"],
        );
        check(
            python,
            MutationKind::MissingCall,
            "def f(a):\n    return a.strip()\n",
            &["return a"],
        );
        check(
            python,
            MutationKind::WrongMethod,
            "def f(a):\n    return a.lstrip()\n",
            &["return a.rstrip()"],
        );
        check(
            python,
            MutationKind::WrongVariable,
            "def f(a, b):\n    return a\n",
            &["return b"],
        );
        check(
            python,
            MutationKind::RemovedCase,
            "def f(a):\n    if not a:\n        return 0\n    return a\n",
            &["return a"],
        );
        check(
            python,
            MutationKind::Constant,
            "def f(a):\n    return True\n",
            &["return False"],
        );
    }

    #[test]
    fn mutations_of_rust_and_javascript_are_of_the_kind_they_say() {
        let (rust, script) = (SourceLanguage::Rust, SourceLanguage::JavaScript);
        check(
            rust,
            MutationKind::Bound,
            "fn f(a: u8) -> bool {\n    a >= B\n}\n",
            &["a > B"],
        );
        check(
            rust,
            MutationKind::Bound,
            "fn f(a: usize) {\n    g(0..a);\n}\n",
            &["g(0..=a);", "g(1..a);"],
        );
        check(
            rust,
            MutationKind::RemovedCase,
            "fn f(a: u8) -> u8 {\n    match a {\n        1 => 2,\n        _ => a,\n    }\n}\n",
            &["_ => a,"],
        );
        check(
            script,
            MutationKind::Condition,
            "function f(a) {\n  return !a;\n}\n",
            &["return a;"],
        );
        check(
            script,
            MutationKind::Operator,
            "function f(a, b) {\n  return a - b;\n}\n",
            &["return a + b;"],
        );
        check(
            script,
            MutationKind::RemovedCase,
            "function f(a) {\n  if (a) return 1;\n  return a;\n}\n",
            &["return a;"],
        );
    }

    #[test]
    fn tests_within_a_source_and_broken_texts_are_left_alone() {
        let rust = "#[cfg(test)]\nmod tests {\n    fn f(a: u8) -> bool {\n        a < 3\n    }\n}\n";
        assert_eq!(propose(SourceLanguage::Rust, rust), []);
        assert_eq!(propose(SourceLanguage::Python, "def f(a:\n    return a < 3\n"), []);
    }
}
