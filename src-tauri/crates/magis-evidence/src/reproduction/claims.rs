//! What an issue says of outputs beside its blocks: in comments of the code, in the prose, in the title.

use crate::reproduction::check::{About, Claim, Said};
use crate::reproduction::passages::Passage;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::{FileRole, Follows, Input, Piece};
use crate::reproduction::traceback::{Exception, tracebacks};
use crate::reproduction::wording::{Stance, complains, computes, inline_code, stance};
use magis_syntax::{SourceLanguage, syntax_errors};

static EXCEPTION: Pattern =
    Pattern::new(r"\b((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt))\b`?(?:: *([^`\n]+))?");
static SHOULD_RAISE: Pattern =
    Pattern::new(r"(?i)(?:should|expect\w*|ought|must|want|better)\b[^.]*\b(?:rais|throw|fail|error)\w*[^.]*$");
static INSTEAD: Pattern = Pattern::new(r"(?i)\b(?:instead of|rather than)(?: the (?:expected|correct))?\s+");
static ENDS_VALUE: Pattern = Pattern::new(
    r"(?i)(?:,? (?:instead|rather|not|but|and|or|when|if|for|as|because|since|which|while|like|in|on|with)\b|[,;]? ?\(|; |, | - )",
);
static NO_VALUE: Pattern = Pattern::new(r"^(?:[\w./:@-]*|--?\w[\w-]*(?:=.*)?|[\w.]+\(\)|\D)$");
static HANGS: Pattern = Pattern::new(
    r"(?i)\b(?:hangs?|infinite loop|never (?:returns|terminates|finishes|ends)|freezes|runs forever|stuck)\b",
);
static REMARK: Pattern = Pattern::new(
    r"(?i)^(?:->|=>|>>>|==>|→|⇒|out(?:put)?(?: ?\[\d+\])?:|(?:this )?(?:returns?|gives?|prints?|outputs?|yields?|shows?|evaluates to|results? in|raises|throws|is)\b:?|got:?|actual(?:ly)?:?|result:?)\s*",
);
static SHOULD_BE: Pattern = Pattern::new(
    r"(?i)(?:\bshould (?:be|give|return|print|have been|show|evaluate to|output)|\bexpect(?:ed|s|ing)?(?: output| result| value)?:?(?: is| was| to be)?|\bought to be|\bcorrect(?: answer| result| output)?(?: is|:))\s*",
);

/// Collects the claims of pieces about steps that are numbered in the order of their inputs.
pub(crate) fn of_pieces(pieces: &[Piece]) -> Vec<Claim> {
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
                found.extend(of_comments(input, next));
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
fn of_comments(input: &Input, step: u32) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut last_code = 0;
    for (at, line) in input.source.lines().enumerate() {
        let number = at as u32 + 1;
        let (code, comment) = comment_of(line);
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
            if syntax_errors(SourceLanguage::Python, &expected) == 0 {
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
fn comment_of(line: &str) -> (&str, Option<&str>) {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '#') => return (&line[..at], Some(line[at + 1..].trim_start_matches('#').trim())),
            _ => {}
        }
    }
    (line, None)
}

