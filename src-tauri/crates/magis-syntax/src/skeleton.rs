//! A file shortened to what it offers: heads, first lines of documentation, constants, imports.
//!
//! It chooses among the lines of the file and writes none of its own but the notes of what was left out.

use crate::layout::indent_of;
use crate::scan::{Definition, Scan, capped, scan};
use crate::shape::Inside;
use crate::tree::{joined, parse};
use crate::{SourceLanguage, SymbolKind};
use magis_core::{LineSpan, RepoPath};
use std::collections::BTreeMap;

/// Longer lines are cut, in characters.
const LINE_CHARS: usize = 200;
/// A body of one line of at most this many characters stays: a note would not be shorter.
const SHORT_BODY_CHARS: usize = 100;

/// A file with the bodies left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// The shortened text; what was left out stands in it as a comment.
    pub text: String,
    /// How many lines of the file stand in it.
    pub kept_lines: u32,
    /// How many lines the file has.
    pub total_lines: u32,
}

/// Returns the skeleton in full detail; none for an unknown language.
pub fn skeleton(path: &RepoPath, text: &str) -> Option<Skeleton> {
    skeleton_within(path, text, usize::MAX)
}

/// Returns the most detailed skeleton of at most `max_chars` characters: documentation goes first, then functions
/// within functions, private members, constants, and at last whatever stands at the end. The text says what went. None
/// for an unknown language.
pub fn skeleton_within(path: &RepoPath, text: &str, max_chars: usize) -> Option<Skeleton> {
    let language = SourceLanguage::of(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = parse(language, text)?;
    let page = Page::new(text, &scan(language, &tree, text), language);
    let mut last = None;
    for dropped in [
        None,
        Some(Detail::Documentation),
        Some(Detail::Nested),
        Some(Detail::Private),
        Some(Detail::Constant),
    ] {
        let skeleton = page.without(dropped);
        if skeleton.text.chars().count() <= max_chars {
            return Some(skeleton);
        }
        last = Some(skeleton);
    }
    last.map(|skeleton| page.cut(&skeleton, max_chars))
}

/// How readily a line is given up, the first first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Documentation,
    Nested,
    Private,
    Constant,
    Essential,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    /// Comments go without a note.
    Comment,
    /// Goes, and a note says so.
    Code,
    Kept(Detail),
}

struct Page<'s> {
    language: SourceLanguage,
    source: Vec<&'s str>,
    /// What each line is before anything is chosen.
    plain: Vec<Line>,
    lines: Vec<Line>,
    /// What stands instead of a line, by its index.
    rewritten: BTreeMap<usize, String>,
}

impl<'s> Page<'s> {
    fn new(text: &'s str, found: &Scan, language: SourceLanguage) -> Self {
        let source: Vec<&str> = text.lines().collect();
        let mut plain: Vec<Line> = source
            .iter()
            .map(|line| {
                if line.trim().is_empty() {
                    Line::Blank
                } else {
                    Line::Code
                }
            })
            .collect();
        for comment in found.comments.iter().filter(|comment| comment.own_line) {
            plain
                .iter_mut()
                .take(comment.span.last() as usize)
                .skip(comment.span.first() as usize - 1)
                .for_each(|line| {
                    if *line == Line::Code {
                        *line = Line::Comment;
                    }
                });
        }
        for span in &found.docstrings {
            let range = (span.first() as usize - 1).min(plain.len())..(span.last() as usize).min(plain.len());
            plain[range].fill(Line::Comment);
        }
        let mut page = Self {
            language,
            lines: plain.clone(),
            plain,
            source,
            rewritten: BTreeMap::new(),
        };
        for span in &found.import_spans {
            page.keep_on_one_line(*span);
        }
        page.keep_definitions(&found.definitions, &found.long_members);
        page.keep_docs(found);
        for frame in &found.frames {
            let best = page.range(*frame).skip(1).filter_map(|at| page.kept(at)).max();
            let at = frame.first() as usize - 1;
            if let (Some(detail), Some(line)) = (best, page.lines.get_mut(at))
                && *line == Line::Code
            {
                *line = Line::Kept(detail);
                let closing = frame.last() as usize - 1;
                if page.lines.get(closing) == Some(&Line::Code) && is_closing(page.source[closing]) {
                    page.lines[closing] = Line::Kept(detail);
                }
            }
        }
        page
    }

