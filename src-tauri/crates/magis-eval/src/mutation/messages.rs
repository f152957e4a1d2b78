//! What a failing check of Rust or JavaScript shows: the expression, what it gives and what was expected, out of the runner's message and the
//! test's source. Nothing is run for it.

use super::grammar::{ancestors, children, nodes, parse, parts, text_of};
use super::issue::{Observed, Snippet};
use magis_core::RepoPath;
use magis_syntax::{SourceLanguage, undefined_names};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Where a check stands that failed, with both values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    /// The path as the runner names it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// The check's first value and its second one; none where the check has only one, which is not as it should be.
    pub values: Option<(String, String)>,
}

impl FailedCheck {
    /// Reads a runner's message; none where it is not about a check.
    pub fn read(language: SourceLanguage, message: &str) -> Option<Self> {
        match language {
            SourceLanguage::Rust => rust_message(message),
            SourceLanguage::JavaScript => script_message(message),
            _ => None,
        }
    }

    /// Makes a snippet of the check in the text of its file, and tells what it gives and what it should. `package` is the name by which users load
    /// the project.
    pub fn shown(&self, language: SourceLanguage, text: &str, package: &str) -> Option<(Snippet, Observed, Observed)> {
        let tree = parse(language, text)?;
        let row = self.line.checked_sub(1)?;
        let is_check = |node: &&Node<'_>| matches!(node.kind(), "macro_invocation" | "call_expression");
        let here = |node: &&Node<'_>| node.start_position().row <= row && row <= node.end_position().row;
        let all = nodes(&tree);
        let mut found = all
            .iter()
            .filter(is_check)
            .filter(here)
            .filter_map(|node| values_of(*node, text).map(|values| (*node, values)));
        let (check, written) = found.next_back()?;
        let value = |text: &str| Observed::Value(text.to_owned());
        let (show, actual, expected) = match (written.as_slice(), &self.values) {
            ([first, second, ..], Some((left, right))) => {
                if weight(second) > weight(first) {
                    (second, value(right), value(left))
                } else {
                    (first, value(left), value(right))
                }
            }
            ([only], None) => (only, value("false"), value("true")),
            _ => return None,
        };
        // What is written out shows nothing.
        if weight(show) == 0 {
            return None;
        }
        let setup = setup(check, text, show, language, package)?;
        // A variable shows something only where a call gives it its value.
        let is_name = show.chars().all(|c| is_of_name(c) || c == '.');
        if is_name
            && !setup
                .iter()
                .any(|line| line.contains('(') && !line.contains("require(") && !line.contains("function"))
        {
            return None;
        }
        let show = show.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let snippet = Snippet { setup, show };
        let is_whole = language != SourceLanguage::JavaScript || stands_alone(&snippet);
        is_whole.then_some((snippet, actual, expected))
    }
}

/// Returns whether a snippet of JavaScript binds all names that it uses: what is left out of it, only the test has.
fn stands_alone(snippet: &Snippet) -> bool {
    let code = [snippet.setup.as_slice(), std::slice::from_ref(&snippet.show)]
        .concat()
        .join("\n");
    let path = RepoPath::new("snippet.js");
    // A function's own arguments are no names of a script.
    let is_inside = words(&snippet.show).contains("arguments");
    !is_inside && path.is_ok_and(|path| undefined_names(&path, "", &code).is_empty())
}

/// Returns whether users of a project in Rust can run a snippet: each function that it calls is public in one of these sources, or its own. Helpers of
/// the tests are neither.
pub fn is_for_users(snippet: &Snippet, sources: &[String]) -> bool {
    let code = [snippet.setup.as_slice(), std::slice::from_ref(&snippet.show)]
        .concat()
        .join("\n");
    let bare = without_texts(&code);
    let is_public = |name: &str| {
        let mut found = sources
            .iter()
            .filter_map(|source| parse(SourceLanguage::Rust, source).map(|tree| (source, tree)));
        found.any(|(source, tree)| {
            nodes(&tree)
                .into_iter()
                .any(|node| is_public_function(node, source, name))
        })
    };
    let line = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_own = |name: &str| {
        let forms = ["fn {}(", "let {} = |", "let {} = move |", "let mut {} = |"];
        forms.iter().any(|form| line.contains(&form.replace("{}", name)))
    };
    called(&bare).into_iter().all(|name| is_own(name) || is_public(name))
}

