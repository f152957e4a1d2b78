//! What a definition refers to, by name: what a function calls, what a type is made from.
//!
//! Read from the text alone, for every language alike: a name in front of a parenthesis is a call, and the names in the
//! head of a type are those it extends or implements. Only calls are followed, see `signals::calls`; what types are made
//! from tells with them how common a name is.

use crate::known_symbol::{KnownSymbol, SymbolShape};
use std::collections::HashMap;

/// The most names that are kept of one definition.
const MOST: usize = 64;
/// A shorter name is anything's.
const SHORTEST: usize = 3;

/// Writes into each of `symbols`, whose lines `lines` gives, what it uses; the names that are used, each once.
pub(crate) fn find<'t>(symbols: &mut [KnownSymbol], lines: impl Fn(magis_core::LineSpan) -> &'t str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut numbers: HashMap<&'t str, u32> = HashMap::new();
    for symbol in symbols {
        let text = lines(symbol.span);
        let found: Vec<&'t str> = match symbol.shape {
            SymbolShape::Function => calls(text).map(|(_, name)| name).collect(),
            SymbolShape::Container => head(text, symbol.name()).collect(),
            SymbolShape::Constant => continue,
        };
        for name in found {
            if name == symbol.name() || is_word_of_a_language(name) {
                continue;
            }
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() as u32 - 1
            });
            if symbol.uses.len() < MOST && !symbol.uses.contains(&number) {
                symbol.uses.push(number);
            }
        }
    }
    names
}

/// Names in front of an opening parenthesis, each with the text before it.
pub(crate) fn calls(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let places = text.bytes().enumerate().filter(|(_, byte)| *byte == b'(');
    places.filter_map(|(at, _)| last_name(&text[..at]))
}

/// Returns the name that ends where `text` does, behind what stands before it.
fn last_name(text: &str) -> Option<(&str, &str)> {
    // `name!(` and `name::<T>(` are calls as well; the latter is rare enough to be missed.
    let text = text.strip_suffix('!').unwrap_or(text);
    let length = text.bytes().rev().take_while(|byte| is_part(*byte)).count();
    let (before, name) = text.split_at(text.len() - length);
    fits(name).then_some((before, name))
}

/// Returns the names behind that of a type, up to its body.
fn head<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let keyword = |line: &&str| {
        line.split(|c: char| !c.is_ascii() || !is_part(c as u8))
            .any(|word| word == name)
    };
    let line = text.lines().find(keyword).unwrap_or_default();
    let behind = line.split_once(name).map_or("", |(_, behind)| behind);
    let head = behind.split(['{']).next().unwrap_or_default();
    head.split(|c: char| !c.is_ascii() || !is_part(c as u8))
        .filter(|name| fits(name))
}

fn fits(name: &str) -> bool {
    name.len() >= SHORTEST && !name.starts_with(|first: char| first.is_ascii_digit())
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns words that stand before a parenthesis or in a head and name nothing.
fn is_word_of_a_language(name: &str) -> bool {
    matches!(
        name,
        "and"
            | "assert"
            | "await"
            | "catch"
            | "class"
            | "elif"
            | "except"
            | "extends"
            | "for"
            | "foreach"
            | "func"
            | "function"
            | "implements"
            | "import"
            | "lambda"
            | "match"
            | "not"
            | "print"
            | "return"
            | "sizeof"
            | "super"
            | "switch"
            | "throw"
            | "typeof"
            | "while"
            | "with"
            | "yield"
            | "metaclass"
            | "object"
            | "isinstance"
            | "len"
            | "str"
            | "int"
            | "list"
            | "dict"
            | "set"
            | "tuple"
            | "range"
            | "public"
            | "private"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::LineSpan;

    fn check(text: &str, shape: SymbolShape, name: &str, expected: &[&str]) {
        let span = LineSpan::new(1, text.lines().count() as u32).unwrap();
        let mut symbols = [KnownSymbol {
            qualified: name.to_owned(),
            span,
            shape,
            uses: Vec::new(),
        }];
        let names = find(&mut symbols, |_| text);
        assert_eq!(names, expected, "{text}");
        assert_eq!(symbols[0].uses.len(), expected.len());
    }

    #[test]
    fn a_function_uses_what_it_calls() {
        check(
            "def load(path):\n    if not exists(path):\n        raise Missing(path)\n    return read(path, self.codec(path))",
            SymbolShape::Function,
            "load",
            &["exists", "Missing", "read", "codec"],
        );
        check(
            "fn f() {\n    write!(out, make(x))\n}",
            SymbolShape::Function,
            "f",
            &["write", "make"],
        );
    }

    #[test]
    fn a_type_uses_what_it_is_made_from() {
        check(
            "@final\nclass Latex(Printer, base.Mixin):",
            SymbolShape::Container,
            "Latex",
            &["Printer", "base", "Mixin"],
        );
        check(
            "class Gson extends Base implements Reader {",
            SymbolShape::Container,
            "Gson",
            &["Base", "Reader"],
        );
    }
}
