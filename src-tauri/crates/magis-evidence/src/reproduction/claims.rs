//! What an issue says of outputs beside its blocks: in comments of the code, in the prose, in the title.

mod prose;
mod settle;

pub(crate) use prose::of_prose;
pub(crate) use settle::settle;

use crate::reproduction::check::{About, Claim, Said};
use crate::reproduction::notation::Notation;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::{FileRole, Follows, Input, Piece};
use crate::reproduction::wording::{Stance, inline_code};
use prose::exceptions;

static REMARK: Pattern = Pattern::new(
    r"(?i)^(?:->|=>|>>>|==>|→|⇒|out(?:put)?(?: ?\[\d+\])?:|(?:this )?(?:returns?|gives?|prints?|outputs?|yields?|shows?|evaluates to|results? in|raises|throws|is)\b:?|got:?|actual(?:ly)?:?|result:?)\s*",
);
static SHOULD_BE: Pattern = Pattern::new(
    r"(?i)(?:\bshould (?:be|give|return|print|have been|show|evaluate to|output)|\bexpect(?:ed|s|ing)?(?: output| result| value)?:?(?: is| was| to be)?|\bought to be|\bcorrect(?: answer| result| output)?(?: is|:))\s*",
);

/// Collects the claims of pieces about steps that are numbered in the order of their inputs.
pub(crate) fn of_pieces(pieces: &[Piece], notation: &Notation) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut step: Option<u32> = None;
    for piece in pieces {
        let about = |follows: Follows| match (follows, step) {
            (Follows::Input, Some(step)) => About::Step(step),
            _ => About::Any,
        };
        match piece {
            Piece::Input(input) => {
                let next = step.map_or(0, |step| step + 1);
                step = Some(next);
                found.extend(of_comments(input, next, notation));
            }
            Piece::Output { text, .. } if !text.contains(char::is_alphanumeric) => {}
            Piece::Output { text, stance, follows } => {
                found.push(claim(Said::Prints(text.clone()), *stance, about(*follows)));
            }
            Piece::Failure {
                traceback,
                stance,
                follows,
            } => {
                let said = Said::Raises {
                    exception: traceback.exception.clone(),
                    prefix: traceback.prefix.clone(),
                };
                // A traceback under "expected" is the rare one; most such words speak of what follows it.
                let stance = if *stance == Stance::Right {
                    Stance::Shown
                } else {
                    *stance
                };
                found.push(claim(said, stance, about(*follows)));
            }
            Piece::File {
                text,
                role: FileRole::Written(stance),
                ..
            } => {
                found.push(claim(Said::Prints(text.clone()), *stance, About::Any));
            }
            Piece::File {
                role: FileRole::Given, ..
            }
            | Piece::Commands(_) => {}
        }
    }
    found
}

fn claim(what: Said, stance: Stance, about: About) -> Claim {
    Claim { what, stance, about }
}

/// Reads the comments behind the statements of an input, or on the line below one.
fn of_comments(input: &Input, step: u32, notation: &Notation) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut last_code = 0;
    for (at, line) in input.source.lines().enumerate() {
        let number = at as u32 + 1;
        let (code, comment) = comment_of(line, notation.language.comment_prefix());
        if !code.trim().is_empty() {
            last_code = number;
        }
        let Some(comment) = comment.filter(|_| last_code > 0) else {
            continue;
        };
        let about = About::Line { step, line: last_code };
        let before = found.len();
        found.extend(exceptions(comment, about));
        if found.len() > before {
            continue;
        }
        // A comment on a line of its own may speak of what follows as well as of what went before.
        let trails = !code.trim().is_empty();
        if let (Some(words), true) = (SHOULD_BE.find(comment), trails) {
            let (shown, expected) = (&comment[..words.start()], value(&comment[words.end()..]));
            if notation.parses_as_value(&expected) {
                found.push(claim(Said::Prints(expected), Stance::Right, about));
            }
            found.push(claim(Said::Prints(value(shown)), Stance::Wrong, about));
        } else {
            found.push(claim(Said::Prints(value(comment)), Stance::Shown, about));
        }
    }
    found.retain(|claim| !matches!(&claim.what, Said::Prints(text) if text.trim().is_empty()));
    found
}

/// Splits a line at its comment, quotes respected.
fn comment_of<'l>(line: &'l str, prefix: &str) -> (&'l str, Option<&'l str>) {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, _) if line[at..].starts_with(prefix) => {
                let comment = line[at..].trim_start_matches(|c| prefix.contains(c));
                return (&line[..at], Some(comment.trim()));
            }
            _ => {}
        }
    }
    (line, None)
}

/// Takes the words off around a value: "returns `3`, which is wrong" says 3.
fn value(words: &str) -> String {
    if let Some(inline) = inline_code(words).first() {
        return inline.code.to_owned();
    }
    let words = words.trim().trim_end_matches([',', ';', '.', '!', '(']);
    let words = REMARK.find(words).map_or(words, |remark| &words[remark.end()..]);
    let end = [
        ", but",
        " but ",
        ", which",
        " (wrong",
        " (incorrect",
        ", should",
        " -- ",
        " <--",
        " <-",
        "; ",
    ]
    .iter()
    .filter_map(|cut| words.find(cut))
    .min();
    words[..end.unwrap_or(words.len())].trim().to_owned()
}