/// Returns the functions that code calls by their name alone: no methods, no macros, no types.
fn called(bare: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in bare.match_indices('(') {
        let before = &bare[..at];
        let start = before.trim_end_matches(is_of_name).len();
        let (head, name) = before.split_at(start);
        let is_function = name.starts_with(|c: char| c.is_lowercase() || c == '_');
        if is_function && !head.ends_with(['.', ':']) {
            found.insert(name);
        }
    }
    found
}

fn is_public_function(node: Node<'_>, text: &str, name: &str) -> bool {
    let is_public = |child: &Node<'_>| child.kind() == "visibility_modifier" && text_of(text, *child) == "pub";
    let is_method = |outer: &Node<'_>| matches!(outer.kind(), "impl_item" | "trait_item");
    node.kind() == "function_item"
        && !ancestors(node).any(|outer| is_method(&outer))
        && node
            .child_by_field_name("name")
            .is_some_and(|own| text_of(text, own) == name)
        && children(node).iter().any(is_public)
}

/// Returns how much an expression looks like what is checked rather than like what is expected.
fn weight(expression: &str) -> u8 {
    let bare = expression.trim_start_matches(['&', '-']);
    let written = [
        "Ok(",
        "Err(",
        "Some(",
        "None",
        "vec![",
        "true",
        "false",
        "null",
        "undefined",
    ];
    let is_literal = match bare.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => ends_as_text(bare, quote),
        Some('[' | '{') => bare.ends_with([']', '}']),
        Some(first) => first.is_ascii_digit() && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')),
        None => true,
    };
    // `nullable` is another word than `null`.
    let is_written = |head: &&str| {
        let rest = bare.strip_prefix(*head);
        rest.is_some_and(|rest| !head.ends_with(is_of_name) || !rest.starts_with(is_of_name))
    };
    match () {
        () if is_literal || written.iter().any(is_written) => 0,
        () if bare.contains('(') => 3,
        () if bare.contains(['.', '[']) => 2,
        () => 1,
    }
}

/// Returns whether the text that begins an expression is all of it: `"a".len()` is more.
fn ends_as_text(expression: &str, quote: char) -> bool {
    let mut escaped = false;
    let end = expression.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    end.is_none_or(|(at, _)| at + 1 == expression.len())
}

/// Reads `thread 'x' panicked at src/lib.rs:10:5:` and what follows it.
fn rust_message(message: &str) -> Option<FailedCheck> {
    let mut lines = message.lines().skip_while(|line| !line.contains(" panicked at "));
    let place = lines.next()?.split(" panicked at ").nth(1)?.trim_end_matches(':');
    let mut fields = place.split(':');
    let (file, line) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
    let said = lines.next()?;
    if said.starts_with("assertion failed: ") {
        return Some(FailedCheck {
            file,
            line,
            values: None,
        });
    }
    if !said.starts_with("assertion `left == right` failed") {
        return None;
    }
    let rest: Vec<&str> = lines.collect();
    let value = |name: &str| {
        rest.iter()
            .find_map(|line| line.trim_start().strip_prefix(name))
            .map(str::to_owned)
    };
    Some(FailedCheck {
        file,
        line,
        values: Some((value("left: ")?, value("right: ")?)),
    })
}

