//! What an issue says, as a query: weighted terms, names, paths, modules and stack frames.
//!
//! Reading it is linear in its length. It does not look at the repository: what a name or path means there is `rank`'s.

use crate::examples::{self, Example};
use crate::section::{self, Section};
use crate::trace::{self, Frame, is_file, normal_path, place};
use crate::{literals, tokens};
use magis_core::{Hint, Issue, RepoPath};
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, HashMap};

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

/// Title words count double, words in backticks a little more than plain ones (measured with the ranking's signals).
const TITLE: f64 = 2.0;
const BACKTICKS: f64 = 1.5;
const WORD_OF_A_PERSON: f64 = 2.0;
const COMMENTS: f64 = 0.7;
/// A code block longer than this weighs as much as one of this many lines: it is a log.
const BLOCK_LINES: usize = 40;
/// So many distinct terms, names or paths are searched for; an issue that means one thing has far fewer.
const MOST_TERMS: usize = 400;
const MOST_NAMES: usize = 300;
/// So many characters are read of a text, from both ends: the fault stands at one of them.
const MOST_CHARACTERS: usize = 200_000;

#[derive(Default)]
struct QueryBuilder {
    title: HashMap<String, f64>,
    terms: HashMap<String, f64>,
    spelled: HashMap<String, String>,
    identifiers: HashMap<String, f64>,
    paths: HashMap<String, f64>,
    modules: HashMap<String, f64>,
    frames: Vec<Frame>,
    examples: Vec<Example>,
    runs: BTreeMap<String, f64>,
    notes: Vec<String>,
}

impl QueryBuilder {
    fn text(&mut self, text: &str, weight: f64, title: f64) {
        let ends = ends(text);
        if ends.len() > 1 {
            self.notes.push(format!(
                "The text has {} characters; its first and last {} are searched for",
                text.len(),
                MOST_CHARACTERS / 2
            ));
        }
        for (index, end) in ends.into_iter().enumerate() {
            let title = if index == 0 { title } else { 1.0 };
            let said = without_comments(end);
            self.messages(&said);
            self.examples.extend(examples::of_issue(&said));
            self.prose_and_blocks(&said, weight, title);
        }
    }

    fn log(&mut self, text: &str) {
        for end in ends(text) {
            self.messages(end);
            self.block(&end.lines().collect::<Vec<_>>(), 1.0);
            self.frames.extend(trace::frames(end));
        }
    }

    fn messages(&mut self, text: &str) {
        for run in literals::of_issue(text) {
            self.runs.insert(run, 1.0);
        }
    }

    fn prose_and_blocks(&mut self, text: &str, weight: f64, title: f64) {
        let mut title = Some(title);
        let mut block: Option<(&str, Vec<&str>)> = None;
        let mut section = Section::Story;
        for line in text.lines() {
            if block.is_none() {
                section = section::after(line).unwrap_or(section);
            }
            let weight = weight * section.weight();
            let fence = ["```", "~~~"]
                .into_iter()
                .find(|mark| line.trim_start().starts_with(mark));
            match (&mut block, fence) {
                (Some((mark, lines)), Some(fence)) if *mark == fence => {
                    let lines = std::mem::take(lines);
                    block = None;
                    self.block(&lines, weight);
                }
                (Some((_, lines)), _) => lines.push(line),
                // A fence that closes on its own line is code inside the prose.
                (None, Some(fence)) if line.trim().len() > 3 && line.trim()[3..].contains(fence) => {
                    self.prose_line(line, weight);
                }
                (None, Some(fence)) => block = Some((fence, Vec::new())),
                (None, None) if line.trim_matches(['#', ' ', '\t']).is_empty() => {}
                (None, None) => {
                    if title.is_some_and(|title| title > 1.0) {
                        for term in tokens::terms(line) {
                            *self.title.entry(term).or_default() += 1.0;
                        }
                    }
                    self.prose_line(line, weight * title.take().unwrap_or(1.0));
                }
            }
        }
        if let Some((_, lines)) = block {
            self.block(&lines, weight);
        }
        self.frames.extend(trace::frames(text));
    }

    fn prose_line(&mut self, line: &str, weight: f64) {
        for (index, part) in line.split('`').enumerate() {
            let code = index % 2 == 1;
            self.words(
                part,
                if code { weight * BACKTICKS } else { weight },
                if code { Source::Code } else { Source::Prose },
            );
        }
    }

