//! Marks that stand for the texts of a conversation while its template is rendered, and what is between them afterwards.
//!
//! A mark shows a template what it may ask of a text: whether there is any, and the white space at its ends, which many
//! take away. Put into JSON by `tojson`, it stands for the text as JSON has it. Other changes of a text are not made.

use super::Part;
use minijinja::{Error, ErrorKind};

// Private-use characters that stand nowhere else in a rendered form: the texts are not in it.
pub(super) const OPEN: char = '\u{f8f0}';
pub(super) const CLOSE: char = '\u{f8f1}';
/// Behind [`OPEN`], once for each time that the text was put into JSON.
pub(super) const JSON: char = 'j';

/// Whether a rendered form has to have a text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// The form leaves it out where the model was trained so: what was thought in earlier turns, say.
    Optional,
}

/// The texts that marks stand for.
#[derive(Debug, Default)]
pub(super) struct Marks {
    texts: Vec<Marked>,
}

#[derive(Debug)]
struct Marked {
    text: String,
    // White space in front of it and behind it.
    ends: [String; 2],
    presence: Presence,
}

impl Marks {
    /// Returns what a template gets in place of a text.
    pub(super) fn mark(&mut self, text: &str, presence: Presence) -> String {
        let core = text.trim();
        let Some((before, behind)) = text.split_once(core).filter(|_| !core.is_empty()) else {
            return text.to_owned();
        };
        let number = self.texts.len();
        self.texts.push(Marked {
            text: core.to_owned(),
            ends: [before, behind].map(str::to_owned),
            presence,
        });
        format!("{before}{OPEN}{number}{CLOSE}{behind}")
    }

    /// Returns a word as it is, for a template that chooses by it; a mark for all that could be more than a word to a tokenizer.
    pub(super) fn word(&mut self, text: &str) -> String {
        let plain = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
        if text.chars().all(plain) {
            text.to_owned()
        } else {
            self.mark(text, Presence::Optional)
        }
    }

    /// Cuts a rendered form at the marks. White space beside a text belongs to it.
    ///
    /// # Errors
    /// When a text is left out that must not be, or a mark was changed.
    pub(super) fn cut(&self, rendered: &str) -> Result<Vec<Part>, Error> {
        let mut parts: Vec<Part> = Vec::new();
        let mut seen = vec![false; self.texts.len()];
        let mut rest = rendered;
        while let Some((form, marked)) = rest.split_once(OPEN) {
            let (level, number, after) = read(marked).ok_or_else(|| refused("the template changes the texts"))?;
            let Some(Marked { text, ends, .. }) = self.texts.get(number) else {
                return Err(refused("the template changes the texts"));
            };
            seen[number] = true;
            let before = if level == 0 && form.ends_with(&ends[0]) {
                ends[0].as_str()
            } else {
                ""
            };
            let data = (0..level).fold(before.to_owned() + text, |text, _| in_json(&text));
            parts.push(Part::Form(form[..form.len() - before.len()].to_owned()));
            let behind = if level == 0 && after.starts_with(&ends[1]) {
                ends[1].as_str()
            } else {
                ""
            };
            parts.push(Part::Data(data + behind));
            rest = &after[behind.len()..];
        }
        parts.push(Part::Form(rest.to_owned()));
        parts.retain(|part| !matches!(part, Part::Form(text) | Part::Data(text) if text.is_empty()));
        let missing = |(marked, seen): (&Marked, bool)| marked.presence == Presence::Required && !seen;
        if self.texts.iter().zip(seen).any(missing) {
            return Err(refused("the template leaves a message out"));
        }
        Ok(parts)
    }
}

/// Returns how often the text was put into JSON, its number, and what follows.
fn read(marked: &str) -> Option<(usize, usize, &str)> {
    let (mark, after) = marked.split_once(CLOSE)?;
    let number = mark.trim_start_matches(JSON);
    Some((mark.len() - number.len(), number.parse().ok()?, after))
}

/// Returns a text as it stands within a string of JSON.
pub(super) fn in_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            OPEN => escaped.extend([OPEN, JSON]),
            control if control < ' ' => escaped.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => escaped.push(other),
        }
    }
    escaped
}

fn refused(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}
