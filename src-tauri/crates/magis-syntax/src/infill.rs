//! What a model wrote for a hole in a text, made to fit: cut where it runs on past the hole, and indented as the hole is.
//!
//! The lines themselves are never changed, only left out and moved.

use crate::layout::{indent_of, reindent};
use crate::{SourceLanguage, syntax_errors};
use magis_core::RepoPath;

/// A line this short (`}`, `)`, `end`) is found again anywhere, and proves no end alone.
const TELLING_CHARS: usize = 4;
/// How many bytes are parsed at most to find what fits.
const PARSED_BYTES: usize = 24_000_000;

/// Returns the lines of `answer` that belong between `before` and `after`, where whole lines were left out:
/// `indent_like`, by which the answer is indented. The answer is cut where `after` begins again, in Python also where
/// the hole's block ends. If the text then parses worse than it did, last lines are dropped and the block is moved as a
/// whole; where that does not help either, the first cut is returned. None where nothing but white space is left.
pub fn fit_infill(path: &RepoPath, before: &str, answer: &str, after: &str, indent_like: &str) -> Option<String> {
    let answer = answer.replace("\r\n", "\n");
    let language = SourceLanguage::of(path);
    let hole = Hole::new(language, before, after, indent_like);
    let lines = hole.without_lead(answer.lines().map(str::trim_end).collect());
    let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    let fitted = hole.cut(first_line_fitted(&lines, &hole.expected, language));
    let finish = |lines: &[String]| finished(lines, before, after, indent_like);
    let first = finish(&fitted)?;
    let Some(language) = language else {
        return Some(first);
    };
    let mut left = PARSED_BYTES;
    let mut errors = |middle: &str| {
        let whole = [before, middle, after].concat();
        left = left.checked_sub(whole.len())?;
        Some(syntax_errors(language, &whole))
    };
    let Some(base) = errors(indent_like) else {
        return Some(first);
    };
    let moved: Vec<String> = reindent(&fitted.join("\n"), indent_like)
        .lines()
        .map(str::to_owned)
        .collect();
    let level: Vec<String> = all_on_one_level(&fitted, &hole.expected);
    for block in [&fitted, &moved, &level] {
        for kept in (block.len().div_ceil(2)..=block.len()).rev() {
            let Some(text) = finish(&block[..kept]) else {
                continue;
            };
            match errors(&text) {
                None => return Some(first),
                Some(found) if found <= base => return Some(text),
                Some(_) => {}
            }
        }
    }
    Some(first)
}

/// Where an answer has to fit.
struct Hole<'s> {
    language: Option<SourceLanguage>,
    /// The indentation of its first line.
    expected: String,
    /// The smallest indentation in it.
    least: usize,
    /// How many braces it closes that stand before it, as a number below zero.
    shallowest: i32,
    /// The lines before it that are not blank, the last first.
    lead: Vec<&'s str>,
    /// The first lines behind it that are not blank.
    next: Vec<&'s str>,
    first: Option<&'s str>,
}

impl<'s> Hole<'s> {
    fn new(language: Option<SourceLanguage>, before: &'s str, after: &'s str, indent_like: &'s str) -> Self {
        let full = |line: &&str| !line.trim().is_empty();
        let lead: Vec<&str> = before.lines().rev().filter(full).take(3).collect();
        let next: Vec<&str> = after.lines().filter(full).take(4).collect();
        let own = indent_like.lines().filter(full);
        let model = own.clone().next().or(next.first().copied()).or(lead.first().copied());
        let expected = model.map_or("", indent_of).to_owned();
        Self {
            language,
            least: own
                .clone()
                .map(|line| indent_of(line).len())
                .min()
                .unwrap_or(expected.len()),
            shallowest: shallowest(indent_like),
            expected,
            lead,
            next,
            first: own.clone().next(),
        }
    }