    fn kept(&self, at: usize) -> Option<Detail> {
        match self.lines.get(at) {
            Some(Line::Kept(detail)) => Some(*detail),
            _ => None,
        }
    }

    fn range(&self, span: LineSpan) -> std::ops::Range<usize> {
        let end = (span.last() as usize).min(self.source.len());
        (span.first() as usize - 1).min(end)..end
    }

    fn keep_on_one_line(&mut self, span: LineSpan) {
        let range = self.range(span);
        if range.len() > 1 {
            let first = range.start;
            let indent = indent_of(self.source[first]);
            let comment = self.language.comment_prefix();
            let uncommented = |line: &&str| {
                let line = line.trim();
                line.split(&format!(" {comment}"))
                    .next()
                    .filter(|_| !line.starts_with(comment))
                    .map(ToOwned::to_owned)
            };
            let lines: Vec<String> = self.source[range.clone()].iter().filter_map(uncommented).collect();
            let whole = joined(&lines.join("\n"));
            self.rewritten
                .insert(first, capped(&format!("{indent}{whole}"), LINE_CHARS));
            self.lines[range.clone()].fill(Line::Comment);
        }
        if let Some(first) = self.lines.get_mut(range.start) {
            *first = Line::Kept(Detail::Essential);
        }
    }

    fn keep_definitions(&mut self, definitions: &[Definition], long_members: &[LineSpan]) {
        let mut open: Vec<(LineSpan, Detail)> = Vec::new();
        let mut long_members = long_members.iter().peekable();
        for definition in definitions {
            while open
                .last()
                .is_some_and(|(span, _)| span.last() < definition.span.first())
            {
                open.pop();
            }
            while let Some(member) = long_members.next_if(|member| member.first() < definition.span.first()) {
                self.shorten(*member);
            }
            let own = match definition.symbol_kind() {
                _ if definition.inside == Inside::Function => Detail::Nested,
                Some(SymbolKind::Constant) => Detail::Constant,
                _ if definition.private => Detail::Private,
                _ => Detail::Essential,
            };
            let detail = open.last().map_or(own, |(_, outer)| own.min(*outer));
            open.push((definition.span, detail));
            self.keep_definition(definition, detail);
        }
        for member in long_members {
            self.shorten(*member);
        }
    }

    fn keep_definition(&mut self, definition: &Definition, detail: Detail) {
        let body_first = definition.body_first.max(definition.span.first());
        let head_last = definition.head_last.clamp(body_first, definition.span.last());
        let whole = self.range(definition.span);
        let (lead, head, body) = (
            whole.start..body_first as usize - 1,
            (body_first as usize - 1).min(whole.end)..(head_last as usize).min(whole.end),
            (head_last as usize).min(whole.end)..whole.end,
        );
        for at in lead {
            if self.plain[at] == Line::Code {
                self.lines[at] = Line::Kept(detail);
            }
        }
        let constant = definition.symbol_kind() == Some(SymbolKind::Constant);
        if !definition.has_body && head.len() > 3 && constant {
            self.lines[head.start] = Line::Kept(detail);
            self.leave_out(head.start + 1..head.end, detail);
            return;
        }
        for at in head {
            if self.plain[at] != Line::Blank {
                self.lines[at] = Line::Kept(detail);
            }
        }
        if definition.holds_members() {
            for at in body {
                if self.plain[at] == Line::Code && self.lines[at] == Line::Code {
                    self.lines[at] = Line::Kept(detail);
                }
            }
        } else {
            self.leave_out(body, detail);
        }
    }