/// Takes the words off around a value: "returns `3`, which is wrong" says 3.
fn value(words: &str) -> String {
    if let Some((code, _)) = inline_code(words).first() {
        return (*code).to_owned();
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

fn exceptions(words: &str, about: About) -> Vec<Claim> {
    let of = |parts: regex::Captures<'_>| {
        let start = parts.get(0).map_or(0, |whole| whole.start());
        let before = words.get(..start).unwrap_or_default();
        let before = before.rsplit(['\n']).next().unwrap_or(before);
        let stance = if SHOULD_RAISE.is_match(before) {
            Stance::Right
        } else {
            Stance::Wrong
        };
        let exception = Exception {
            kind: parts[1].to_owned(),
            message: parts.get(2).map_or("", |part| part.as_str()).trim().to_owned(),
        };
        claim(
            Said::Raises {
                exception,
                prefix: String::new(),
            },
            stance,
            about,
        )
    };
    EXCEPTION.captures_iter(words).map(of).collect()
}

/// Collects what the prose and the title say.
pub(crate) fn of_prose(passages: &[Passage]) -> Vec<Claim> {
    let mut found = Vec::new();
    for passage in passages {
        let (Passage::Heading(text) | Passage::Prose(text)) = passage else {
            continue;
        };
        found.extend(exceptions(text, About::Any));
        for traceback in tracebacks(text) {
            let said = Said::Raises {
                exception: traceback.exception,
                prefix: traceback.prefix,
            };
            found.push(claim(said, Stance::Shown, About::Any));
        }
        found.extend(stated_values(text));
        for (code, before) in inline_code(text) {
            if is_value(code) && !code.contains("Error") {
                let said = if SHOULD_BE.is_match(before) {
                    Stance::Right
                } else {
                    stance("", before)
                };
                let said = if said == Stance::Right && !SHOULD_BE.is_match(before) {
                    Stance::Shown
                } else {
                    said
                };
                found.push(claim(Said::Prints(code.to_owned()), said, About::Any));
            }
        }
        if HANGS.is_match(text) {
            found.push(claim(Said::Hangs, Stance::Wrong, About::Any));
        }
    }
    found
}

/// Finds the values that prose states without marks: "f(2) should be oo rather than f(oo)".
fn stated_values(prose: &str) -> Vec<Claim> {
    let mut found = Vec::new();
    for sentence in prose
        .split(". ")
        .flat_map(|part| part.split('\n'))
        .filter(|sentence| !sentence.contains('`'))
    {
        let should = SHOULD_BE.find(sentence);
        let instead = INSTEAD.find(sentence);
        let text_at = |from: usize| {
            let rest = sentence.get(from..).unwrap_or_default();
            let end = ENDS_VALUE.find(rest).map_or(rest.len(), |end| end.start());
            rest.get(..end)
                .unwrap_or_default()
                .trim()
                .trim_end_matches(['.', ':', '?', '!'])
                .to_owned()
        };
        let mut add = |text: String, stance: Stance| {
            let is_code = computes(&text) || is_value(&text) && !text.contains(' ');
            if is_code && text.len() < 80 && syntax_errors(SourceLanguage::Python, &text) == 0 {
                found.push(claim(Said::Prints(text), stance, About::Any));
            }
        };
        match (should, instead) {
            (Some(should), Some(instead)) => {
                add(text_at(should.end()), Stance::Right);
                add(text_at(instead.end()), Stance::Wrong);
            }
            (Some(should), None) => add(text_at(should.end()), Stance::Right),
            (None, Some(instead)) => add(text_at(instead.end()), Stance::Right),
            (None, None) => {}
        }
    }
    found
}

/// Returns whether a piece of code within prose may be an output: more than a name, an option, a call or a file.
fn is_value(code: &str) -> bool {
    code.parse::<f64>().is_ok()
        || !NO_VALUE.is_match(code)
        || matches!(code, "True" | "False" | "None" | "nan" | "NaN" | "inf" | "oo" | "zoo")
}

/// Calls an output wrong where it is the only one of an issue that complains, or that of an input named in its title.
pub(crate) fn settle(claims: &mut [Claim], steps: &[String], passages: &[Passage]) {
    let title = passages.iter().find_map(|passage| match passage {
        Passage::Heading(text) => Some(text.as_str()),
        Passage::Prose(_) | Passage::Block(_) => None,
    });
    let title = title.filter(|title| complains(title)).unwrap_or_default();
    let complaint = passages.iter().any(|passage| match passage {
        Passage::Heading(text) | Passage::Prose(text) => complains(text),
        Passage::Block(_) => false,
    });
    let open = |claim: &&mut Claim| matches!(claim.what, Said::Prints(_)) && claim.stance == Stance::Shown;
    let mut outputs: Vec<&mut Claim> = claims.iter_mut().filter(open).collect();
    if let [only] = outputs.as_mut_slice() {
        if complaint {
            only.stance = Stance::Wrong;
        }
        return;
    }
    for output in outputs {
        let source = match output.about {
            About::Step(step) | About::Line { step, .. } => steps.get(step as usize),
            About::Any => None,
        };
        if source.is_some_and(|source| source.len() > 3 && title.contains(source.trim())) {
            output.stance = Stance::Wrong;
        }
    }
}
