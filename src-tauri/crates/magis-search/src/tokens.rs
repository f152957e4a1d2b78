//! Text as search terms: whole identifiers and their sub-words, lower case, lightly stemmed.
//!
//! Index and query use the same rules, so that `getUserName`, `get_user_name` and "user names" meet. Nothing here knows
//! a programming language.

/// The name under which the index knows these rules. A change of them needs a new name: indexes made with the old one are
/// then rebuilt.
pub(crate) const RULES: &str = "identifiers-2";

/// Longer runs of letters are data, not words.
const LONGEST: usize = 64;

/// Returns the terms of `text`, in its order. `snake_case`, `camelCase`, `PascalCase` and `HTTPServer2` give themselves
/// in lower case and their parts; `__all__` gives itself as well, with its underscores; a plain word gives its stem; Chinese, Japanese and Korean runs
/// give pairs of characters.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        word_terms(word, &mut found);
    }
    found
}

/// Returns the part of `word` that gives `term`, as it stands there.
pub(crate) fn spelling<'w>(word: &'w str, term: &str) -> Option<&'w str> {
    let words = word.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let spellings = words.flat_map(|word| [word, word.trim_matches('_')].into_iter().chain(parts(word)));
    spellings.into_iter().find(|part| {
        let lower = part.to_lowercase();
        lower == term || stem(&lower) == term
    })
}

/// Returns the parts of an identifier as it spells them: `HTTPServer_v2` gives `HTTP`, `Server`, `v`, `2`.
pub(crate) fn parts(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut previous: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if starts_part(previous, c, next) && at > start {
            found.push(&word[start..at]);
            start = at;
        }
        if c == '_' {
            start = at + 1;
        }
        previous = Some(c);
    }
    if start < word.len() {
        found.push(&word[start..]);
    }
    found
}

/// Returns the stem of a lower-case English word: plural, `-ing`, `-ed`. Wrong stems do no harm as long as they agree.
pub(crate) fn stem(word: &str) -> String {
    if word.len() < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    let singular = match word {
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        _ if ["sses", "shes", "ches", "xes", "zes"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            word[..word.len() - 2].to_owned()
        }
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    };
    for suffix in ["ing", "ed"] {
        let Some(root) = singular.strip_suffix(suffix) else {
            continue;
        };
        if root.len() < 3 || !root.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        let bytes = root.as_bytes();
        let doubled =
            bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && !matches!(bytes[bytes.len() - 1], b'l' | b's');
        return if doubled {
            root[..root.len() - 1].to_owned()
        } else {
            without_e(root)
        };
    }
    without_e(&singular)
}

/// Returns words that stand in every issue and every file.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

fn word_terms(word: &str, found: &mut Vec<String>) {
    let whole = word;
    let word = word.trim_matches('_');
    if word.is_empty() || word.len() > LONGEST * 2 {
        return;
    }
    // Names like these mean one thing; of `__all__` nothing else is left.
    if whole.starts_with("__") && whole.ends_with("__") && whole.len() <= LONGEST {
        found.push(whole.to_lowercase());
    }
    if word.chars().any(is_ideograph) {
        return pairs(word, found);
    }
    let parts = parts(word);
    if parts.len() > 1 && word.len() <= LONGEST {
        found.push(word.to_lowercase());
    }
    for part in &parts {
        let lower = part.to_lowercase();
        let numeric = lower.bytes().all(|byte| byte.is_ascii_digit());
        let worth = if numeric {
            parts.len() == 1 && (2..=5).contains(&lower.len())
        } else {
            lower.len() >= 2
        };
        if worth && lower.len() <= LONGEST && !is_stop_word(&lower) {
            found.push(stem(&lower));
        }
    }
}

fn pairs(word: &str, found: &mut Vec<String>) {
    let characters: Vec<char> = word.chars().collect();
    if characters.len() == 1 {
        found.push(word.to_owned());
    }
    found.extend(
        characters
            .windows(2)
            .map(|pair| pair.iter().collect::<String>().to_lowercase()),
    );
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn starts_part(previous: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(previous) = previous else { return false };
    if c == '_' {
        return true;
    }
    let camel = c.is_uppercase()
        && (previous.is_lowercase() || (previous.is_uppercase() && next.is_some_and(char::is_lowercase)));
    camel || (previous.is_numeric() != c.is_numeric() && previous != '_')
}

fn without_e(word: &str) -> String {
    match word.strip_suffix('e') {
        Some(root) if root.len() >= 3 => root.to_owned(),
        _ => word.to_owned(),
    }
}

/// Sorted, for the binary search.
const STOP_WORDS: [&str; 131] = [
    "about",
    "actual",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "bug",
    "but",
    "by",
    "can",
    "cannot",
    "code",
    "could",
    "describe",
    "did",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "each",
    "else",
    "even",
    "example",
    "expected",
    "following",
    "for",
    "from",
    "get",
    "gets",
    "had",
    "has",
    "have",
    "having",
    "here",
    "how",
    "however",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "isn",
    "issue",
    "it",
    "its",
    "just",
    "like",
    "ll",
    "make",
    "may",
    "me",
    "might",
    "more",
    "most",
    "my",
    "need",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "ok",
    "on",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "please",
    "same",
    "see",
    "seems",
    "self",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "too",
    "under",
    "up",
    "use",
    "used",
    "using",
    "ve",
    "very",
    "was",
    "way",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "terms of {text:?}");
    }

    #[test]
    fn an_identifier_gives_itself_and_its_parts() {
        check("get_user_name", &["get_user_name", "user", "nam"]);
        check("parseHTTPHeader", &["parsehttpheader", "pars", "http", "header"]);
        check("XMLReader2", &["xmlreader2", "xml", "reader"]);
        check("__init__ and _private", &["__init__", "init", "privat"]);
        check("self.__all__", &["__all__"]);
        check(
            "a.separability_matrix()",
            &["separability_matrix", "separability", "matrix"],
        );
        check("utf8", &["utf8", "utf"]);
    }

    #[test]
    fn prose_is_stemmed_and_stop_words_go() {
        check(
            "The files are closing; it closed the caches",
            &["fil", "clos", "clos", "cach"],
        );
        check("stopped queries", &["stop", "query"]);
        check("class process status", &["class", "process", "status"]);
    }

    #[test]
    fn numbers_and_long_data_are_not_words() {
        check("1 404 1234567890", &["404"]);
        check(&"x".repeat(200), &[]);
    }

    #[test]
    fn other_scripts_give_words_or_pairs() {
        check("Größe Überlauf", &["größe", "überlauf"]);
        check("索引損壊", &["索引", "引損", "損壊"]);
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }
}