    /// A member of several lines keeps its first.
    fn shorten(&mut self, member: LineSpan) {
        let range = self.range(member);
        if let Some(detail) = self.kept(range.start) {
            self.leave_out(range.start + 1..range.end, detail);
        }
    }

    /// Leaves the lines out, but for a closing bracket at their end and for a single short line.
    fn leave_out(&mut self, range: std::ops::Range<usize>, detail: Detail) {
        let Some(last) = range.clone().last() else { return };
        self.lines[range.clone()].copy_from_slice(&self.plain[range.clone()]);
        if is_closing(self.source[last]) {
            self.lines[last] = Line::Kept(detail);
        }
        let mut code = range.filter(|at| self.lines[*at] == Line::Code);
        if let (Some(at), None) = (code.next(), code.next())
            && self.source[at].trim().chars().count() <= SHORT_BODY_CHARS
        {
            self.lines[at] = Line::Kept(detail);
        }
    }

    fn keep_docs(&mut self, found: &Scan) {
        for docstring in &found.docstrings {
            let range = self.range(*docstring);
            if range.is_empty() {
                continue;
            }
            let first = range.start;
            let indent = indent_of(self.source[first]);
            let body = self.source[first].trim();
            let open: String = body.chars().take_while(|c| !matches!(c, '"' | '\'')).collect();
            let quote = if body[open.len()..].starts_with('\'') {
                "'''"
            } else {
                "\"\"\""
            };
            let words = |line: &'s str| {
                line.trim()
                    .trim_start_matches(open.as_str())
                    .trim_matches(['"', '\''])
                    .trim()
            };
            let said = range
                .clone()
                .map(|at| words(self.source[at]))
                .find(|words| !words.is_empty());
            if range.len() > 1 {
                let rewritten = format!("{indent}{open}{quote}{}{quote}", said.unwrap_or_default());
                self.rewritten.insert(first, rewritten);
            }
            self.lines[range].fill(Line::Comment);
            self.lines[first] = Line::Kept(Detail::Documentation);
        }
        let mut previous_last = 0;
        for comment in found.comments.iter().filter(|comment| comment.own_line) {
            let inner = self
                .source
                .get(comment.span.first() as usize - 1)
                .is_some_and(|line| line.trim().starts_with("//!"));
            let continues = comment.span.first() <= previous_last + 1 && previous_last > 0;
            previous_last = comment.span.last();
            let range = self.range(comment.span);
            let shown = self
                .lines
                .get(range.end..)
                .unwrap_or_default()
                .iter()
                .find(|line| **line != Line::Comment);
            let documents = inner || (comment.documents && matches!(shown, Some(Line::Kept(_))));
            if continues || !documents || range.is_empty() {
                continue;
            }
            let first = range.start;
            if range.len() > 1 {
                let words = |at: usize| {
                    self.source[at]
                        .trim()
                        .trim_start_matches(['/', '*', '!'])
                        .trim_end_matches("*/")
                        .trim()
                };
                let said = range.map(words).find(|words| !words.is_empty()).unwrap_or_default();
                let opening = if self.source[first].trim().starts_with("/**") {
                    "/**"
                } else {
                    "/*"
                };
                self.rewritten
                    .insert(first, format!("{}{opening} {said} */", indent_of(self.source[first])));
            }
            self.lines[first] = Line::Kept(Detail::Documentation);
        }
    }

    /// Returns the text without the details up to `dropped`.
    fn without(&self, dropped: Option<Detail>) -> Skeleton {
        let prefix = self.language.comment_prefix();
        let mut text = String::new();
        let mut kept_lines = 0;
        if let Some(dropped) = dropped {
            let words = [
                (Detail::Documentation, "documentation"),
                (Detail::Nested, "functions within functions"),
                (Detail::Private, "private definitions"),
                (Detail::Constant, "constants"),
            ];
            let words: Vec<&str> = words
                .iter()
                .filter(|(detail, _)| *detail <= dropped)
                .map(|(_, word)| *word)
                .collect();
            text = format!("{prefix} left out to fit: {}\n", words.join(", "));
        }
        let mut gap = Gap::default();
        for (at, line) in self.lines.iter().enumerate() {
            match line {
                Line::Kept(detail) if dropped.is_none_or(|dropped| *detail > dropped) => {
                    gap.close(&mut text, prefix);
                    let whole = self.rewritten.get(&at).map_or(self.source[at], String::as_str);
                    text.push_str(&capped(whole.trim_end(), LINE_CHARS));
                    text.push('\n');
                    kept_lines += 1;
                }
                Line::Blank => gap.blank(),
                Line::Comment | Line::Kept(Detail::Documentation) => gap.other(),
                Line::Code | Line::Kept(_) => {
                    let line = self.source[at];
                    if gap.indent.is_some_and(|indent| indent_of(line).len() < indent.len()) {
                        gap.close(&mut text, prefix);
                    }
                    gap.code(line);
                }
            }
        }
        gap.close(&mut text, prefix);
        Skeleton {
            text,
            kept_lines,
            total_lines: self.source.len() as u32,
        }
    }

    /// Returns the beginning of a skeleton that is still too long, and a note that it is no more.
    fn cut(&self, skeleton: &Skeleton, max_chars: usize) -> Skeleton {
        let prefix = self.language.comment_prefix();
        let all = skeleton.text.lines().count();
        let note = |left: usize| format!("{prefix} ... the other {left} lines of this outline are left out\n");
        let room = max_chars.saturating_sub(note(all).chars().count());
        let mut text = String::new();
        let (mut used, mut taken, mut kept_lines) = (0, 0, 0);
        let notes = [format!("{prefix} ... "), format!("{prefix} left out to fit")];
        for line in skeleton.text.lines() {
            used += line.chars().count() + 1;
            if used > room {
                break;
            }
            text.push_str(line);
            text.push('\n');
            taken += 1;
            let line = line.trim_start();
            kept_lines += u32::from(!line.is_empty() && !notes.iter().any(|note| line.starts_with(note)));
        }
        text.push_str(&note(all - taken));
        let text = text.chars().take(max_chars).collect();
        Skeleton {
            text,
            kept_lines,
            total_lines: skeleton.total_lines,
        }
    }
}