/// Reads the details that `tape` prints of a check: `expected`, `actual` and `at`, each on a line or with a block below.
fn script_message(message: &str) -> Option<FailedCheck> {
    let lines: Vec<&str> = message.lines().collect();
    let field = |name: &str| {
        let at = lines.iter().position(|line| line.trim_start().starts_with(name))?;
        let rest = lines[at].trim_start().strip_prefix(name)?.trim();
        let indent = lines[at].len() - lines[at].trim_start().len();
        if !matches!(rest, "|-" | "|" | ">-") {
            return Some(rest.to_owned());
        }
        let block = lines[at + 1..]
            .iter()
            .take_while(|line| line.len() - line.trim_start().len() > indent);
        Some(block.map(|line| line.trim()).collect::<Vec<_>>().join(" "))
    };
    let operator = field("operator:")?;
    let place = field("at:")?;
    let place = place.trim_end_matches(')').rsplit(['(', ' ']).next()?.to_owned();
    let mut fields = place.rsplit(':');
    let (_column, line, file) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?.to_owned());
    let values = match operator.as_str() {
        "equal" | "deepEqual" | "strictEqual" | "deepLooseEqual" | "is" => {
            Some((field("actual:")?, field("expected:")?))
        }
        "ok" | "true" => None,
        _ => return None,
    };
    Some(FailedCheck { file, line, values })
}

/// Returns the values that a check compares, as they are written.
fn values_of(node: Node<'_>, text: &str) -> Option<Vec<String>> {
    if node.kind() == "macro_invocation" {
        let name = text_of(text, node.child_by_field_name("macro")?);
        let count = match name {
            "assert_eq" => 2,
            "assert" => 1,
            _ => return None,
        };
        let tokens = children(node).into_iter().find(|child| child.kind() == "token_tree")?;
        let inner = text_of(text, tokens);
        let values = at_commas(inner.get(1..inner.len().checked_sub(1)?)?);
        return (values.len() >= count).then(|| values.into_iter().take(count).collect());
    }
    let function = text_of(text, node.child_by_field_name("function")?);
    let count = match function.rsplit('.').next()? {
        "equal" | "equals" | "deepEqual" | "strictEqual" | "same" | "is" | "deepLooseEqual" | "looseEqual" => 2,
        "ok" | "true" => 1,
        _ => return None,
    };
    let arguments = parts(node.child_by_field_name("arguments")?);
    let values: Vec<String> = arguments
        .iter()
        .take(count)
        .map(|argument| text_of(text, *argument).to_owned())
        .collect();
    (values.len() == count).then_some(values)
}

