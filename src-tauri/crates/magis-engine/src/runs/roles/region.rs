//! Which part of a file a Developer rewrites: a whole definition where it is short, a window of lines otherwise.
//! Models rewrite a whole unit far better than they write diffs, and long files they do not rewrite at all.

use crate::runs::workspace::{dedent, lines};
use magis_core::{LineSpan, RepoPath};
use magis_syntax::{Outline, SourceLanguage, Symbol, SymbolKind};

/// The most lines of a definition that is rewritten as a whole.
const WHOLE_DEFINITION: u32 = 120;
/// Lines of context around the chosen lines of a window.
const AROUND: u32 = 10;

/// A part of a file to be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    /// What it is called in the prompt: "function", "method", "lines".
    pub unit: &'static str,
    /// The lines it replaces.
    pub span: LineSpan,
    /// The definition's own name, where it is one.
    pub name: Option<String>,
    /// The code as it stands, without its common indentation.
    pub code: String,
    /// The first words of the answer, which are given to the model: up to the definition's name.
    pub begin: String,
    /// The lines P9 chose, without their common indentation.
    pub focus: String,
}

/// Returns the symbols that can be named as the place to change: tests beside the code they test are none.
pub(crate) fn nameable(outline: &Outline) -> Vec<&Symbol> {
    let kind = |symbol: &&Symbol| match symbol.kind {
        SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Interface
        | SymbolKind::Trait
        | SymbolKind::Type
        | SymbolKind::Macro
        | SymbolKind::Constant => true,
        SymbolKind::Module => false,
    };
    let (tests, code): (Vec<&Symbol>, Vec<&Symbol>) =
        outline.symbols.iter().filter(kind).partition(|symbol| symbol.is_test);
    if code.is_empty() { tests } else { code }
}

/// Returns whether a symbol is code that is called.
pub(crate) fn is_function(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro
    )
}

/// Returns whether a symbol is a function that is not rewritten as a whole; it may be a whole module.
pub(crate) fn is_long_function(symbol: &Symbol) -> bool {
    is_function(symbol) && symbol.span.lines() > WHOLE_DEFINITION
}

/// Returns the lines of a function that are its own: of a long one without the functions inside, which are places of their own.
pub(crate) fn own_code(outline: &Outline, symbol: &Symbol) -> Vec<LineSpan> {
    let mut own = Vec::new();
    let mut next = symbol.span.first();
    if is_long_function(symbol) {
        let inner = outline.symbols.iter().filter(|inner| {
            is_function(inner) && inner.span != symbol.span && symbol.span.contains(inner.span.first())
        });
        for inner in inner {
            if inner.span.first() >= next {
                own.extend(LineSpan::new(next, inner.span.first() - 1));
                next = inner.span.last() + 1;
            }
        }
    }
    own.extend(LineSpan::new(next, symbol.span.last()));
    own
}

/// Returns the lines of a symbol to choose from: all of them, or what stands before the first definition inside a long
/// class and its like.
pub(crate) fn own_lines(outline: &Outline, symbol: &Symbol) -> LineSpan {
    if is_function(symbol) || symbol.span.lines() <= WHOLE_DEFINITION {
        return symbol.span;
    }
    let inner = outline.symbols.iter().find(|inner| {
        inner.span != symbol.span && inner.span.first() > symbol.body_first && symbol.span.contains(inner.span.first())
    });
    let end = inner.map_or(symbol.span.last(), |inner| inner.span.first() - 1);
    LineSpan::new(symbol.span.first(), end.max(symbol.body_first)).unwrap_or(symbol.span)
}

/// Returns the regions for lines chosen in `symbols`: disjoint, in the order of the file.
pub(crate) fn regions(text: &str, outline: &Outline, symbols: &[String], spans: &[LineSpan]) -> Vec<Region> {
    let last = text.lines().count().max(1) as u32;
    let mut found: Vec<Region> = Vec::new();
    for span in spans {
        let owner = outline
            .symbols
            .iter()
            .filter(|symbol| symbols.contains(&symbol.qualified_name));
        let owner = owner
            .filter(|symbol| symbol.span.intersection(*span).is_some())
            .min_by_key(|symbol| symbol.span.lines());
        let region = match owner {
            Some(symbol) if symbol.span.lines() <= WHOLE_DEFINITION => definition(text, symbol, *span),
            _ => window(text, *span, last),
        };
        match found
            .iter_mut()
            .find(|known| known.span.intersection(region.span).is_some())
        {
            Some(known) if known.span == region.span => {
                if !known.focus.contains(region.focus.trim_end()) {
                    known.focus += &region.focus;
                }
            }
            Some(known) => {
                let both = LineSpan::merged(vec![known.span, region.span]);
                if let [joined] = both.as_slice() {
                    let focus = format!("{}{}", known.focus, region.focus);
                    *known = Region {
                        focus,
                        ..window_of(text, *joined)
                    };
                }
            }
            None => found.push(region),
        }
    }
    found.sort_by_key(|region| region.span);
    found
}

