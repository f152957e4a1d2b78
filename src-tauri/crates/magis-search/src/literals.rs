//! The words of string literals in their order: an error message that an issue quotes leads to the file that says it.
//!
//! A message is broken into runs of three words, because what is put into it at run time is unlike in code and issue.
//! Which quotes a language has is not known here: what stands between two equal ones on a line is taken for a literal.

use std::collections::BTreeSet;

/// The number of words in a sequence.
const WORDS: usize = 3;
/// The most sequences of a text that are kept.
const MOST: usize = 4_000;

/// Returns the sequences in the string literals of a source text, each once.
pub(crate) fn of_source(text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| line.len() < 1_000) {
        for literal in literals(line) {
            sequences(literal, &mut found);
            found.extend(word(literal));
        }
        if found.len() > MOST {
            break;
        }
    }
    found.into_iter().collect()
}

/// Returns the sequences of an issue's text, line by line, each once.
pub(crate) fn of_issue(text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        sequences(line, &mut found);
        found.extend(quoted_words(line));
        if found.len() > MOST {
            break;
        }
    }
    found.into_iter().collect()
}

/// Returns the sequence as people write it.
pub(crate) fn spelled(sequence: &str) -> String {
    sequence.trim_start_matches('=').replace('~', " ")
}

/// Returns a literal that is one word: an option, a key, a header. Marked, since in running text it would say less.
fn word(literal: &str) -> Option<String> {
    let bare = literal.trim_start_matches('-');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    let fits = (3..=40).contains(&bare.len()) && bare.chars().all(plain) && bare.contains(|c: char| c.is_alphabetic());
    fits.then(|| format!("={}", bare.to_lowercase()))
}

/// Returns the words of an issue that may be a literal of their own: options (`--map-syntax`) and what stands in
/// quotes.
fn quoted_words(line: &str) -> Vec<String> {
    let options = line
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | '=' | '[' | ']'))
        .filter(|option| option.starts_with("--"))
        .filter_map(word);
    options.chain(literals(line).into_iter().filter_map(word)).collect()
}

/// Returns what stands between equal quotes.
fn literals(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'', '`']) {
        let quote = rest[open..].chars().next().unwrap_or('"');
        let inside = &rest[open + 1..];
        let Some(close) = inside.find(quote) else {
            // The other end is on another line.
            if inside.len() > 12 {
                found.push(inside);
            }
            break;
        };
        found.push(&inside[..close]);
        rest = &inside[close + 1..];
    }
    found
}

/// Runs of three words, not over a placeholder (`%s`, `{name}`, `${x}`).
fn sequences(text: &str, found: &mut BTreeSet<String>) {
    let mut words: Vec<String> = Vec::new();
    for raw in text.split_whitespace() {
        let holds_place = raw.contains(['%', '{', '}', '$', '<', '>']);
        let word: String = raw
            .chars()
            .filter(|c| c.is_alphanumeric() || *c == '_')
            .flat_map(char::to_lowercase)
            .collect();
        if holds_place || word.is_empty() || word.len() > 40 {
            words.clear();
            continue;
        }
        words.push(word);
        if words.len() >= WORDS {
            let run = &words[words.len() - WORDS..];
            if run.iter().map(String::len).sum::<usize>() >= 9 {
                found.insert(run.join("~"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[&str]) {
        assert_eq!(of_source(source), expected, "sequences of {source}");
    }

    #[test]
    fn a_message_gives_its_runs_of_words() {
        check(
            "raise ValueError('Cannot open the file')",
            &["cannot~open~the", "open~the~file"],
        );
        check("f(\"Unknown option {name} was given here\", x)", &["was~given~here"]);
        check("Arg::new(\"map-syntax\").long(\"--map-syntax\")", &["=map-syntax"]);
        check(
            "            logger.warning(__(\"no number is assigned for %s: %s\"), figtype, labelid,",
            &["is~assigned~for", "no~number~is", "number~is~assigned"],
        );
        check("x = call(a, b)  # no literal at all", &[]);
        check(
            "    \"a message that goes on",
            &["a~message~that", "message~that~goes", "that~goes~on"],
        );
    }

    #[test]
    fn an_issue_says_the_same_words() {
        assert!(of_issue("ValueError: Cannot open the file!").contains(&"open~the~file".to_owned()));
        assert!(of_issue("bat --map-syntax='x' fails").contains(&"=map-syntax".to_owned()));
        assert_eq!(spelled("open~the~file"), "open the file");
    }
}
