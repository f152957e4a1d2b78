//! Tests cut out of the files that hold them: whole functions, parametrised ones with all their parameters, and calls of `it` and `test`.

use super::grammar::{ancestors, nodes, parse, parts, text_of, whole_lines};
use magis_evidence::results::TestId;
use magis_syntax::SourceLanguage;
use std::ops::Range;
use tree_sitter::Node;

/// How a test's source names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutTestName {
    /// Classes, modules or descriptions around it, the outer first; as far as they are known.
    pub outer: Vec<String>,
    pub name: String,
}

impl CutTestName {
    /// Reads the name out of what a report calls a test.
    pub fn of(language: SourceLanguage, test: &TestId) -> Self {
        let own = |text: &str| text.to_owned();
        match language {
            SourceLanguage::Python => {
                let module = test
                    .file
                    .as_deref()
                    .unwrap_or_default()
                    .trim_end_matches(".py")
                    .replace('/', ".");
                let classes = test.group.strip_prefix(&module).unwrap_or_default();
                Self {
                    outer: classes.split('.').filter(|part| !part.is_empty()).map(own).collect(),
                    name: test.name.split('[').next().unwrap_or_default().to_owned(),
                }
            }
            SourceLanguage::Rust => {
                let mut outer: Vec<String> = test.name.split("::").map(own).collect();
                let name = outer.pop().unwrap_or_default();
                Self { outer, name }
            }
            _ => Self {
                outer: Vec::new(),
                name: test.name.rsplit(" > ").next().unwrap_or_default().to_owned(),
            },
        }
    }
}

/// Returns a text without these tests; none where one of them is not there, or the text would be broken.
pub fn without_tests(language: SourceLanguage, text: &str, tests: &[CutTestName]) -> Option<String> {
    let tree = parse(language, text)?;
    let all = nodes(&tree);
    let mut cut: Vec<Range<usize>> = Vec::new();
    for test in tests {
        let found = all.iter().filter_map(|node| definition(language, *node, text, test));
        let found: Vec<Range<usize>> = found.collect();
        if found.is_empty() {
            return None;
        }
        cut.extend(found);
    }
    cut.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let (mut out, mut at) = (String::new(), 0);
    for span in cut {
        if span.start < at {
            continue;
        }
        out.push_str(text.get(at..span.start)?);
        at = span.end;
    }
    out.push_str(text.get(at..)?);
    parse(language, &out).map(|_| out)
}

/// Returns whether a text holds all of these tests.
pub(super) fn definition(
    language: SourceLanguage,
    node: Node<'_>,
    text: &str,
    test: &CutTestName,
) -> Option<Range<usize>> {
    match language {
        SourceLanguage::Python => python(node, text, test),
        SourceLanguage::Rust => rust(node, text, test),
        _ => script(node, text, test),
    }
}

fn python(node: Node<'_>, text: &str, test: &CutTestName) -> Option<Range<usize>> {
    if node.kind() != "function_definition" || named(node, text)? != test.name {
        return None;
    }
    let outer = ancestors(node).filter(|outer| outer.kind() == "class_definition");
    let mut classes: Vec<&str> = outer.filter_map(|outer| named(outer, text)).collect();
    classes.reverse();
    let inner_function = ancestors(node).any(|outer| outer.kind() == "function_definition");
    if inner_function || classes != test.outer {
        return None;
    }
    let mut whole = decorated(node);
    // A class whose only test goes, goes with it.
    while let Some(class) = whole
        .parent()
        .filter(|block| block.kind() == "block" && parts(*block).len() == 1)
        .and_then(|block| block.parent())
        .filter(|class| class.kind() == "class_definition")
    {
        whole = decorated(class);
    }
    with_blank_lines(text, whole)
}

