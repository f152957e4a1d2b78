//! Names of code in texts: in an issue, in the output of tests.

use std::collections::BTreeSet;

/// Returns the names of code that a text gives: words with an underscore or a capital inside, words that are called, quoted, or raised.
pub(crate) fn named(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, word) in word_places(text) {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        let inner_capital = word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        let is_code =
            word.contains('_') || inner_capital || behind == Some('(') || before == Some('`') || before == Some('.');
        if is_code && word.len() > 2 && !GENERAL.contains(&word) {
            found.insert(word);
        }
    }
    found
}

/// Names that stand in the output of any failing test.
const GENERAL: [&str; 14] = [
    "AssertionError",
    "Traceback",
    "TestCase",
    "assertEqual",
    "assert_eq",
    "self",
    "print",
    "repr",
    "len",
    "str",
    "list",
    "dict",
    "__init__",
    "test",
];

/// Returns the words of a text, with underscores.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    word_places(text).map(|(_, word)| word)
}

fn word_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Returns the identifiers of a text that are longer than two characters.
pub(crate) fn identifiers(text: &str) -> BTreeSet<&str> {
    words(text).filter(|word| word.len() > 2).collect()
}
