//! What the words around an output say of it, and the code that stands within prose.

use crate::reproduction::pattern::Pattern;
use serde::{Deserialize, Serialize};

/// What an issue says of something it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// It is called wrong.
    Wrong,
    /// It is what should be.
    Right,
    /// It is shown, and no word says which.
    Shown,
}

static RIGHT: Pattern = Pattern::new(
    r"(?i)\b(expect(s|ed|ing)?|should (be|have|give|return|print|show|output|look|render|raise|read|produce|become|result|work|get|see)|ought to|ideally|would (be|give|return|yield|print|show)|desired|correct(ly)?|works|able to|sensible|properly|would like|want(ed)?|supposed to|fine)\b",
);
static WRONG: Pattern = Pattern::new(
    r"(?i)\b(actual(ly)?|wrong(ly)?|incorrect(ly)?|inaccurate|bug|but|however|unexpected(ly)?|fail(s|ed|ing)?|error|crash(es)?|broken|invalid|bad|mess(es|ed)?|n't|doesn't|observed|currently|problem|misleading)\b",
);
static NOT_RIGHT: Pattern = Pattern::new(
    r"(?i)\b(un-?expected(ly)?|not (work|correct|expected)|n't work|instead of (the )?(expected|correct)|should(n't| not) )\b",
);
static GIVES: Pattern = Pattern::new(
    r"(?i)\b(output|outputs|result|results|get|gets|got|gives?|returns?|prints?|printed|shows?|yields?|produces?|produced|says?|raises?|throws?|error|errors|fails?|traceback|expected|actual|becomes?|message|warning|renders?|rendered|generates?|generated|following log|session|looks? like)\b",
);
static VALUE: Pattern = Pattern::new(
    r"(?i)\b(output|outputs|result|results|get|gets|got|gives?|returns?|prints?|printed|yields?|produces?|produced|expected|actual|becomes?|renders?|rendered|generates?|generated)\b",
);
static COMPLAINT: Pattern = Pattern::new(
    r"(?i)(\bwrong|incorrect|inaccurate|inconsisten|bug\b|fail|error|crash|broken|invalid|n't\b|\bnot\b|\bno\b|ignore|missing|unexpected|problem|mess|illegal|cannot|lost|lose|duplicate|twice|unable|issue|hidden|drop|remov|differ|misbehav|regression)",
);
static INLINE: Pattern = Pattern::new(r"(?:``((?:[^`\n]|`[^`\n])+)``|`([^`\n]+)`)");
static BARE_CALL: Pattern = Pattern::new(r"\b[A-Za-z_][\w.]*\(");
static OPERATION: Pattern = Pattern::new(r"[\w)\]] ?(?:\*\*|//|[*/%@&|^+<>=!-]=?) ?[\w(\[-]");
static FIRST_NAME: Pattern = Pattern::new(r"^[A-Za-z_]\w*(?:\.\w+)*");
static MAKES: Pattern = Pattern::new(
    r"\b(?:simplif(?:ies|y)|evaluates?|converts?|expands?|parses?|prints?|renders?|turns?|transforms?|reduces?|rewrites?) +(\S.*?) +(?:as though it (?:were|was)|as if it (?:were|was)|to|into|as) +(\S.*)$",
);
static GIVES_LAST: Pattern =
    Pattern::new(r"(?i)\b(?:gets?|got|gives?|gave|returns?|returned|expect(?:ed|s)?|instead of|shows?|prints?)[ :]*$");
static CONSTRUCTS: Pattern = Pattern::new(r"^(?:\w+(?:\.|::))*[A-Z]\w*[({]");
static ENDS: Pattern = Pattern::new(r" (?:for|when|if|but|which|while|instead|rather|in|with|and)\b|, ");
static STATES: Pattern = Pattern::new(
    r"(?i)\b(?:gets?|got|gives?|gave|returns?|returned|is|was|be|expect(?:ed|s)?|instead of|shows?|prints?)[ :]*$",
);
static NEXT_CALL: Pattern = Pattern::new(r"^\.[A-Za-z_]\w*\(");

static WANTS_ERROR: Pattern = Pattern::new(
    r"(?im)(?:^|[.!?] +)(?:raise|throw)s? (?:an? )?(?:[\w`.]+ )?`?\w*(?:error|exception)s?`? .*\b(?:when|if|for|on|unless)\b|\b(?:should|must|ought to) (?:not be (?:allowed|accepted)|be (?:refused|rejected|forbidden|an error)|raise|throw|fail)\b",
);

/// Returns whether an issue wants an error where there is none.
pub fn wants_error(issue: &str) -> bool {
    WANTS_ERROR.is_match(issue)
}

/// Returns what the heading and the prose before a block say of it. The last sentence counts, and before the heading.
pub fn stance(heading: &str, lead: &str) -> Stance {
    let lead = lead.trim_end();
    let last_line = lead.rsplit("\n\n").next().unwrap_or(lead);
    let sentence = last_line.rsplit(". ").next().unwrap_or(last_line);
    match told(sentence) {
        Stance::Shown => told(heading),
        said @ (Stance::Wrong | Stance::Right) => said,
    }
}