/// Lines left out in a row.
#[derive(Default)]
struct Gap<'s> {
    /// The lines from the first to the last of code.
    lines: u32,
    /// The blank lines and comments behind the last of code.
    pending: u32,
    /// The blank lines at the end.
    blanks: u32,
    /// The indentation of the first line of code.
    indent: Option<&'s str>,
}

impl<'s> Gap<'s> {
    fn blank(&mut self) {
        self.blanks += 1;
        self.pending += 1;
    }

    fn other(&mut self) {
        self.blanks = 0;
        self.pending += 1;
    }

    fn code(&mut self, line: &'s str) {
        if self.indent.is_none() {
            (self.pending, self.indent) = (0, Some(indent_of(line)));
        }
        self.lines += self.pending + 1;
        (self.pending, self.blanks) = (0, 0);
    }

    fn close(&mut self, text: &mut String, prefix: &str) {
        let gap = std::mem::take(self);
        if let Some(indent) = gap.indent {
            let lines = if gap.lines == 1 { "line" } else { "lines" };
            text.extend([indent, prefix, " ... ", &gap.lines.to_string(), " ", lines, "\n"]);
        }
        if gap.blanks > u32::from(gap.indent.is_some()) && !text.is_empty() {
            text.push('\n');
        }
    }
}

/// Returns whether a line does nothing but close what is open.
fn is_closing(line: &str) -> bool {
    let line = line.trim();
    line == "end" || (line.len() <= 3 && line.starts_with(['}', ')', ']']))
}