    /// Leaves out blank lines at the beginning, and lines that stand before the hole already.
    fn without_lead<'l>(&self, lines: Vec<&'l str>) -> Vec<&'l str> {
        let lines: Vec<&str> = lines.into_iter().skip_while(|line| line.trim().is_empty()).collect();
        let repeats = |count: &usize| {
            let lead = self.lead[..*count].iter().rev().map(|line| line.trim());
            let said: usize = lead.clone().map(str::len).sum();
            lines.len() > *count
                && said >= TELLING_CHARS
                && lead.eq(lines[..*count].iter().map(|line| line.trim()))
                && self.first.map(str::trim) != Some(lines[0].trim())
        };
        let repeated = (1..=self.lead.len()).rev().find(repeats).unwrap_or(0);
        lines[repeated..].to_vec()
    }

    /// Cuts lines, indented as the hole is, where they run on past it.
    fn cut(&self, mut lines: Vec<String>) -> Vec<String> {
        let end = (0..lines.len()).find(|at| self.goes_on(&lines, *at));
        lines.truncate(end.unwrap_or(lines.len()));
        let end = match self.language {
            Some(SourceLanguage::Python) => self.block_end(&lines),
            Some(SourceLanguage::Ruby) | None => lines.len(),
            Some(_) => self.braces_end(&lines),
        };
        lines.truncate(end);
        lines
    }

    /// Returns whether what is behind the hole begins with this line of an answer.
    fn goes_on(&self, lines: &[String], at: usize) -> bool {
        let Some(next) = self.next.first() else {
            return false;
        };
        if lines[at].trim() != next.trim() {
            return false;
        }
        let rest = lines[at..]
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty());
        let same = rest.zip(&self.next).take_while(|(line, next)| *line == next.trim());
        let (count, chars) = same.fold((0, 0), |(count, chars), (line, _)| (count + 1, chars + line.len()));
        // Deeper inside than it stands behind the hole, a line such as `return x` may well be meant.
        let deeper = indent_of(&lines[at]).len() > indent_of(next).len();
        let told = next.trim().len() >= TELLING_CHARS && !deeper;
        told || (count > 1 && (chars >= TELLING_CHARS || count > 2))
    }

    /// Returns where braces close that the hole does not close.
    fn braces_end(&self, lines: &[String]) -> usize {
        let mut depth = 0;
        let below = |line: &String| {
            let (change, lowest) = braces(line);
            let below = depth + lowest < self.shallowest;
            depth += change;
            below
        };
        lines.iter().position(below).unwrap_or(lines.len())
    }

    /// Returns where the block of the hole ends: at a line that is indented less than any of the hole.
    fn block_end(&self, lines: &[String]) -> usize {
        let mut quoted = None;
        let mut open = 0_i32;
        for (at, line) in lines.iter().enumerate() {
            let inside = quoted.is_some() || open > 0;
            let text = line.trim();
            let closes = text.starts_with([')', ']', '}']);
            if at > 0 && !inside && !closes && !text.is_empty() && indent_of(line).len() < self.least {
                return at;
            }
            open = (open + read_line(text, &mut quoted)).max(0);
        }
        lines.len()
    }
}

fn shallowest(text: &str) -> i32 {
    let mut depth = 0;
    let lowest = |line: &str| {
        let (change, lowest) = braces(line);
        let here = depth + lowest;
        depth += change;
        here
    };
    text.lines().map(lowest).min().unwrap_or(0)
}

/// Returns how deep in braces a line ends, and how deep it was at its shallowest, both from where it began.
fn braces(line: &str) -> (i32, i32) {
    let (mut depth, mut lowest) = (0, 0);
    let mut quoted = false;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' if quoted => {
                rest.next();
            }
            '"' => quoted = !quoted,
            _ if quoted => {}
            '/' if rest.as_str().starts_with('/') => break,
            // A brace as a single character.
            '\'' if rest.as_str().starts_with(['{', '}']) && rest.as_str()[1..].starts_with('\'') => {
                rest.nth(1);
            }
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                lowest = lowest.min(depth);
            }
            _ => {}
        }
    }
    (depth, lowest)
}

