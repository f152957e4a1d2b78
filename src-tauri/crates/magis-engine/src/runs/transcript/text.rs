//! Words and lengths of time as people read them, and text of others made safe for a terminal.

use std::borrow::Cow;
use std::time::Duration;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// `text` without what a terminal would obey or hide: control characters become their visible signs, and characters that
/// turn the direction of writing or are not seen at all their numbers, as in `<U+202E>`. Line breaks and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    let mut before = '\n';
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            c if is_harmless(c) || joins_pictures(before, c) => clean.push(c),
            '\u{7f}' => clean.push('\u{2421}'),
            c if (c as u32) < 0x20 => clean.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            c => clean.push_str(&format!("<U+{:04X}>", c as u32)),
        }
        before = c;
    }
    Cow::Owned(clean)
}

/// JSON with what [`clean`] would change in it written by its number, as in `\u202e`: the value stays what it is.
pub fn escaped(json: &str) -> Cow<'_, str> {
    if json.chars().all(is_harmless) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_harmless(c) {
            escaped.push(c);
        } else {
            // Such characters stand nowhere but in a string.
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Cow::Owned(escaped)
}

/// Returns whether a terminal shows `c` where it stands, or breaks the line or goes on to the next column for it.
fn is_harmless(c: char) -> bool {
    (matches!(c, '\n' | '\t') || !c.is_control()) && !is_unseen(c)
}

/// Returns characters that are not seen, or that turn the direction of what stands around them. The window has the same
/// list (`ui/src/components/visible.ts`).
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether `c` joins two pictures into one, as in a family of emoji.
fn joins_pictures(before: char, c: char) -> bool {
    c == '\u{200d}' && matches!(before, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns the first `width` columns of the first line that says something.
pub fn one_line(text: &str, width: usize) -> String {
    let text = clean(text);
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .replace('\t', " ");
    shortened(&line, width.max(1))
}

/// Returns the beginning of `text` that fits into `width` columns; what was longer ends with an ellipsis.
pub fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |letter: &char| {
        let rest = room.checked_sub(letter.width().unwrap_or(0));
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Breaks `text` into lines of at most `width` columns, at spaces. Lines that are far indented, and those between code fences, are code and
/// stay as they are.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fenced = false;
    for line in clean(text).trim_end().lines() {
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let indent = line.len() - line.trim_start().len();
        let listed = ["- ", "* "].iter().any(|mark| line.trim_start().starts_with(mark));
        let code = fenced || fence || line.contains('\t') || (indent >= 4 && !listed);
        if code || line.width() <= width {
            lines.push(line.to_owned());
        } else {
            // What follows the mark of a list stands under its first word.
            let hang = indent + if listed { 2 } else { 0 };
            wrap(line.trim_start(), width, [indent, hang], &mut lines);
        }
    }
    lines
}

/// Breaks one line; the first is indented by the one number of columns, those that follow by the other.
fn wrap(line: &str, width: usize, indents: [usize; 2], lines: &mut Vec<String>) {
    let mut current = " ".repeat(indents[0]);
    let mut begun = false;
    for word in line.split_whitespace() {
        if begun && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, " ".repeat(indents[1])));
            begun = false;
        }
        if begun {
            current.push(' ');
        }
        current.push_str(word);
        begun = true;
    }
    lines.push(current);
}

/// Returns a length of time: `8 s`, `2:05 min`, `1:02:05 h`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02} min"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(clean("a\u{1b}[2Jb\tc\n"), "a␛[2Jb\tc\n");
        assert_eq!(clean("x = \"\u{202e}evil\""), "x = \"<U+202E>evil\"");
        assert_eq!(clean("is\u{200b}Admin \u{9b}2J"), "is<U+200B>Admin <U+009B>2J");
        assert_eq!(
            clean("\u{1f468}\u{200d}\u{1f469} a\u{200d}b"),
            "\u{1f468}\u{200d}\u{1f469} a<U+200D>b"
        );
        assert_eq!(clean("ünï 码"), "ünï 码");
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(shortened("码码码码", 8), "码码码码");
        assert_eq!(shortened("码码码码", 6), "码码…");
        assert_eq!(shortened("abcd", 3), "ab…");
    }

    #[test]
    fn prose_is_wrapped_and_code_is_not() {
        let text = "one two three four\n- five six seven\n  - eight nine\n    code that is long stays\n```\nas it is, too\n```";
        assert_eq!(
            wrapped(text, 10),
            [
                "one two",
                "three four",
                "- five six",
                "  seven",
                "  - eight",
                "    nine",
                "    code that is long stays",
                "```",
                "as it is, too",
                "```"
            ]
        );
    }

    #[test]
    fn lengths_of_time_read_as_people_write_them() {
        assert_eq!(span(Duration::from_secs(125)), "2:05 min");
        assert_eq!(span(Duration::from_secs(3725)), "1:02:05 h");
    }

    #[test]
    fn one_line_takes_the_first_that_says_something() {
        assert_eq!(one_line("\n  a long title\nrest", 6), "a lon…");
    }
}
