//! The statements at the top of a script, as whoever runs one after the other needs them.

use crate::SourceLanguage;
use crate::tree::parse;
use tree_sitter::Node;

/// A statement at the top of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopStatement {
    pub source: String,
    /// Its first and last line, from 1.
    pub line: u32,
    pub last_line: u32,
    pub kind: TopStatementKind,
}

/// What a statement leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopStatementKind {
    /// A value that a prompt would show.
    Expression,
    /// One name with a value.
    Binding(String),
    /// Neither: an import, a definition, a loop.
    Other,
}

/// Rust has no statements outside of a function.
const OPENING: &str = "fn main() {\n";

/// Returns the statements at the top of a JavaScript, TypeScript or Rust script; none where it does not parse, or is in another language.
pub fn top_statements(language: SourceLanguage, text: &str) -> Option<Vec<TopStatement>> {
    let is_rust = language == SourceLanguage::Rust;
    if !is_rust
        && !matches!(
            language,
            SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
        )
    {
        return None;
    }
    let whole = if is_rust {
        format!("{OPENING}{text}\n}}")
    } else {
        text.to_owned()
    };
    let tree = parse(language, &whole)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let block = if is_rust {
        root.named_child(0)?.child_by_field_name("body")?
    } else {
        root
    };
    let skipped = usize::from(is_rust);
    let mut cursor = block.walk();
    let nodes = block.named_children(&mut cursor);
    let statements = nodes.filter(|node| !node.is_extra() && node.kind() != "empty_statement");
    let statement = |node: Node<'_>| {
        let end = end_of(node, &whole);
        TopStatement {
            source: whole.get(node.start_byte()..end).unwrap_or_default().to_owned(),
            line: (node.start_position().row + 1 - skipped) as u32,
            last_line: (node.end_position().row + 1 - skipped) as u32,
            kind: kind_of(node, &whole),
        }
    };
    Some(statements.map(statement).collect())
}

/// Returns where a statement ends, with the semicolon behind it.
fn end_of(node: Node<'_>, text: &str) -> usize {
    let semicolon = node.next_sibling().filter(|next| next.kind() == ";");
    semicolon
        .map_or(node.end_byte(), |next| next.end_byte())
        .min(text.len())
}

fn kind_of(node: Node<'_>, text: &str) -> TopStatementKind {
    let named = |name: Option<Node<'_>>| {
        let name = name.filter(|name| name.kind() == "identifier");
        match name.and_then(|name| text.get(name.byte_range())) {
            Some(name) => TopStatementKind::Binding(name.to_owned()),
            None => TopStatementKind::Other,
        }
    };
    match node.kind() {
        "lexical_declaration" | "variable_declaration" if node.named_child_count() == 1 => named(
            node.named_child(0)
                .and_then(|declarator| declarator.child_by_field_name("name")),
        ),
        "let_declaration" => named(node.child_by_field_name("pattern")),
        "expression_statement" => TopStatementKind::Expression,
        // The last expression of a block, which has no semicolon.
        kind if kind.ends_with("_expression")
            || kind.ends_with("_literal")
            || matches!(kind, "identifier" | "scoped_identifier" | "macro_invocation") =>
        {
            TopStatementKind::Expression
        }
        _ => TopStatementKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(language: SourceLanguage, text: &str) -> Vec<String> {
        let told = |statement: TopStatement| {
            let kind = match statement.kind {
                TopStatementKind::Expression => "gives".to_owned(),
                TopStatementKind::Binding(name) => format!("binds {name}"),
                TopStatementKind::Other => "-".to_owned(),
            };
            format!(
                "{}-{} {kind}: {}",
                statement.line, statement.last_line, statement.source
            )
        };
        let found = top_statements(language, text).unwrap_or_default();
        found.into_iter().map(told).collect()
    }

    #[test]
    fn the_statements_of_a_script_are_told_apart() {
        let text = "import a from 'a';\n// why\nconst b = a(1), c = 2\nvar d = {\n  e: 1\n}\nd.e; f(d)\nfor (;;) {}\n";
        assert_eq!(
            told(SourceLanguage::JavaScript, text),
            [
                "1-1 -: import a from 'a';",
                "3-3 -: const b = a(1), c = 2",
                "4-6 binds d: var d = {\n  e: 1\n}",
                "7-7 gives: d.e;",
                "7-7 gives: f(d)",
                "8-8 -: for (;;) {}",
            ]
        );
        assert_eq!(top_statements(SourceLanguage::JavaScript, "const = 1"), None);
    }

    #[test]
    fn the_statements_of_rust_are_those_of_a_function() {
        let text = "use a::b;\nlet c = b(1);\nlet (d, e) = c;\nassert_eq!(d, 1);\nb(e)";
        assert_eq!(
            told(SourceLanguage::Rust, text),
            [
                "1-1 -: use a::b;",
                "2-2 binds c: let c = b(1);",
                "3-3 -: let (d, e) = c;",
                "4-4 gives: assert_eq!(d, 1);",
                "5-5 gives: b(e)",
            ]
        );
    }
}
