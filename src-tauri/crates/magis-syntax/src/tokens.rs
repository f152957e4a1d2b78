//! A text as its tokens: whether two texts are the same code, or differ in words for people alone.

use crate::SourceLanguage;
use crate::tree::{Walk, parse, slice};
use magis_core::{LineSpan, RepoPath};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use tree_sitter::{Node, Tree};

/// Returns whether two texts are equal up to layout: the same tokens, comments included, but for white space and
/// trailing commas; in Python with the same nesting. In an unknown language, equal up to white space at the ends of
/// lines.
pub fn same_code(path: &RepoPath, a: &str, b: &str) -> bool {
    match trees(path, a, b) {
        Some((language, of_a, of_b)) => {
            tokens(language, &of_a, a, Leaving::Nothing).eq(tokens(language, &of_b, b, Leaving::Nothing))
        }
        None => a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end)),
    }
}

/// Returns a number that is equal for texts that are the [`same_code`], and unequal for others but by rare chance. It
/// stays the same from one start of the program to the next.
pub fn code_key(path: &RepoPath, text: &str) -> u64 {
    let mut key = Fnv::default();
    match SourceLanguage::of(path).and_then(|language| Some((language, parse(language, text)?))) {
        Some((language, tree)) => {
            tokens(language, &tree, text, Leaving::Nothing).for_each(|token| token.hash(&mut key));
        }
        None => text.lines().for_each(|line| line.trim_end().hash(&mut key)),
    }
    key.finish()
}

/// Returns whether two texts differ, and in comments and Python's docstrings alone. False in an unknown language.
pub fn words_only(path: &RepoPath, base: &str, new: &str) -> bool {
    let Some((language, before, after)) = trees(path, base, new) else {
        return false;
    };
    let all = |leaving| tokens(language, &before, base, leaving).eq(tokens(language, &after, new, leaving));
    all(Leaving::Words) && !all(Leaving::Nothing)
}

/// Returns whether a text is another one with code taken away and none written: its tokens, without words for people, stand in the other one in the
/// same order, and some are missing. False in an unknown language.
pub fn only_deletes(path: &RepoPath, base: &str, new: &str) -> bool {
    let Some((language, before, after)) = trees(path, base, new) else {
        return false;
    };
    let is_leaf = |token: &Token<'_>| !matches!(token, Token::Opens(..));
    let mut of_base = tokens(language, &before, base, Leaving::Words).filter(is_leaf);
    let mut missing = 0;
    for token in tokens(language, &after, new, Leaving::Words).filter(is_leaf) {
        match of_base.position(|other| other == token) {
            Some(skipped) => missing += skipped,
            None => return false,
        }
    }
    missing + of_base.count() > 0
}

/// Returns the lines of a span on which something of code is written: no comments or docstrings, and more than brackets. In an unknown language, the
/// lines that are not blank.
pub fn code_lines(path: &RepoPath, text: &str, span: LineSpan) -> Vec<u32> {
    let parsed = SourceLanguage::of(path).and_then(|language| Some((language, parse(language, text)?)));
    let Some((language, tree)) = parsed else {
        let full = |line: &u32| {
            text.lines()
                .nth(*line as usize - 1)
                .is_some_and(|line| !line.trim().is_empty())
        };
        return (span.first()..=span.last()).filter(full).collect();
    };
    let mut found = BTreeSet::new();
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut walk = Walk::new(&tree);
    while let Some((depth, node)) = walk.next() {
        above.truncate(depth);
        let words = is_for_people(language, node, &mut above);
        above.push(Above {
            kind: node.kind(),
            begun: false,
        });
        if words {
            walk.skip_children();
            continue;
        }
        let is_word = || slice(text, node).contains(|letter: char| letter.is_alphanumeric() || letter == '_');
        if node.child_count() == 0 && is_word() {
            let line = node.start_position().row as u32 + 1;
            if span.contains(line) {
                found.insert(line);
            }
        }
    }
    found.into_iter().collect()
}

fn trees(path: &RepoPath, a: &str, b: &str) -> Option<(SourceLanguage, Tree, Tree)> {
    let language = SourceLanguage::of(path)?;
    Some((language, parse(language, a)?, parse(language, b)?))
}

/// The hash of Fowler, Noll and Vo, which unlike the standard library's is promised to stay.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// What of a text is more than layout.
#[derive(PartialEq, Eq, Hash)]
enum Token<'s> {
    /// A node that has parts begins; the depth says what is in what.
    Opens(usize, &'s str),
    /// A node without parts, by its words.
    Word(Vec<&'s str>),
    /// A node whose white space counts.
    Text(&'s str),
}

/// Which words for people are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Nothing,
    /// Comments, and the docstrings of Python.
    Words,
}

fn tokens<'s>(
    language: SourceLanguage,
    tree: &'s Tree,
    text: &'s str,
    leaving: Leaving,
) -> impl Iterator<Item = Token<'s>> {
    // The kinds above the node, and whether each has had a statement.
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut walk = Walk::new(tree);
    let mut comma = None;
    let mut ready = std::collections::VecDeque::new();
    std::iter::from_fn(move || {
        loop {
            if let Some(token) = ready.pop_front() {
                return Some(token);
            }
            let Some((depth, node)) = walk.next() else {
                return comma.take();
            };
            if leaving == Leaving::Words {
                above.truncate(depth);
                let words = is_for_people(language, node, &mut above);
                above.push(Above {
                    kind: node.kind(),
                    begun: false,
                });
                if words {
                    walk.skip_children();
                    continue;
                }
            }
            let token = if keeps_spaces(node.kind()) {
                walk.skip_children();
                Token::Text(slice(text, node))
            } else if node.child_count() > 0 {
                Token::Opens(depth, node.kind())
            } else {
                Token::Word(slice(text, node).split_whitespace().collect())
            };
            if matches!(&token, Token::Word(words) if words.as_slice() == [","]) {
                ready.extend(comma.replace(token));
                continue;
            }
            let closes = matches!(node.kind(), ")" | "]" | "}");
            ready.extend(comma.take().filter(|_| !closes));
            if !matches!(&token, Token::Word(words) if words.is_empty()) {
                ready.push_back(token);
            }
        }
    })
}

/// A node on the way down to another.
struct Above<'t> {
    kind: &'t str,
    /// Whether a statement in it has been seen.
    begun: bool,
}

/// Returns whether a node is a comment or a docstring.
fn is_for_people(language: SourceLanguage, node: Node<'_>, above: &mut [Above<'_>]) -> bool {
    node.kind().contains("comment") || (language == SourceLanguage::Python && is_docstring(node, above))
}

/// Returns whether a node is the string that documents what it stands in.
fn is_docstring(node: Node<'_>, above: &mut [Above<'_>]) -> bool {
    if !node.is_named() {
        return false;
    }
    let documented = match above {
        [.., outer, block] if block.kind == "block" => matches!(outer.kind, "function_definition" | "class_definition"),
        [module] => module.kind == "module",
        _ => false,
    };
    let first = above
        .last_mut()
        .is_some_and(|block| !std::mem::replace(&mut block.begun, true));
    let is_string =
        || node.named_child_count() == 1 && node.named_child(0).is_some_and(|child| child.kind() == "string");
    documented && first && node.kind() == "expression_statement" && is_string()
}

fn keeps_spaces(kind: &str) -> bool {
    matches!(
        kind,
        "string_literal"
            | "raw_string_literal"
            | "char_literal"
            | "interpreted_string_literal"
            | "rune_literal"
            | "template_string"
            | "string_content"
            | "string_fragment"
            | "string"
            | "jsx_text"
            | "regex"
    )
}
