//! The definition wanted, out of a model's answer.
//!
//! Models wrap code in fences, prose, classes and other definitions, indent it as they please and stop in the middle.
//! An answer is therefore read in several ways, likely ones first, and the first that yields the definition whole wins.
//! Nothing is repaired: a definition that is cut off is no definition.

mod fences;

use fences::Fences;

use crate::layout::{dedented, indent_of};
use crate::outline::is_called;
use crate::scan::{Definition, scan};
use crate::syntax::misplacements;
use crate::tree::{Walk, last_row, parse};
use crate::{SourceLanguage, SymbolKind};
use std::borrow::Cow;
use tree_sitter::Tree;

/// How many lines that mention the name are tried as the definition's first.
const MENTIONS: usize = 24;
/// Longer answers are read as a whole only.
const MENTIONS_BYTES: usize = 100_000;
/// The type a member is put into where it does not parse on its own.
const SHELL: &str = "MagisShell";

/// Returns the text of the definition called `name` (simple or qualified) in a model's answer, with its decorators and
/// doc comment, its first line at column 0. The answer may have fences, prose, imports, a class around it or other
/// definitions beside it. None where it is not there or is cut off.
pub fn extract_definition(language: SourceLanguage, answer: &str, name: &str) -> Option<String> {
    let answer = answer.strip_prefix('\u{feff}').unwrap_or(answer).replace("\r\n", "\n");
    let simple = name.rsplit(['.', ':']).next().unwrap_or(name);
    if simple.is_empty() {
        return None;
    }
    let blocks = Fences::of(&answer);
    let mut texts: Vec<&str> = blocks.contents();
    if texts.is_empty() || !texts.iter().any(|text| text.contains(simple)) {
        texts = vec![&answer];
    }
    let whole = texts.iter().find_map(|text| in_whole(language, text, name));
    let elsewhere = |text: &&&str| is_in_another(language, text, name, simple);
    whole.or_else(|| {
        texts
            .iter()
            .filter(|text| !elsewhere(text))
            .find_map(|text| from_mention(language, text, name, simple))
    })
}

/// Returns the content of the first fenced block, or the whole where there is none; a block never closed goes to the
/// end. A single fence behind code closes it: the opening one stood in the prompt.
pub fn strip_fences(answer: &str) -> &str {
    Fences::of(answer).contents().first().copied().unwrap_or(answer)
}

/// Looks for the definition in the text as a whole: as it is, moved to column 0, with its first line moved to where the
/// others are, and as a member of a class.
fn in_whole(language: SourceLanguage, text: &str, name: &str) -> Option<String> {
    let moved = dedented(text);
    let aligned = first_line_aligned(text);
    let mut readings: Vec<Cow<'_, str>> = vec![Cow::Borrowed(text)];
    readings.extend(
        [Some(moved.clone()), aligned]
            .into_iter()
            .flatten()
            .filter(|other| other != text)
            .map(Cow::Owned),
    );
    if let Some((before, after)) = shell(language) {
        readings.push(Cow::Owned(format!("{before}{moved}\n{after}")));
    }
    if matches!(
        language,
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
    ) {
        readings.push(Cow::Owned(format!("const {SHELL} = {{\n{moved}\n}};")));
    }
    if language == SourceLanguage::Php {
        readings.push(Cow::Owned(format!("<?php\n{moved}")));
    }
    // Only Python's grammar takes a wrong reading of the indentation, or a block cut off, for code.
    let upright = |text: &String| language != SourceLanguage::Python || misplacements(text) == 0;
    readings
        .iter()
        .find_map(|reading| in_reading(language, reading, name).filter(upright))
}

/// Returns whether the text defines the name in another type than the one wanted.
fn is_in_another(language: SourceLanguage, text: &str, name: &str, simple: &str) -> bool {
    let Some(tree) = parse(language, text).filter(|_| name != simple) else {
        return false;
    };
    scan(language, &tree, text).definitions.iter().any(|definition| {
        definition.name == simple && definition.qualified_name != simple && !is_called(name, &definition.qualified_name)
    })
}