/// Splits at the commas that stand outside of brackets and texts.
fn at_commas(text: &str) -> Vec<String> {
    let (mut found, mut depth, mut quoted, mut start) = (Vec::new(), 0_usize, false, 0);
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(text[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim().to_owned());
    found.retain(|value| !value.is_empty());
    found
}

/// Returns the declarations that an expression needs; none where it needs what only the test has, as the variable of a loop.
fn setup(check: Node<'_>, text: &str, show: &str, language: SourceLanguage, package: &str) -> Option<Vec<String>> {
    let mut needed: BTreeSet<String> = words(show);
    let mut found = Vec::new();
    let mut inner = check;
    for outer in ancestors(check) {
        let mut before = inner.prev_named_sibling();
        while let Some(statement) = before {
            before = statement.prev_named_sibling();
            if !matches!(
                statement.kind(),
                "let_declaration" | "variable_declaration" | "lexical_declaration" | "expression_statement"
            ) {
                continue;
            }
            let line = text_of(text, statement);
            let bound = bound(statement, text);
            let changes = bound.is_empty() && is_change(statement, text, &needed);
            if bound.iter().any(|name| needed.contains(name)) || changes {
                let mut used = words(line);
                if let Some(value) = statement.child_by_field_name("value") {
                    // An earlier binding of the same name is another value.
                    needed.retain(|name| !bound.contains(name));
                    used = words(text_of(text, value));
                }
                needed.extend(used);
                found.push(line.to_owned());
            }
        }
        let pattern = match outer.kind() {
            "for_expression" | "closure_expression" | "for_in_statement" | "for_statement" => Some(outer),
            "arrow_function" | "function_expression" => outer
                .parent()
                .filter(|list| list.kind() == "arguments")
                .and_then(|list| {
                    let call = list.parent()?;
                    let name = text_of(text, call.child_by_field_name("function")?);
                    // The callback of a test is given the test itself, that of an iteration its values.
                    (!name.ends_with("test") && name != "it" && name != "describe").then_some(outer)
                }),
            _ => None,
        };
        if let Some(looping) = pattern {
            let head = looping
                .child_by_field_name("body")
                .map_or(looping.end_byte(), |body| body.start_byte());
            let given = words(text.get(looping.start_byte()..head)?);
            if given.iter().any(|name| needed.contains(name)) {
                return None;
            }
        }
        if outer.kind() == "function_item" {
            // What a helper is given, only the test has.
            let parameters = outer.child_by_field_name("parameters").map(parts).unwrap_or_default();
            if !parameters.is_empty() {
                return None;
            }
            break;
        }
        inner = outer;
    }
    if needed.contains("t") && language == SourceLanguage::JavaScript {
        return None;
    }
    found.reverse();
    for line in &mut found {
        by_name(line, package);
    }
    found.retain(|line| !line.contains("require('tape')"));
    // What is another one in each run shows nothing.
    if ["new Date()", "Date.now(", "Math.random(", "Instant::now("]
        .iter()
        .any(|wavering| found.iter().any(|line| line.contains(wavering)))
    {
        return None;
    }
    Some(found)
}

/// Puts the package's name in place of the path by which a test loads it.
fn by_name(line: &mut String, package: &str) {
    let Some(at) = line.find("require('.") else { return };
    let start = at + "require('".len();
    let Some(end) = line[start..].find('\'').map(|end| start + end) else {
        return;
    };
    let inside = line[start..end].trim_start_matches(['.', '/']);
    let name = match inside.trim_end_matches(".js") {
        "" | "index" | "lib" | "lib/index" => package.to_owned(),
        inside => format!("{package}/{inside}"),
    };
    line.replace_range(start..end, &name);
}

/// Returns the names that a declaration binds.
fn bound(statement: Node<'_>, text: &str) -> Vec<String> {
    let targets: Vec<Node<'_>> = match statement.kind() {
        "let_declaration" => statement.child_by_field_name("pattern").into_iter().collect(),
        "variable_declaration" | "lexical_declaration" => parts(statement)
            .into_iter()
            .filter_map(|one| one.child_by_field_name("name"))
            .collect(),
        _ => Vec::new(),
    };
    targets
        .into_iter()
        .flat_map(|target| words(text_of(text, target)))
        .collect()
}

/// Returns whether a statement is a call of a method on one of these names, or assigns to one.
fn is_change(statement: Node<'_>, text: &str, needed: &BTreeSet<String>) -> bool {
    let line = text_of(text, statement);
    let head: String = line
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '$')
        .collect();
    needed.contains(&head)
        && statement.kind() == "expression_statement"
        && line
            .get(head.len()..)
            .is_some_and(|rest| rest.trim_start().starts_with(['.', '=', '[']))
}

/// Returns the names in a text, texts within it left out.
fn words(text: &str) -> BTreeSet<String> {
    let bare = without_texts(text);
    words_of(&bare).map(str::to_owned).collect()
}

