//! Which definitions of Rust a piece of code may enter, as far as names tell.

use crate::outline::outline_of;
use crate::scan::scan_of;
use crate::shape::ShapeKind;
use crate::{SourceLanguage, Symbol, SymbolKind};
use magis_core::{LineSpan, RepoPath};
use std::collections::{BTreeSet, HashMap};

/// Returns the definitions of `files` that `code` may enter: those that it names, and those that these name in turn. What implements a trait may be entered
/// without its name, wherever its type is named, and what stands outside of all definitions, the calls of macros say, is taken for entered. So more may be
/// found than runs, but hardly less: names that macros put together are not known. Tests are left out, and files in other languages.
pub fn reachable<'f>(files: &'f [(RepoPath, String)], code: &str) -> Vec<(&'f RepoPath, LineSpan)> {
    let mut definitions = Definitions::default();
    for (path, text) in files {
        if SourceLanguage::of(path) == Some(SourceLanguage::Rust) {
            definitions.read(path, text);
        }
    }
    definitions.entered_by(code)
}

/// What some files define, and what names what.
#[derive(Default)]
struct Definitions<'f> {
    found: Vec<Definition<'f>>,
    /// The definitions of a name, wherever.
    named: HashMap<String, Vec<usize>>,
    /// What implements a trait, with the type that it is for.
    of_types: Vec<(String, usize)>,
    types: BTreeSet<String>,
    /// What `use name as other` calls so.
    renamed: HashMap<&'f str, Vec<&'f str>>,
    /// The words outside of all definitions.
    outside: Vec<&'f str>,
}

/// A definition with its text.
struct Definition<'f> {
    path: &'f RepoPath,
    span: LineSpan,
    text: &'f str,
}

impl<'f> Definitions<'f> {
    fn read(&mut self, path: &'f RepoPath, text: &'f str) {
        let Some(scan) = scan_of(path, text) else { return };
        let mut starts: Vec<usize> = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        starts.push(text.len());
        let text_of = |span: LineSpan| &text[starts[span.first() as usize - 1]..starts[span.last() as usize]];
        let head = |first: u32, last: u32| LineSpan::new(first, last.max(first)).ok();
        let mut told: Vec<LineSpan> = scan.import_spans.clone();
        for span in &scan.import_spans {
            let words: Vec<&str> = words(text_of(*span)).collect();
            for three in words.windows(3) {
                if let [name, "as", other] = three {
                    self.renamed.entry(*other).or_default().push(*name);
                }
            }
        }
        let scopes = || {
            scan.definitions
                .iter()
                .filter(|scope| matches!(scope.kind, ShapeKind::TypeScope))
        };
        told.extend(scopes().filter_map(|scope| head(scope.span.first(), scope.head_last)));
        let of_traits = scopes().filter(|scope| scope.signature.contains(" for "));
        let of_traits: Vec<(LineSpan, String)> = of_traits.map(|scope| (scope.span, scope.name.clone())).collect();
        for symbol in outline_of(Some(SourceLanguage::Rust), Some(scan), text).symbols {
            if symbol.kind == SymbolKind::Module && !symbol.is_test {
                told.extend(head(symbol.span.first(), symbol.head_last));
                continue;
            }
            told.push(symbol.span);
            if !symbol.is_test {
                let of = of_traits.iter().find(|(span, _)| span.contains(symbol.span.first()));
                self.add(symbol, path, text_of, of.map(|(_, of)| of.clone()));
            }
        }
        let outside = (1..).zip(text.lines()).filter(|(line, text)| {
            !text.trim_start().starts_with("//") && !told.iter().any(|span| span.contains(*line))
        });
        self.outside.extend(outside.flat_map(|(_, line)| words(line)));
    }

    fn add(
        &mut self,
        symbol: Symbol,
        path: &'f RepoPath,
        text_of: impl Fn(LineSpan) -> &'f str,
        of_trait: Option<String>,
    ) {
        let at = self.found.len();
        self.found.push(Definition {
            path,
            span: symbol.span,
            text: text_of(symbol.span),
        });
        self.of_types.extend(of_trait.map(|of| (of, at)));
        let is_type = !matches!(
            symbol.kind,
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Constant | SymbolKind::Macro
        );
        if is_type {
            self.types.insert(symbol.name.clone());
        }
        self.named.entry(symbol.name).or_default().push(at);
    }

