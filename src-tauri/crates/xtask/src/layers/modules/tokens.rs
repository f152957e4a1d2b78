//! Paths in the text that a macro or an attribute is given, which has no grammar of its own.
//!
//! A path is a row of names with `::` between them. A row of one name alone may be anything and is none.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path and the line it stands in.
pub type Written = (Vec<String>, usize);

/// Returns every path of at least two names; `$crate` is `crate`.
pub fn paths(stream: TokenStream) -> Vec<Written> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let TokenTree::Ident(first) = &tokens[at] else {
            if let TokenTree::Group(group) = &tokens[at] {
                found.extend(paths(group.stream()));
            }
            at += 1;
            continue;
        };
        let (written, length) = path(&tokens[at..]);
        if begins_a_path(&tokens[..at], first == "crate") {
            found.extend(written.into_iter().filter(|(names, _)| names.len() > 1));
        }
        at += length;
    }
    found
}

/// Returns every path of at least two names that stands in quotes, as in `#[serde(with = "a::b")]`.
pub fn quoted_paths(stream: TokenStream) -> Vec<Written> {
    let quoted = |token| match token {
        TokenTree::Group(group) => quoted_paths(group.stream()),
        TokenTree::Literal(literal) => {
            let line = literal.span().start().line;
            let syn::Lit::Str(text) = syn::Lit::new(literal) else {
                return Vec::new();
            };
            let path = text.parse::<syn::Path>().ok().filter(|path| path.segments.len() > 1);
            path.map(|path| (names(&path), line)).into_iter().collect()
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) => Vec::new(),
    };
    stream.into_iter().flat_map(quoted).collect()
}

/// Returns the names of a path.
pub fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident)).collect()
}

/// Returns a name without the `r#` that a keyword needs.
pub fn plain(name: &proc_macro2::Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// Returns whether a name is the first of a path: not behind `::`, and no variable of a macro.
fn begins_a_path(before: &[TokenTree], is_crate: bool) -> bool {
    let mark = |back: usize| match before.len().checked_sub(back).map(|place| &before[place]) {
        Some(TokenTree::Punct(mark)) => Some(mark.as_char()),
        _ => None,
    };
    match mark(1) {
        Some(':') => mark(2) != Some(':'),
        Some('$') => is_crate,
        _ => true,
    }
}

/// Returns the path that begins with the first token, or several where it ends in braces, and how many tokens they
/// take.
fn path(tokens: &[TokenTree]) -> (Vec<Written>, usize) {
    let mut row = Vec::new();
    let mut line = 0;
    let mut at = 0;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => {
                if row.is_empty() {
                    line = name.span().start().line;
                }
                row.push(plain(name));
                at += 1;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                return (in_braces(&row, group.stream()), at + 1);
            }
            _ => return (vec![(row, line)], at),
        }
        let colons = tokens.get(at..at + 2).is_some_and(|two| two.iter().all(is_colon));
        if !colons {
            return (vec![(row, line)], at);
        }
        at += 2;
    }
}

/// Returns the paths that a list in braces continues.
fn in_braces(start: &[String], stream: TokenStream) -> Vec<Written> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let pieces = tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
    let continued = pieces.flat_map(|piece| path(piece).0);
    // A comma at the end leaves an empty piece, which has no line.
    let continued = continued.filter(|(_, line)| *line > 0);
    continued
        .map(|(rest, line)| (start.iter().cloned().chain(rest).collect(), line))
        .collect()
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':')
}
