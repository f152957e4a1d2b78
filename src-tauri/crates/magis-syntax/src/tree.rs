//! Parsing, and the few ways of reading a tree that every other module shares.
//!
//! Nothing here recurses: texts nest as deep as somebody cares to write brackets.

use crate::SourceLanguage;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

/// When parsing is given up. A megabyte of code takes well under a second; only error recovery on garbage takes this
/// long, its steps being slow and not many, and a tree of garbage is worth nothing.
const PATIENCE: Duration = Duration::from_secs(4);

/// How many trees a thread keeps: that of a file, and that of what a change makes of it. Each question about a change asks for both, and each of a
/// hundred changes for the first again.
const KEPT: usize = 2;

/// The longest text whose tree is kept, in bytes.
const LONGEST_KEPT: usize = 1 << 20;

thread_local! {
    /// What was parsed last, the latest first.
    static PARSED: RefCell<Vec<(SourceLanguage, String, Tree)>> = const { RefCell::new(Vec::new()) };
}

/// Parses `text`; none where the grammar does not come to an end in time.
pub(crate) fn parse(language: SourceLanguage, text: &str) -> Option<Tree> {
    if text.len() > LONGEST_KEPT {
        return parse_anew(language, text);
    }
    PARSED.with_borrow_mut(|parsed| {
        let is_same = |kept: &(SourceLanguage, String, Tree)| kept.0 == language && kept.1 == text;
        let latest = match parsed.iter().position(is_same) {
            Some(at) => parsed.remove(at),
            None => (language, text.to_owned(), parse_anew(language, text)?),
        };
        let tree = latest.2.clone();
        parsed.insert(0, latest);
        parsed.truncate(KEPT);
        Some(tree)
    })
}

fn parse_anew(language: SourceLanguage, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let start = Instant::now();
    let mut watch = |_: &ParseState| {
        if start.elapsed() > PATIENCE {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut watch)))
}

/// A walk over all nodes, depth first, each with its depth; the root has depth 0.
pub(crate) struct Walk<'t> {
    cursor: TreeCursor<'t>,
    depth: usize,
    next: Next,
}

enum Next {
    Root,
    Below,
    Beside,
}

impl<'t> Walk<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self {
            cursor: tree.walk(),
            depth: 0,
            next: Next::Root,
        }
    }

    /// Returns what the node seen last is to the one above it.
    pub(crate) fn field(&self) -> Option<&'t str> {
        self.cursor.field_name()
    }

    /// Leaves out what is below the node seen last.
    pub(crate) fn skip_children(&mut self) {
        self.next = Next::Beside;
    }
}

impl<'t> Iterator for Walk<'t> {
    type Item = (usize, Node<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        match std::mem::replace(&mut self.next, Next::Below) {
            Next::Root => return Some((0, self.cursor.node())),
            Next::Below if self.cursor.goto_first_child() => {
                self.depth += 1;
                return Some((self.depth, self.cursor.node()));
            }
            Next::Below | Next::Beside => {}
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.next = Next::Beside;
                return None;
            }
            self.depth -= 1;
        }
        Some((self.depth, self.cursor.node()))
    }
}

/// Returns the text of a node.
pub(crate) fn slice<'s>(text: &'s str, node: Node<'_>) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Returns the children of a node, unnamed ones included.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// Returns the row a node ends on, from 0; a line break at its very end does not count.
pub(crate) fn last_row(node: Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row {
        end.row - 1
    } else {
        end.row
    }
}

/// White space of any length as one space, none at the ends.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns code of several lines on one, without the spaces that come of it inside parentheses.
pub(crate) fn joined(code: &str) -> String {
    let line = on_one_line(code);
    if code.contains('\n') {
        line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    } else {
        line
    }
}