fn told(words: &str) -> Stance {
    let right = RIGHT.is_match(words) && !NOT_RIGHT.is_match(words);
    let wrong = WRONG.is_match(words) || NOT_RIGHT.is_match(words);
    match (right, wrong) {
        (true, false) => Stance::Right,
        (false, true) => Stance::Wrong,
        // "Instead, it should be" and "should be … but is" say both; what runs will tell.
        (true, true) | (false, false) => Stance::Shown,
    }
}

/// Returns whether words announce the value or the output of what stands above, rather than a failure.
pub fn announces_value(words: &str) -> bool {
    let last = words.trim_end().lines().last().unwrap_or_default();
    VALUE.is_match(last.rsplit(". ").next().unwrap_or(last))
}

/// Returns whether words announce an output.
pub fn announces_output(words: &str) -> bool {
    let last = words.trim_end().lines().last().unwrap_or_default();
    GIVES.is_match(last.rsplit(". ").next().unwrap_or(last))
}

/// Returns whether words say that something is at fault.
pub fn complains(words: &str) -> bool {
    COMPLAINT.is_match(words)
}

/// A piece of code within prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inline<'a> {
    pub code: &'a str,
    /// The words of its sentence before it, with other pieces of code.
    pub sentence: &'a str,
    /// The words since the piece of code before it.
    pub since: &'a str,
}

impl Inline<'_> {
    /// Returns whether the words before it state it as a value: "it gives …", "I expected …".
    pub fn is_stated(&self) -> bool {
        STATES.is_match(self.since)
    }

    /// Returns whether it is a value that is stated by how it is made, `Err(Empty)`, which looks like a call.
    pub fn is_stated_as_made(&self) -> bool {
        let opened = CONSTRUCTS.find(self.code).map(|start| start.end() - 1);
        let is_whole = |opened: usize| closing(&self.code[opened..]) == Some(self.code.len() - opened);
        GIVES_LAST.is_match(self.since) && opened.is_some_and(is_whole)
    }
}

/// Returns the pieces of code within prose.
pub fn inline_code(prose: &str) -> Vec<Inline<'_>> {
    let mut found = Vec::new();
    let mut end = 0;
    for parts in INLINE.captures_iter(prose) {
        let (Some(whole), Some(code)) = (parts.get(0), parts.get(1).or_else(|| parts.get(2))) else {
            continue;
        };
        let before = prose.get(..whole.start()).unwrap_or_default();
        let since = prose.get(end..whole.start()).unwrap_or_default();
        let last = |words: &'_ str| words.rfind(". ").map_or(0, |at| at + 2);
        found.push(Inline {
            code: code.as_str().trim(),
            sentence: &before[last(before)..],
            since: &since[last(since)..],
        });
        end = whole.end();
    }
    found
}

/// Returns prose without those pieces of code that are `unwanted`.
pub fn without_inline(prose: &str, unwanted: impl Fn(&str) -> bool) -> String {
    let (mut kept, mut end) = (String::new(), 0);
    for parts in INLINE.captures_iter(prose) {
        let (Some(whole), Some(code)) = (parts.get(0), parts.get(1).or_else(|| parts.get(2))) else {
            continue;
        };
        if unwanted(code.as_str().trim()) {
            kept.push_str(&prose[end..whole.start()]);
            end = whole.end();
        }
    }
    kept + &prose[end..]
}

/// Returns code with nothing between its quotes.
pub fn without_strings(code: &str) -> String {
    let (mut kept, mut open, mut escaped) = (String::new(), None, false);
    for c in code.chars() {
        match open {
            Some(quote) if c == quote && !escaped => open = None,
            Some(_) => {
                escaped = c == '\\' && !escaped;
                continue;
            }
            None if matches!(c, '\'' | '"') => open = Some(c),
            None => {}
        }
        escaped = false;
        kept.push(c);
    }
    kept
}

/// Returns whether a piece of code within prose calls or computes something.
pub fn computes(code: &str) -> bool {
    BARE_CALL.is_match(code) || OPERATION.is_match(code) && !code.starts_with('-')
}

/// Returns the calls that stand in a text without quotes around them, up to the bracket that closes each.
pub fn bare_calls(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = BARE_CALL.find(rest) {
        let opened = start.end() - 1;
        let Some(length) = closing(&rest[opened..]) else {
            rest = &rest[start.end()..];
            continue;
        };
        let mut end = opened + length;
        while let Some(next) = NEXT_CALL.find(&rest[end..]) {
            let Some(length) = closing(&rest[end + next.end() - 1..]) else {
                break;
            };
            end += next.end() - 1 + length;
        }
        found.push(&rest[start.start()..end]);
        rest = &rest[end..];
    }
    found
}

/// Finds what a sentence says a function makes of an expression: "trigsimp turns x + y into x".
pub fn made_of(prose: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for sentence in prose.split(". ").flat_map(|part| part.split('\n')) {
        let (Some(name), Some(parts)) = (FIRST_NAME.find(sentence.trim_start()), MAKES.captures(sentence)) else {
            continue;
        };
        if let (Some(from), Some(to)) = (parts.get(1), parts.get(2)) {
            let code = |text: &str| computes(text) && !text.contains(", ");
            let to = ENDS
                .find(to.as_str())
                .map_or(to.as_str(), |end| &to.as_str()[..end.start()])
                .trim_end_matches('.');
            if code(from.as_str()) && code(to) {
                found.push((format!("{}({})", name.as_str(), from.as_str()), to));
            }
        }
    }
    found
}

fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