    fn entered_by(mut self, code: &str) -> Vec<(&'f RepoPath, LineSpan)> {
        let mut open: Vec<usize> = Vec::new();
        for (of, at) in std::mem::take(&mut self.of_types) {
            let own: Vec<&str> = words(&of).filter(|word| self.types.contains(*word)).collect();
            // Who implements a trait for a type of others need not name it.
            if own.is_empty() {
                open.push(at);
            }
            for word in own {
                self.named.entry(word.to_owned()).or_default().push(at);
            }
        }
        let mut entered = vec![false; self.found.len()];
        let mut fresh: Vec<&str> = words(code).chain(self.outside).collect();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        loop {
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut entered[at], true) {
                    fresh.extend(words(self.found[at].text));
                }
            }
            let Some(word) = fresh.pop() else { break };
            if known.insert(word) {
                open.extend(self.named.get(word).into_iter().flatten());
                fresh.extend(self.renamed.get(word).into_iter().flatten());
            }
        }
        let entered = self.found.into_iter().zip(entered).filter(|(_, entered)| *entered);
        entered
            .map(|(definition, _)| (definition.path, definition.span))
            .collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
pub struct Sum(i32);

impl Sum {
    pub fn of(list: &[i32]) -> Self {
        Sum(added(list))
    }

    pub fn double(&self) -> i32 {
        self.0 * 2
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, \"{}\", padded(self.0))
    }
}

fn added(list: &[i32]) -> i32 {
    list.iter().sum()
}

fn padded(number: i32) -> String {
    format!(\"{number:5}\")
}

pub struct Other;

impl Drop for Other {
    fn drop(&mut self) {}
}

pub trait Twice {
    fn twice(self) -> Self;
}

impl Twice for i32 {
    fn twice(self) -> i32 {
        self * 2
    }
}

#[cfg(test)]
mod tests {
    fn added() {}
}
";

    fn check(code: &str, expected: &[&str]) {
        let files = [(RepoPath::new("src/lib.rs").expect("a path"), CODE.to_owned())];
        let outline = crate::outline(&files[0].0, CODE);
        let spans: Vec<LineSpan> = reachable(&files, code).into_iter().map(|(_, span)| span).collect();
        let found = outline.symbols.iter().filter(|symbol| spans.contains(&symbol.span));
        let found: Vec<&str> = found.map(|symbol| symbol.qualified_name.as_str()).collect();
        assert_eq!(found, expected, "{code}");
    }

    #[test]
    fn what_is_named_may_be_entered_and_what_that_names() {
        check("added(&[1])", &["added", "Twice.twice", "i32.twice"]);
        check(
            "Sum::of(&[1]).to_string()",
            &[
                "Sum",
                "Sum.of",
                "Sum.fmt",
                "added",
                "padded",
                "Twice.twice",
                "i32.twice",
            ],
        );
    }

    #[test]
    fn what_is_renamed_or_given_to_a_macro_outside_may_be_entered() {
        let code = "mod inner {\n    pub fn parse() {}\n    pub fn print() {}\n}\n\npub use inner::parse as read;\n\nlazy_static! {\n    static ref TABLE: Table = made();\n}\n\nfn made() -> Table {\n    Table\n}\n";
        let files = [(RepoPath::new("src/lib.rs").expect("a path"), code.to_owned())];
        let found: Vec<u32> = reachable(&files, "read()")
            .into_iter()
            .map(|(_, span)| span.first())
            .collect();
        assert_eq!(found, [2, 12]);
    }

    #[test]
    fn an_implementation_of_a_trait_may_be_entered_where_its_type_is_named() {
        check("drop(Other)", &["Other", "Other.drop", "Twice.twice", "i32.twice"]);
    }
}