fn words_of(bare: &str) -> impl Iterator<Item = &str> {
    let names = bare.split(|c: char| !is_of_name(c));
    names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$'))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns code without what stands in its quotes.
fn without_texts(code: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    for character in code.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '`') => quote = Some(character),
            None => bare.push(character),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: SourceLanguage, message: &str, text: &str, setup: &[&str], show: &str, values: (&str, &str)) {
        let failed = FailedCheck::read(language, message).expect("a check");
        let (snippet, actual, expected) = failed.shown(language, text, "calc").expect("a snippet");
        assert_eq!(
            (snippet.setup, snippet.show.as_str()),
            (setup.iter().map(|line| (*line).to_owned()).collect(), show)
        );
        assert_eq!(
            (actual, expected),
            (
                Observed::Value(values.0.to_owned()),
                Observed::Value(values.1.to_owned())
            )
        );
    }

    #[test]
    fn a_mutations_failed_assertion_in_rust_is_shown_with_its_lets() {
        let text = "#[test]\nfn a() {\n    let x = f(0);\n    let x = f(1);\n    let y = 2;\n    assert_eq!(x.g(\"a, b\"), 3);\n}\n";
        let message = "\nthread 'a' panicked at src/lib.rs:6:5:\nassertion `left == right` failed\n  left: 4\n right: 3\nnote: run";
        check(
            SourceLanguage::Rust,
            message,
            text,
            &["let x = f(1);"],
            "x.g(\"a, b\")",
            ("4", "3"),
        );
    }

    #[test]
    fn what_a_mutated_check_is_about_is_what_is_computed() {
        let check = |computed: &str, written: &str| assert!(weight(computed) > weight(written), "{computed}");
        check("\"a-b\".is_case(Case::Kebab)", "\"a\\\"b\"");
        check("f(1)", "1.5");
        check("[1, 2].sum()", "[1, 2]");
        check("&x.y", "-1");
        check("res.body", "'f(x)'");
        check("nullable(x)", "null");
    }

    #[test]
    fn a_mutations_snippet_of_rust_calls_nothing_that_a_test_alone_has() {
        let source = "pub fn wrap(text: &str) -> String {\n    inner(text)\n}\n\nfn inner(text: &str) -> String {\n    text.to_owned()\n}\n\nimpl Args {\n    pub fn parse(&self) {}\n}\n".to_owned();
        let check = |setup: &[&str], show: &str| {
            let snippet = Snippet {
                setup: setup.iter().map(|line| (*line).to_owned()).collect(),
                show: show.to_owned(),
            };
            is_for_users(&snippet, std::slice::from_ref(&source))
        };
        assert!(check(&["let two = Some(2);"], "wrap(\"helper(1)\").len()"));
        assert!(check(&["let twice = |x| 2 * x;"], "twice(wrap(\"a\").len())"));
        assert!(!check(&[], "inner(\"a\")"), "it is not public");
        assert!(!check(&["let parsed = parse(\"-a\");"], "parsed.value()"));
        assert!(!check(&["let version = version(\"1.2\");"], "version.to_string()"));
    }

    #[test]
    fn a_mutations_failed_check_of_tape_is_shown_with_the_package_by_name() {
        let text = "var test = require('tape');\nvar add = require('../');\n\ntest('adds', function (t) {\n  t.equal(add(1, 2), 3);\n});\n";
        let message = "  ---\n    operator: equal\n    expected: 3\n    actual:   4\n    at: Test.<anonymous> (/p/test/add.js:5:5)\n    stack: |-\n  ...\n";
        check(
            SourceLanguage::JavaScript,
            message,
            text,
            &["var add = require('calc');"],
            "add(1, 2)",
            ("4", "3"),
        );
    }

    #[test]
    fn a_mutations_check_that_uses_what_the_test_alone_has_is_not_shown() {
        let shown = |checked: &str| {
            let text = format!(
                "var test = require('tape');\nvar add = require('../');\n\nfunction two() {{ return 2; }}\n\ntest('adds', function () {{\n  is.equal({checked}, 3);\n}});\n"
            );
            let failed = FailedCheck {
                file: "test/add.js".to_owned(),
                line: 7,
                values: Some(("4".to_owned(), "3".to_owned())),
            };
            failed.shown(SourceLanguage::JavaScript, &text, "calc").is_some()
        };
        assert!(shown("add(1, 2)"));
        assert!(!shown("add(1, two)"));
        assert!(!shown("arguments[2]"));
    }
}
