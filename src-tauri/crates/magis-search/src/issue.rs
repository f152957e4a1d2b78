//! What an issue says, as a query: weighted terms, names, paths, modules and stack frames.
//!
//! Reading it is linear in its length. It does not look at the repository: what a name or path means there is `rank`'s.

mod builder;

use crate::examples::Example;
use crate::trace::Frame;
use builder::{COMMENTS, QueryBuilder, TITLE, WORD_OF_A_PERSON};
use magis_core::{Hint, Issue};

/// An issue, read once for searching.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IssueQuery {
    /// Search terms with their weights, heaviest first.
    pub terms: Vec<Term>,
    /// The terms of its first line, heaviest first.
    pub title: Vec<Term>,
    /// Identifiers as the issue spells them, heaviest first; dotted ones as `Type.method`.
    pub identifiers: Vec<Mention>,
    /// Paths and file names, `/`-separated, heaviest first.
    pub paths: Vec<Mention>,
    /// Dotted module names, with dots (`a.b.c`, also for `a::b::c`), heaviest first.
    pub modules: Vec<Mention>,
    /// Stack frames, innermost first.
    pub frames: Vec<Frame>,
    /// Its code, in its order.
    pub examples: Vec<Example>,
    /// Runs of three words in the order the issue has them, with their weights: what a message may say.
    pub runs: Vec<(String, f64)>,
    /// What was left out and why, in sentences for a person.
    pub notes: Vec<String>,
}

/// A search term and how much it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// As the index has it: lower case, a plain word as its stem.
    pub text: String,
    /// As the issue first spells it: for people.
    pub spelled: String,
    /// Its weight; 1 is one plain word of the body.
    pub weight: f64,
}

/// Something the issue names, and how much it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// As the issue spells it.
    pub text: String,
    /// Its weight; 1 is one mention in the body.
    pub weight: f64,
}

impl IssueQuery {
    /// Reads `issue` and what is known beyond it.
    pub fn of(issue: &Issue, hints: &[Hint]) -> Self {
        let mut reading = QueryBuilder::default();
        reading.text(issue.text(), 1.0, TITLE);
        for hint in hints {
            match hint {
                Hint::Word(text) => reading.text(text, WORD_OF_A_PERSON, 1.0),
                Hint::Comments(text) => reading.text(text, COMMENTS, 1.0),
                Hint::FailingLog(text) => reading.log(text),
            }
        }
        reading.query()
    }
}

#[cfg(test)]
mod tests {
    use super::builder::MOST_TERMS;
    use super::*;

    fn query(text: &str) -> IssueQuery {
        IssueQuery::of(&Issue::new(text).unwrap(), &[])
    }

    fn weight(found: &[Mention], text: &str) -> f64 {
        found
            .iter()
            .find(|mention| mention.text == text)
            .map_or(0.0, |mention| mention.weight)
    }

    fn term(query: &IssueQuery, text: &str) -> f64 {
        query
            .terms
            .iter()
            .find(|term| term.text == text)
            .map_or(0.0, |term| term.weight)
    }

    fn check_paths(text: &str, expected: &[&str]) {
        let mut found: Vec<String> = query(text).paths.into_iter().map(|mention| mention.text).collect();
        found.sort();
        assert_eq!(found, expected, "paths of {text:?}");
    }

    fn check_modules(text: &str, expected: &[&str]) {
        let mut found: Vec<String> = query(text).modules.into_iter().map(|mention| mention.text).collect();
        found.sort();
        assert_eq!(found, expected, "modules of {text:?}");
    }

    #[test]
    fn title_words_weigh_most_then_backticks_then_plain_words() {
        let query = query("# Crash on paste\nThe `clipboard` breaks the window");
        assert!(term(&query, "past") > term(&query, "clipboard"));
        assert!(term(&query, "clipboard") > term(&query, "window"));
        assert_eq!(query.terms.first().map(|term| term.text.as_str()), Some("crash"));
    }

    #[test]
    fn paths_are_found_whole_quoted_and_with_places() {
        check_paths("bug in `src/net/url.rs`.", &["src/net/url.rs"]);
        check_paths(
            "see src\\net\\url.cpp:12:3, and \"gson.Gson.java\"",
            &["gson.Gson.java", "src/net/url.cpp"],
        );
        check_paths("at https://github.com/o/r/blob/main/lib/a.js#L12-L14 ok", &["lib/a.js"]);
        check_paths("require('lib/core/dispatch')", &["lib/core/dispatch"]);
        check_paths("version 3.4 of numpy.array e.g. this", &[]);
    }

    #[test]
    fn dotted_names_are_modules_and_their_ends_identifiers() {
        check_modules("`astropy.modeling.separable` fails", &["astropy.modeling.separable"]);
        check_modules("tokio::sync::mpsc::Sender panics", &["tokio.sync.mpsc.Sender"]);
        let query = query("Session.request hangs");
        assert!(weight(&query.identifiers, "Session.request") > 0.0);
        assert!(weight(&query.identifiers, "request") > 0.0);
    }

    #[test]
    fn a_shaped_identifier_outweighs_a_plain_word() {
        let query = query("Title\nthe max_body_length of things");
        assert!(weight(&query.identifiers, "max_body_length") > 2.0 * weight(&query.identifiers, "things"));
    }

    #[test]
    fn a_long_log_weighs_no_more_than_a_short_one() {
        let log = |lines: usize| query(&format!("T\n```\n{}\n```\nend", "needle\n".repeat(lines)));
        assert!(term(&log(4000), "needl") <= term(&log(40), "needl") + 1e-9);
    }

    #[test]
    fn comments_of_a_template_are_not_the_issue() {
        assert!(term(&query("T\n<!-- elephants\n-->\nmouse"), "elephant") == 0.0);
    }

    #[test]
    fn a_huge_issue_is_cut_visibly() {
        let words = (0..120_000)
            .map(|number| format!("word{number}x"))
            .collect::<Vec<_>>()
            .join("\n");
        let query = query(&format!("Crash\n{words}"));
        assert_eq!(query.terms.len(), MOST_TERMS);
        assert_eq!(query.notes.len(), 2, "{:?}", query.notes);
        assert!(term(&query, "crash") > 1.0);
    }

    #[test]
    fn hints_are_read_too() {
        let issue = Issue::new("Crash").unwrap();
        let hints = [
            Hint::Word("look at src/a.rs".into()),
            Hint::FailingLog("thread 'main' panicked at src/b.rs:4:5:".into()),
        ];
        let query = IssueQuery::of(&issue, &hints);
        assert!(weight(&query.paths, "src/a.rs") > weight(&query.paths, "src/b.rs"));
        assert_eq!(
            query.frames.iter().map(|frame| frame.path.as_str()).collect::<Vec<_>>(),
            ["src/b.rs"]
        );
    }

    #[test]
    fn reading_twice_gives_the_same() {
        let text = "Crash in a_b and c_d\nalso e_f g_h i_j";
        assert_eq!(query(text), query(text));
    }
}