/// Returns what a member has to stand between where a language allows it in types alone.
fn shell(language: SourceLanguage) -> Option<(String, &'static str)> {
    match language {
        SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Java
        | SourceLanguage::CSharp
        | SourceLanguage::Kotlin => Some((format!("class {SHELL} {{\n"), "}\n")),
        SourceLanguage::Php => Some((format!("<?php\nclass {SHELL} {{\n"), "}\n")),
        SourceLanguage::Cpp => Some((format!("class {SHELL} {{\n"), "};\n")),
        SourceLanguage::Python
        | SourceLanguage::Rust
        | SourceLanguage::Go
        | SourceLanguage::C
        | SourceLanguage::Ruby => None,
    }
}

/// Returns the text with its first line, a decorator or comment, indented as the second: models tend to drop the
/// indentation of the first line alone.
fn first_line_aligned(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['\n', ' ', '\t']);
    let second = text.lines().skip(1).find(|line| !line.trim().is_empty())?;
    let indent = indent_of(second);
    (!indent.is_empty() && text.starts_with(['@', '#', '/'])).then(|| dedented(&format!("{indent}{text}")))
}

/// Looks for the definition from each line on that mentions it, so that what is around it need not parse.
fn from_mention(language: SourceLanguage, text: &str, name: &str, simple: &str) -> Option<String> {
    if text.len() > MENTIONS_BYTES {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let mentions = (0..lines.len()).filter(|at| mentions(lines[*at], simple));
    mentions.take(MENTIONS).find_map(|at| {
        let mut first = at;
        while first > 0 && belongs_to_next(language, lines[first - 1]) {
            first -= 1;
        }
        let end = if language == SourceLanguage::Python {
            python_end(&lines, at)
        } else {
            lines.len()
        };
        in_whole(language, &dedented(&lines[first..end].join("\n")), name)
    })
}

fn mentions(line: &str, simple: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(simple)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + simple.len()..].starts_with(part))
}

/// Returns whether a line is a decorator, an attribute or part of a comment, as stands above a definition.
fn belongs_to_next(language: SourceLanguage, line: &str) -> bool {
    let line = line.trim();
    let in_comment = ["//", "/*", "*"].iter().any(|mark| line.starts_with(mark));
    match language {
        SourceLanguage::Python => line.starts_with('@'),
        SourceLanguage::Ruby => line.starts_with('#'),
        SourceLanguage::Rust => line.starts_with("#[") || line.starts_with("///"),
        SourceLanguage::CSharp => in_comment || line.starts_with('['),
        SourceLanguage::Php => in_comment || line.starts_with('#'),
        SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Go
        | SourceLanguage::Java
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Kotlin => in_comment || line.starts_with('@'),
    }
}

/// Returns the line behind a Python definition that begins at `at`: the first that is indented no deeper, behind its
/// head.
fn python_end(lines: &[&str], at: usize) -> usize {
    let indent = indent_of(lines[at]).len();
    let mut head = true;
    for (index, line) in lines.iter().enumerate().skip(at) {
        let trimmed = line.trim();
        let shallow = indent_of(line).len() <= indent;
        if !head && shallow && !trimmed.is_empty() {
            return index;
        }
        if head && trimmed.split(" #").next().unwrap_or_default().trim_end().ends_with(':') {
            head = false;
        }
    }
    lines.len()
}