fn decorated(node: Node<'_>) -> Node<'_> {
    node.parent()
        .filter(|parent| parent.kind() == "decorated_definition")
        .unwrap_or(node)
}

fn rust(node: Node<'_>, text: &str, test: &CutTestName) -> Option<Range<usize>> {
    if node.kind() != "function_item" || named(node, text)? != test.name {
        return None;
    }
    let outer = ancestors(node).filter(|outer| outer.kind() == "mod_item");
    let mut modules: Vec<&str> = outer.filter_map(|outer| named(outer, text)).collect();
    modules.reverse();
    let fits =
        modules.len() <= test.outer.len() && test.outer[test.outer.len() - modules.len()..].iter().eq(modules.iter());
    let (mut first, mut is_test) = (node, false);
    while let Some(before) = first
        .prev_sibling()
        .filter(|before| matches!(before.kind(), "attribute_item" | "line_comment"))
    {
        is_test |= before.kind() == "attribute_item" && text_of(text, before).contains("test");
        first = before;
    }
    if !fits || !is_test {
        return None;
    }
    let start = whole_lines(text, first)?.start;
    Some(start..with_blank_lines(text, node)?.end)
}

fn script(node: Node<'_>, text: &str, test: &CutTestName) -> Option<Range<usize>> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = text_of(text, node.child_by_field_name("function")?);
    let word = function.rsplit('.').next().unwrap_or(function);
    if !matches!(word, "it" | "test" | "specify") {
        return None;
    }
    let title = parts(node.child_by_field_name("arguments")?).into_iter().next()?;
    let title = text_of(text, title)
        .trim_matches(['\'', '"', '`'])
        .replace("\\'", "'")
        .replace("\\\"", "\"");
    if title != test.name {
        return None;
    }
    with_blank_lines(
        text,
        node.parent().filter(|parent| parent.kind() == "expression_statement")?,
    )
}

fn named<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    Some(text_of(text, node.child_by_field_name("name")?))
}

/// Returns the lines of a node with the blank ones behind it.
fn with_blank_lines(text: &str, node: Node<'_>) -> Option<Range<usize>> {
    let lines = whole_lines(text, node)?;
    let rest = text.get(lines.end..)?;
    let blank: usize = rest
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty())
        .map(str::len)
        .sum();
    Some(lines.start..lines.end + blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: SourceLanguage, text: &str, outer: &[&str], name: &str, expected: Option<&str>) {
        let test = CutTestName {
            outer: outer.iter().map(|part| (*part).to_owned()).collect(),
            name: name.to_owned(),
        };
        assert_eq!(without_tests(language, text, &[test]).as_deref(), expected);
    }

    #[test]
    fn a_mutated_projects_python_test_goes_with_its_decorators_and_its_empty_class() {
        let python = SourceLanguage::Python;
        let text = "import a\n\n\n@mark(1)\ndef test_a():\n    assert a\n\n\ndef test_b():\n    assert a\n";
        check(
            python,
            text,
            &[],
            "test_a",
            Some("import a\n\n\ndef test_b():\n    assert a\n"),
        );
        let class = "class A:\n    def test_a(self):\n        pass\n\n    def test_b(self):\n        pass\n";
        check(
            python,
            class,
            &["A"],
            "test_a",
            Some("class A:\n    def test_b(self):\n        pass\n"),
        );
        let alone = "class A:\n    def test_a(self):\n        pass\n\nx = 1\n";
        check(python, alone, &["A"], "test_a", Some("x = 1\n"));
        check(python, alone, &["B"], "test_a", None);
    }

    #[test]
    fn a_mutated_projects_rust_test_goes_with_its_attributes() {
        let text = "mod tests {\n    #[test]\n    fn a() {}\n\n    #[test]\n    #[should_panic]\n    fn b() {}\n\n    fn c() {}\n}\n";
        let rest = "mod tests {\n    #[test]\n    fn a() {}\n\n    fn c() {}\n}\n";
        check(SourceLanguage::Rust, text, &["x", "tests"], "b", Some(rest));
        check(SourceLanguage::Rust, text, &["tests"], "c", None);
    }

    #[test]
    fn a_mutated_projects_script_test_is_found_by_its_title() {
        let text = "describe('x', () => {\n  it('adds', () => {\n    a();\n  });\n\n  it('takes', () => {});\n});\n";
        let rest = "describe('x', () => {\n  it('takes', () => {});\n});\n";
        check(SourceLanguage::JavaScript, text, &[], "adds", Some(rest));
    }
}