    fn block(&mut self, lines: &[&str], weight: f64) {
        if section::is_listing(lines) {
            return;
        }
        let written = lines.iter().filter(|line| !line.trim().is_empty()).count();
        let share = (BLOCK_LINES as f64 / written.max(1) as f64).min(1.0);
        for line in lines.iter().filter(|line| !section::is_greeting(line)) {
            self.words(line, weight * share, Source::Code);
        }
    }

    fn words(&mut self, text: &str, weight: f64, source: Source) {
        for raw in text.split(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    ',' | ';' | '|' | '"' | '\'' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '=' | '*'
                )
        }) {
            if raw.is_empty() {
                continue;
            }
            if let Some(address) = raw.find("://")
                && !raw.starts_with("file")
            {
                self.address(&raw[address + 3..], weight);
                continue;
            }
            let word = raw.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '`' | '…' | '“' | '”'));
            self.word(word, weight, source);
        }
    }

    fn word(&mut self, word: &str, weight: f64, source: Source) {
        for term in tokens::terms(word) {
            let spelled = || tokens::spelling(word, &term).unwrap_or(&term).to_owned();
            if !self.spelled.contains_key(&term) {
                self.spelled.insert(term.clone(), spelled());
            }
            *self.terms.entry(term).or_default() += weight;
        }
        let at = place(word);
        if let Some((path, Some(line))) = at
            && source == Source::Prose
        {
            self.place(path, line);
        }
        let quoted = at.map_or(word, |(path, _)| path);
        let has_folder = quoted.contains(['/', '\\']);
        if is_file(quoted) && (has_folder || is_known_extension(quoted)) {
            add(&mut self.paths, normal_path(quoted), weight);
            return;
        }
        if has_folder && !quoted.starts_with('/') && quoted.split(['/', '\\']).all(is_plain_part) {
            // A module of JavaScript or Go (`lib/core/dispatch`), or two words with a slash: the repository decides.
            add(&mut self.paths, normal_path(quoted), weight * 0.5);
        }
        self.names(word, weight, source);
    }

    /// A place in the prose (`io.py:12`, a web address with its line) is as good as a trace of one frame.
    fn place(&mut self, path: &str, line: u32) {
        let path = normal_path(path);
        if !self.frames.iter().any(|frame| frame.path == path) {
            self.frames.push(Frame {
                path,
                function: None,
                line: Some(line),
                depth: 0,
            });
        }
    }

    /// Identifiers and dotted names of a word: `a.b.C.d`, `a::b::c`, `Foo#bar`, `plain_name`, `CamelCase`.
    fn names(&mut self, word: &str, weight: f64, source: Source) {
        for dotted in word
            .replace("::", ".")
            .replace("->", ".")
            .replace('#', ".")
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '$'))
        {
            let parts: Vec<&str> = dotted.split('.').filter(|part| !part.is_empty()).collect();
            if parts.iter().any(|part| part.starts_with(|c: char| c.is_ascii_digit())) {
                continue;
            }
            for part in &parts {
                let weight = weight * likeness(part, source, parts.len());
                if weight > 0.0 {
                    add(&mut self.identifiers, (*part).to_owned(), weight);
                }
            }
            if parts.len() > 1 {
                add(&mut self.modules, parts.join("."), weight);
                for pair in parts.windows(2) {
                    add(&mut self.identifiers, pair.join("."), weight);
                }
            }
        }
    }

    /// Of an address only a file of a repository's web view matters: `…/blob/<ref>/a/b.py#L3`.
    fn address(&mut self, address: &str, weight: f64) {
        let Some((_, rest)) = address.split_once("/blob/").or_else(|| address.split_once("/tree/")) else {
            return;
        };
        let Some((_, path)) = rest.split_once('/') else { return };
        if let Some((path, line)) = place(path) {
            if let Some(line) = line {
                self.place(path, line);
            }
            add(&mut self.paths, normal_path(path), weight);
        }
    }

    /// A path in a trace counts as a frame; quoted it is only where it stands elsewhere, too.
    fn take_frames_off_paths(&mut self) {
        for frame in &self.frames {
            if let Some(weight) = self.paths.get_mut(&frame.path) {
                *weight -= 1.0;
            }
        }
        self.paths.retain(|_, weight| *weight > 0.25);
    }

    fn query(mut self) -> IssueQuery {
        self.take_frames_off_paths();
        // A word said ten times does not say ten times as much.
        let terms = heaviest(
            self.terms.into_iter().map(|(text, weight)| (text, weight.sqrt())),
            MOST_TERMS,
        );
        if terms.1 > 0 {
            self.notes.push(format!(
                "The issue has {} search terms; the {MOST_TERMS} heaviest are searched for",
                terms.1 + MOST_TERMS
            ));
        }
        let title = heaviest(
            self.title.into_iter().map(|(text, times)| (text, times.sqrt())),
            MOST_TERMS,
        );
        let title = title.0.into_iter().map(|(text, weight)| Term {
            spelled: self.spelled.get(&text).unwrap_or(&text).clone(),
            text,
            weight,
        });
        let title = title.collect();
        let mentions = |found: HashMap<String, f64>| {
            let (kept, _) = heaviest(found.into_iter(), MOST_NAMES);
            kept.into_iter()
                .map(|(text, weight)| Mention { text, weight })
                .collect::<Vec<_>>()
        };
        IssueQuery {
            title,
            terms: terms
                .0
                .into_iter()
                .map(|(text, weight)| {
                    let spelled = self.spelled.remove(&text).unwrap_or_else(|| text.clone());
                    Term { text, spelled, weight }
                })
                .collect(),
            identifiers: mentions(self.identifiers),
            paths: mentions(self.paths),
            modules: mentions(self.modules),
            frames: self.frames,
            examples: self.examples,
            runs: self.runs.into_iter().collect(),
            notes: self.notes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Prose,
    Code,
}

/// Returns how much a word is like an identifier: certain by its form or its place, less as a capitalised or plain
/// word.
fn likeness(word: &str, source: Source, dotted: usize) -> f64 {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    if letters < 2 || (letters < 3 && !word.contains('_')) {
        return 0.0;
    }
    let shaped = word.trim_matches('_').contains('_') || tokens::parts(word).len() > 1 || word.starts_with('_');
    let stop = tokens::is_stop_word(&word.to_lowercase());
    match source {
        _ if shaped || dotted > 1 => 1.0,
        _ if stop => 0.0,
        Source::Code => 0.7,
        Source::Prose if word.starts_with(char::is_uppercase) => 0.4,
        Source::Prose if letters >= 4 => 0.25,
        Source::Prose => 0.0,
    }
}

fn add(to: &mut HashMap<String, f64>, text: String, weight: f64) {
    if !text.is_empty() {
        *to.entry(text).or_default() += weight;
    }
}

fn is_plain_part(part: &str) -> bool {
    part.len() > 1
        && part
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns whether the extension is one of a source or text file: `foo.bar` may be a name, `foo.py` is a file.
fn is_known_extension(path: &str) -> bool {
    const WITHOUT_GRAMMAR: [&str; 20] = [
        "pyx", "vue", "svelte", "swift", "scala", "toml", "cfg", "ini", "json", "yaml", "yml", "md", "rst", "txt",
        "html", "css", "sh", "xml", "gradle", "sql",
    ];
    let Ok(name) = RepoPath::new(path.rsplit('/').next().unwrap_or(path)) else {
        return false;
    };
    SourceLanguage::of(&name).is_some() || WITHOUT_GRAMMAR.contains(&name.extension().as_str())
}

/// Returns the heaviest entries, ties in the order of their texts, and how many were left out.
fn heaviest(found: impl Iterator<Item = (String, f64)>, most: usize) -> (Vec<(String, f64)>, usize) {
    let ordered: BTreeMap<String, f64> = found.collect();
    let mut entries: Vec<(String, f64)> = ordered.into_iter().collect();
    entries.sort_by(|a, b| b.1.total_cmp(&a.1));
    let left = entries.len().saturating_sub(most);
    entries.truncate(most);
    (entries, left)
}

/// Returns the text itself, or its two ends where it is huge.
fn ends(text: &str) -> Vec<&str> {
    if text.len() <= MOST_CHARACTERS {
        return vec![text];
    }
    let head = text.floor_char_boundary(MOST_CHARACTERS / 2);
    let tail = text.ceil_char_boundary(text.len() - MOST_CHARACTERS / 2);
    vec![&text[..head], &text[tail..]]
}

/// `<!-- … -->`: what an issue template says to its writer.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
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
