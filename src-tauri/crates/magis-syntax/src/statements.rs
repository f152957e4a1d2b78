//! Which lines around a line make a hole that can be filled anew.

use crate::SourceLanguage;
use crate::tree::{Walk, last_row, parse};
use magis_core::{LineSpan, RepoPath};
use tree_sitter::Node;

/// Longer holes than this are made of a single plain statement alone.
const MOST_LINES: u32 = 12;

/// Returns the lines around `line` that can be written anew as a whole, the smallest first: the head of a compound
/// statement that begins there, the innermost statement, the statement with its neighbours, and the block around it.
/// Those of more than 12 lines are left out, a plain statement excepted. A blank line stands for the next that is not.
/// In an unknown language, the line, and the line with its neighbours; nothing where the text has no such line.
pub fn statements_at(path: &RepoPath, text: &str, line: u32) -> Vec<LineSpan> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(row) = (line as usize).checked_sub(1).filter(|row| *row < lines.len()) else {
        return Vec::new();
    };
    let full = |row: &usize| !lines[*row].trim().is_empty();
    let Some(row) = (row..lines.len()).find(full).or_else(|| (0..row).rev().find(full)) else {
        return Vec::new();
    };
    let found = SourceLanguage::of(path).and_then(|language| around(language, text, row));
    let mut spans = found.unwrap_or_else(|| {
        let neighbours = (row.saturating_sub(1), (row + 1).min(lines.len() - 1));
        [(row, row), neighbours].into_iter().filter_map(span).collect()
    });
    spans.sort_by_key(|span| (span.lines(), span.first()));
    spans.dedup();
    spans
}

fn span((first, last): (usize, usize)) -> Option<LineSpan> {
    LineSpan::new(first as u32 + 1, last as u32 + 1).ok()
}

fn rows(node: Node<'_>) -> (usize, usize) {
    (node.start_position().row, last_row(node).max(node.start_position().row))
}

/// Returns the holes around a row; none where no statement is there.
fn around(language: SourceLanguage, text: &str, row: usize) -> Option<Vec<LineSpan>> {
    let tree = parse(language, text)?;
    let mut above: Vec<Node<'_>> = Vec::new();
    let mut innermost: Option<(Node<'_>, Option<Node<'_>>)> = None;
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        let (first, last) = rows(node);
        if row < first || row > last {
            walk.skip_children();
        } else if node.is_named() {
            let parent = above.last().copied();
            if parent.is_some_and(|parent| holds_statements(parent.kind())) && !holds_statements(node.kind()) {
                innermost = Some((node, parent));
            } else if node.kind().ends_with("_clause")
                && head(node).is_some_and(|(first, last)| first <= row && row <= last)
            {
                innermost = Some((node, None));
            }
        }
        above.push(node);
    }
    let (statement, block) = innermost?;
    let mut spans = Vec::new();
    let short = |span: &LineSpan| span.lines() <= MOST_LINES;
    let head = head(statement);
    spans.extend(
        head.filter(|(first, last)| *first <= row && row <= *last)
            .and_then(span),
    );
    spans.extend(span(rows(statement)).filter(|span| head.is_none() || short(span)));
    if let Some(block) = block {
        let all: Vec<(usize, usize)> = block
            .named_children(&mut block.walk())
            .filter(|child| !child.kind().contains("comment") || child.id() == statement.id())
            .map(rows)
            .collect();
        let own = rows(statement);
        let at = all.iter().position(|rows| *rows == own).unwrap_or(0);
        let from = all[at.saturating_sub(1)].0.min(own.0);
        let to = all[(at + 1).min(all.len() - 1)].1.max(own.1);
        spans.extend(span((from, to)).filter(short));
        let whole = (all[0].0.min(own.0), all[all.len() - 1].1.max(own.1));
        spans.extend(span(whole).filter(short));
    }
    Some(spans)
}

/// Returns the rows of a compound statement before its body; none of a plain one.
fn head(statement: Node<'_>) -> Option<(usize, usize)> {
    let within = ["definition", "declaration"]
        .into_iter()
        .find_map(|field| statement.child_by_field_name(field));
    let wrapped = || {
        statement
            .named_child(0)
            .filter(|_| statement.kind() == "expression_statement")
    };
    let definition = within.or_else(wrapped).unwrap_or(statement);
    let mut fields = ["body", "consequence"].into_iter();
    let body = fields
        .find_map(|field| definition.child_by_field_name(field))
        .or_else(|| {
            let mut cursor = definition.walk();
            definition
                .named_children(&mut cursor)
                .find(|child| holds_statements(child.kind()))
        })?;
    let first = statement.start_position().row;
    let begins = body.start_position().row;
    let bracketed = body.child(0).is_some_and(|child| child.kind() == "{");
    let last = if bracketed { begins } else { begins.checked_sub(1)? };
    (first <= last && last < last_row(statement)).then_some((first, last))
}

fn holds_statements(kind: &str) -> bool {
    matches!(
        kind,
        "module"
            | "block"
            | "program"
            | "source_file"
            | "translation_unit"
            | "compilation_unit"
            | "statement_block"
            | "statement_list"
            | "statements"
            | "compound_statement"
            | "class_body"
            | "interface_body"
            | "enum_body"
            | "enum_class_body"
            | "constructor_body"
            | "function_body"
            | "declaration_list"
            | "field_declaration_list"
            | "body_statement"
            | "then"
            | "do"
            | "block_body"
            | "match_block"
            | "switch_body"
            | "switch_block"
            | "switch_block_statement_group"
            | "switch_section"
            | "case_statement"
            | "control_structure_body"
            | "colon_block"
    )
}