/// Returns how many brackets of Python a line leaves open, and keeps what string of several lines it is in.
fn read_line(line: &str, quoted: &mut Option<&'static str>) -> i32 {
    let mut open = 0;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Some(mark) = *quoted {
            match rest.find(mark) {
                Some(at) => rest = &rest[at + mark.len()..],
                None => return open,
            }
            *quoted = None;
            continue;
        }
        if let Some(mark) = ["\"\"\"", "'''"].into_iter().find(|mark| rest.starts_with(mark)) {
            *quoted = Some(mark);
            rest = &rest[mark.len()..];
            continue;
        }
        match first {
            '#' => return open,
            '"' | '\'' => {
                let end = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
                rest = &rest[end..];
                continue;
            }
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    open
}

/// Gives the first line the indentation expected: alone where the others have it already, or together with them.
fn first_line_fitted(lines: &[String], expected: &str, language: Option<SourceLanguage>) -> Vec<String> {
    let Some(first) = lines.first() else {
        return Vec::new();
    };
    let own = indent_of(first);
    if own == expected {
        return lines.to_vec();
    }
    let second = lines.iter().skip(1).find(|line| !line.trim().is_empty());
    let opens = opens_block(first, language);
    let fits = second.is_none_or(|second| {
        let indent = indent_of(second).len();
        if opens {
            indent > expected.len() && (indent <= own.len() || own.len() < expected.len())
        } else {
            indent != own.len() && indent <= expected.len() || indent == expected.len()
        }
    });
    // A block that begins at column 0 and closes there was written without its surroundings.
    let whole = second.is_some()
        && opens
        && lines
            .iter()
            .skip(1)
            .any(|line| !line.trim().is_empty() && indent_of(line) == own)
        && own.len() < expected.len()
        && second.is_some_and(|second| indent_of(second).len() <= expected.len());
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            if line.trim().is_empty() {
                String::new()
            } else if at == 0 {
                format!("{expected}{}", line.trim_start())
            } else if fits && !whole {
                line.clone()
            } else {
                shifted(line, own, expected)
            }
        })
        .collect()
}

fn opens_block(line: &str, language: Option<SourceLanguage>) -> bool {
    let code = match language {
        Some(SourceLanguage::Python) => line.split(" #").next().unwrap_or_default(),
        _ => line,
    };
    code.trim_end().ends_with([':', '{', '(', '[', ',', '\\'])
}

/// Moves a line as far as `own` is from `expected`; one that is indented less than `own` stays behind as far.
fn shifted(line: &str, own: &str, expected: &str) -> String {
    let indent = indent_of(line);
    let text = &line[indent.len()..];
    match indent.strip_prefix(own) {
        Some(deeper) => format!("{expected}{deeper}{text}"),
        None => {
            let less = own.len().saturating_sub(indent.len());
            format!("{}{text}", &expected[..expected.len().saturating_sub(less)])
        }
    }
}

/// Moves all lines so that the least indented stand where the hole's first does.
fn all_on_one_level(lines: &[String], expected: &str) -> Vec<String> {
    let full = |line: &&String| !line.trim().is_empty();
    // What the first line has may be what was fitted wrongly.
    let least = lines
        .iter()
        .skip(1)
        .filter(full)
        .map(|line| indent_of(line))
        .min_by_key(|indent| indent.len());
    let moved = |(at, line): (usize, &String)| match least {
        _ if line.trim().is_empty() => String::new(),
        Some(least) if at > 0 => shifted(line, least, expected),
        _ => format!("{expected}{}", line.trim_start()),
    };
    lines.iter().enumerate().map(moved).collect()
}

/// Returns the lines as a text with as many blank lines around as the hole had, and its line ends.
fn finished(lines: &[String], before: &str, after: &str, indent_like: &str) -> Option<String> {
    let last = lines.iter().rposition(|line| !line.trim().is_empty())?;
    let blank = |line: &&str| line.trim().is_empty();
    let hollow = indent_like.trim().is_empty();
    let above = if hollow {
        0
    } else {
        indent_like.lines().take_while(blank).count()
    };
    let below = if hollow {
        0
    } else {
        indent_like.lines().rev().take_while(blank).count()
    };
    let end = if [before, indent_like].iter().any(|text| text.contains("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    let mut text = end.repeat(above) + &lines[..=last].join(end);
    text += &end.repeat(below);
    if !after.is_empty() || indent_like.ends_with('\n') || hollow {
        text += end;
    }
    Some(text)
}