fn definition(text: &str, symbol: &Symbol, focus: LineSpan) -> Region {
    let whole = lines(text, symbol.span);
    let focus = symbol.span.intersection(focus).unwrap_or(symbol.span);
    let code = dedent(&whole);
    let head_lines = (symbol.body_first - symbol.span.first()) as usize;
    let begin = code.lines().nth(head_lines).and_then(|line| {
        let at = find_word(line, &symbol.name)?;
        let before = code
            .lines()
            .take(head_lines)
            .fold(String::new(), |all, line| all + line + "\n");
        Some(format!("{before}{}", &line[..at + symbol.name.len()]))
    });
    Region {
        unit: symbol.kind.name(),
        span: symbol.span,
        name: Some(symbol.name.clone()),
        code,
        begin: begin.unwrap_or_default(),
        focus: dedent(&lines(text, focus)),
    }
}

fn window(text: &str, span: LineSpan, last: u32) -> Region {
    let first = span.first().saturating_sub(AROUND).max(1);
    let wide = LineSpan::new(first, (span.last() + AROUND).min(last)).unwrap_or(span);
    Region {
        focus: dedent(&lines(text, span)),
        ..window_of(text, wide)
    }
}

/// Returns the region of just these lines.
pub(crate) fn exact(text: &str, span: LineSpan) -> Region {
    Region {
        unit: "lines",
        ..window_of(text, span)
    }
}

fn window_of(text: &str, span: LineSpan) -> Region {
    let code = dedent(&lines(text, span));
    Region {
        unit: "part",
        span,
        name: None,
        focus: code.clone(),
        code,
        begin: String::new(),
    }
}

/// Returns where `word` stands in `line` as a whole word.
fn find_word(line: &str, word: &str) -> Option<usize> {
    let part_of_word =
        |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    line.match_indices(word).map(|(at, _)| at).find(|at| {
        !part_of_word(line[..*at].chars().next_back()) && !part_of_word(line[*at + word.len()..].chars().next())
    })
}

/// Returns the word for a fence of this file.
pub(crate) fn fence(path: &RepoPath) -> &'static str {
    SourceLanguage::of(path).map_or("", SourceLanguage::fence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_syntax::outline;

    const TEXT: &str = "import os\n\nclass Ledger:\n    rate = 1\n\n    @property\n    def total(self):\n        return sum(self.days[:-1])\n";

    fn check(symbols: &[&str], spans: &[(u32, u32)], expected: &[(&str, &str, &str)]) {
        let path = RepoPath::new("ledger.py").unwrap();
        let symbols: Vec<String> = symbols.iter().map(|name| (*name).to_owned()).collect();
        let spans: Vec<LineSpan> = spans
            .iter()
            .map(|(first, last)| LineSpan::new(*first, *last).unwrap())
            .collect();
        let found = regions(TEXT, &outline(&path, TEXT), &symbols, &spans);
        let found: Vec<(String, &str, &str)> = found
            .iter()
            .map(|region| (region.span.to_string(), region.unit, region.begin.as_str()))
            .collect();
        let expected: Vec<(String, &str, &str)> = expected
            .iter()
            .map(|(span, unit, begin)| ((*span).to_owned(), *unit, *begin))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_short_definition_is_rewritten_whole_with_its_decorators_begun() {
        check(
            &["Ledger.total"],
            &[(8, 8)],
            &[("6-8", "method", "@property\ndef total")],
        );
    }

    #[test]
    fn lines_outside_any_symbol_are_a_window() {
        check(&[], &[(1, 1)], &[("1-8", "part", "")]);
    }

    #[test]
    fn tests_beside_the_code_they_test_are_no_place_to_change() {
        let named = |text: &str| {
            let outline = outline(&RepoPath::new("src/lib.rs").unwrap(), text);
            let names = nameable(&outline).into_iter();
            names.map(|symbol| symbol.qualified_name.clone()).collect::<Vec<_>>()
        };
        let tests = "#[cfg(test)]\nmod tests {\n    fn two() -> i32 {\n        2\n    }\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), two());\n    }\n}\n";
        assert_eq!(
            named(&format!("fn add(a: i32, b: i32) -> i32 {{\n    a - b\n}}\n\n{tests}")),
            ["add"]
        );
        assert_eq!(named(tests), ["tests::two", "tests::adds"]);
    }

    #[test]
    fn two_intervals_of_one_definition_are_one_region() {
        check(
            &["Ledger.total"],
            &[(7, 7), (8, 8)],
            &[("6-8", "method", "@property\ndef total")],
        );
    }

    #[test]
    fn functions_inside_a_long_function_are_not_its_own_code() {
        let path = RepoPath::new("long.py").unwrap();
        let own = |lines: usize| {
            let fill = "    y = 1\n".repeat(lines);
            let text =
                format!("def outer():\n    def one():\n        pass\n{fill}    def two():\n        pass\n    one()\n");
            let outline = outline(&path, &text);
            own_code(&outline, &outline.symbols[0])
        };
        let span = |first, last| LineSpan::new(first, last).unwrap();
        assert_eq!(own(9), [span(1, 15)]);
        assert_eq!(own(130), [span(1, 1), span(4, 133), span(136, 136)]);
    }

    #[test]
    fn of_a_long_class_the_head_is_its_own_and_of_a_long_function_all() {
        let path = RepoPath::new("long.py").unwrap();
        let fill = "        y = 1\n".repeat(130);
        let own = |head: &str| {
            let text = format!("{head}:\n    x = 1\n\n    def inner():\n{fill}\n    z = 2\n");
            let outline = outline(&path, &text);
            own_lines(&outline, &outline.symbols[0])
        };
        assert_eq!(own("class Long"), LineSpan::new(1, 3).unwrap());
        assert_eq!(own("def long()"), LineSpan::new(1, 136).unwrap());
    }
}