fn in_reading(language: SourceLanguage, reading: &str, name: &str) -> Option<String> {
    let tree = parse(language, reading)?;
    let found = scan(language, &tree, reading);
    let own = |definition: &Definition| {
        let prefix = format!(
            "{SHELL}{}",
            if definition.qualified_name.contains("::") {
                "::"
            } else {
                "."
            }
        );
        definition
            .qualified_name
            .strip_prefix(&prefix)
            .unwrap_or(&definition.qualified_name)
            .to_owned()
    };
    let fits = |definition: &&Definition| {
        let called = own(definition);
        definition.symbol_kind().is_some() && (is_called(&called, name) || is_called(name, &called))
    };
    let mut fitting: Vec<&Definition> = found.definitions.iter().filter(fits).collect();
    // The fullest name first, then what has a body: an overload's or a prototype's head is rarely what was meant.
    fitting.sort_by_key(|definition| {
        (
            !is_called(&own(definition), name),
            !is_implementation(definition, reading),
        )
    });
    let text = |definition: &&Definition| text_of(language, &tree, reading, definition);
    fitting.iter().find_map(text)
}

fn is_implementation(definition: &Definition, reading: &str) -> bool {
    let holds_none = matches!(
        definition.symbol_kind(),
        Some(SymbolKind::Constant | SymbolKind::Type | SymbolKind::Macro)
    );
    let text = reading.get(definition.bytes.clone()).unwrap_or_default();
    let head = text.split("def ").next().unwrap_or_default();
    holds_none || (definition.has_body && !head.contains("@overload") && !head.contains("@typing.overload"))
}

/// Returns the definition's text, unless it is cut off.
fn text_of(language: SourceLanguage, tree: &Tree, reading: &str, definition: &Definition) -> Option<String> {
    if is_cut_off(language, tree, reading, definition) {
        return None;
    }
    let start = definition.bytes.start;
    let line_start = reading[..start].rfind('\n').map_or(0, |at| at + 1);
    let from = if reading[line_start..start].trim().is_empty() {
        line_start
    } else {
        start
    };
    let mut end = definition.bytes.end;
    let rest = reading[end..].split('\n').next().unwrap_or_default();
    if matches!(rest.trim(), ";" | ",") || rest.trim().starts_with(language.comment_prefix()) {
        end += rest.trim_end().len();
    }
    let text = dedented(reading[from..end].trim_end());
    Some(format!("{}\n", text.trim_start_matches('\n')))
}

/// Returns whether the parser lost its way where the definition ends, which is what stopping in the middle looks like.
fn is_cut_off(language: SourceLanguage, tree: &Tree, reading: &str, definition: &Definition) -> bool {
    let (start, end) = (definition.bytes.start, definition.bytes.end);
    let last = definition.span.last() as usize - 1;
    let column = start - reading[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = reading[end..].trim();
    let ends_text = rest.is_empty() || rest.trim_matches(['}', ';', ' ', '\n']).is_empty();
    let last_line = reading[start..end].trim_end().rsplit('\n').next().unwrap_or_default();
    if language == SourceLanguage::Python
        && last_line
            .split('#')
            .next()
            .unwrap_or_default()
            .trim_end()
            .ends_with(':')
    {
        return true;
    }
    let mut walk = Walk::new(tree);
    while let Some((_, node)) = walk.next() {
        if node.end_byte() < start || !node.has_error() {
            walk.skip_children();
            continue;
        }
        let broken = (node.is_error() || node.is_missing()) && node.start_byte() >= start;
        if !broken {
            continue;
        }
        let row = node.start_position().row;
        let within = node.start_byte() <= end;
        let at_its_end = within
            && (last_row(node) >= last
                || ends_text && node.is_missing()
                || language == SourceLanguage::Python && leads_to_end(reading, row, last));
        let continues_it = !within && row <= last + 1 && (row == last || node.start_position().column > column);
        if at_its_end || continues_it {
            return true;
        }
    }
    false
}

/// Returns whether the last line lies, by its indentation, in the statement that begins on `row`.
fn leads_to_end(reading: &str, row: usize, last: usize) -> bool {
    let lines: Vec<&str> = reading.lines().take(last + 1).skip(row).collect();
    let indent = |line: &str| indent_of(line).len();
    let Some((first, rest)) = lines.split_first() else {
        return false;
    };
    rest.iter()
        .filter(|line| !line.trim().is_empty())
        .all(|line| indent(line) > indent(first))
}
