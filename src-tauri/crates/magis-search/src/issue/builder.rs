//! Collects what an issue says, line by line, and weighs it.

use super::{IssueQuery, Mention, Term};
use crate::examples::{self, Example};
use crate::section::{self, Section};
use crate::trace::{self, Frame, is_file, normal_path, place};
use crate::{literals, tokens};
use magis_core::RepoPath;
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, HashMap};

/// Title words count double, words in backticks a little more than plain ones (measured with the ranking's signals).
pub(super) const TITLE: f64 = 2.0;
const BACKTICKS: f64 = 1.5;
pub(super) const WORD_OF_A_PERSON: f64 = 2.0;
pub(super) const COMMENTS: f64 = 0.7;
/// A code block longer than this weighs as much as one of this many lines: it is a log.
const BLOCK_LINES: usize = 40;
/// The most distinct terms, names or paths that are searched for; an issue that means one thing has far fewer.
pub(super) const MOST_TERMS: usize = 400;
const MOST_NAMES: usize = 300;
/// The most characters that are read of a text, from both ends: what went wrong stands at one of them.
const MOST_CHARACTERS: usize = 200_000;

/// The parts of a query, as far as they are read.
#[derive(Default)]
pub(super) struct QueryBuilder {
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
    pub(super) fn text(&mut self, text: &str, weight: f64, title: f64) {
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

    pub(super) fn log(&mut self, text: &str) {
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

    pub(super) fn query(mut self) -> IssueQuery {
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
