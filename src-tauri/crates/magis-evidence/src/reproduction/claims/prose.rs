//! What the prose and the title of an issue say of outputs.

use super::{SHOULD_BE, claim};
use crate::reproduction::check::{About, Claim, Said};
use crate::reproduction::notation::Notation;
use crate::reproduction::passages::Passage;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::is_command;
use crate::reproduction::traceback::{Exception, tracebacks};
use crate::reproduction::wording::{Inline, Stance, computes, inline_code, made_of, stance};
use std::collections::BTreeSet;

static EXCEPTION: Pattern =
    Pattern::new(r"\b((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt))\b`?(?:: *([^`\n]+))?");
static SHOULD_FAIL: Pattern =
    Pattern::new(r"(?i)\bshould (?:not work|fail|raise|throw|error|be (?:refused|rejected|forbidden|an error))\b");
static SHOULD_RAISE: Pattern =
    Pattern::new(r"(?i)(?:should|expect\w*|ought|must|want|better)\b[^.]*\b(?:rais|throw|fail|error)\w*[^.]*$");
static INSTEAD: Pattern = Pattern::new(r"(?i)\b(?:instead of|rather than)(?: the (?:expected|correct))?\s+");
static ENDS_VALUE: Pattern = Pattern::new(
    r"(?i)(?:,? (?:instead|rather|not|but|and|or|when|if|for|as|because|since|which|while|like|in|on|with)\b|[,;]? ?\(|; |, | - )",
);
static NO_VALUE: Pattern = Pattern::new(r"^(?:[\w./:@-]*|--?\w[\w-]*(?:=.*)?|[\w.]+\(\)|\D)$");
static AGREES: Pattern = Pattern::new(
    r"(?i)\b(?:inconsistent(?:ly)?|inconsistency|not consistent|same (?:result|output|answer|value)|should be (?:the same|equal|identical|consistent)|should (?:agree|not (?:differ|depend)))\b",
);
static HANGS: Pattern = Pattern::new(
    r"(?i)\b(?:hangs?|infinite loop|never (?:returns|terminates|finishes|ends)|freezes|runs forever|stuck)\b",
);
static INSTEAD_LAST: Pattern =
    Pattern::new(r"(?i)\b(?:instead of|rather than|but not|and not)(?: the (?:expected|correct))?\s*:?\s*$");
/// Collects what the prose and the title say.
pub(crate) fn of_prose(passages: &[Passage], notation: &Notation) -> Vec<Claim> {
    let mut found = Vec::new();
    let variants = stated_variants(passages, notation);
    for passage in passages {
        let (Passage::Heading(text) | Passage::Prose(text)) = passage else {
            continue;
        };
        found.extend(exceptions(text, About::Any));
        if let Passage::Heading(title) = passage
            && SHOULD_FAIL.is_match(title)
            && !EXCEPTION.is_match(title)
        {
            let exception = Exception {
                kind: String::new(),
                message: String::new(),
            };
            found.push(claim(
                Said::Raises {
                    exception,
                    prefix: String::new(),
                },
                Stance::Right,
                About::Any,
            ));
        }
        for traceback in tracebacks(text) {
            let said = Said::Raises {
                exception: traceback.exception,
                prefix: traceback.prefix,
            };
            found.push(claim(said, Stance::Shown, About::Any));
        }
        found.extend(stated_values(text, notation));
        for inline in inline_code(text) {
            let is_variant = variants.contains(inline.code) && inline.is_stated();
            if is_variant || is_value(inline.code, notation) && !inline.code.contains("Error") {
                found.push(claim(
                    Said::Prints(inline.code.to_owned()),
                    said_of(&inline),
                    About::Any,
                ));
            }
        }
        for (_, made) in made_of(text) {
            found.push(claim(Said::Prints(made.to_owned()), Stance::Shown, About::Any));
        }
        if AGREES.is_match(text) {
            found.push(claim(Said::Agrees, Stance::Right, About::Any));
        }
        if HANGS.is_match(text) {
            found.push(claim(Said::Hangs, Stance::Wrong, About::Any));
        }
    }
    found
}

/// Returns the variants that the prose states as values, where it states an actual value and an expected one: a single name may as well be that of a
/// type.
fn stated_variants<'p>(passages: &'p [Passage], notation: &Notation) -> BTreeSet<&'p str> {
    let texts = passages.iter().filter_map(|passage| match passage {
        Passage::Heading(text) | Passage::Prose(text) => Some(text),
        Passage::Block(_) => None,
    });
    let stated = texts.flat_map(|text| inline_code(text)).filter(Inline::is_stated);
    let is_either = |code: &&str| notation.is_variant(code) || is_value(code, notation);
    let values: BTreeSet<&str> = stated.map(|inline| inline.code).filter(is_either).collect();
    if values.len() < 2 {
        return BTreeSet::new();
    }
    values.into_iter().filter(|code| notation.is_variant(code)).collect()
}

/// Tells what the words of its sentence say of a piece of code.
fn said_of(inline: &Inline<'_>) -> Stance {
    if INSTEAD_LAST.is_match(inline.since) {
        // "It should be 3 instead of `4`" and "it gives 4 instead of `3`".
        return if SHOULD_BE.is_match(inline.sentence) {
            Stance::Wrong
        } else {
            Stance::Right
        };
    }
    if SHOULD_BE.is_match(inline.since) {
        return Stance::Right;
    }
    match stance("", inline.since) {
        Stance::Wrong => Stance::Wrong,
        Stance::Right | Stance::Shown => Stance::Shown,
    }
}

/// Finds the values that prose states without marks: "f(2) should be oo rather than f(oo)".
fn stated_values(prose: &str, notation: &Notation) -> Vec<Claim> {
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
            let is_code = computes(&text) || is_value(&text, notation) && !text.contains(' ');
            if is_code && text.len() < 80 && notation.parses_as_value(&text) {
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
fn is_value(code: &str, notation: &Notation) -> bool {
    code.parse::<f64>().is_ok() || !NO_VALUE.is_match(code) && !is_command(code) || notation.is_value(code)
}

pub(super) fn exceptions(words: &str, about: About) -> Vec<Claim> {
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
