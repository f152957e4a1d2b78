//! Colour by meaning. Where colour is off, not one control character is written.

use super::clean;

/// Whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    /// With the terminal's colours.
    Coloured,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The title of a part.
    Heading,
    /// What counts most on its line.
    Strong,
    /// What may be overlooked.
    Faint,
    /// Whole, there, added; never what a model thinks of a change.
    Good,
    Note,
    Bad,
    /// A place in a patch.
    Place,
}

impl Tone {
    const ALL: [Self; 7] = [
        Self::Heading,
        Self::Strong,
        Self::Faint,
        Self::Good,
        Self::Note,
        Self::Bad,
        Self::Place,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::Heading => "1;36",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Note => "33",
            Self::Bad => "31",
            Self::Place => "36",
        }
    }
}

impl Paint {
    /// Finished text as it may go to a terminal: what [`clean`] makes of it, but with the colours that [`Paint::tone`] gives.
    /// It is the last gate, for text of others that came through uncleaned; such text can at worst borrow a colour.
    pub fn harmless(self, text: &str) -> String {
        let mut harmless = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}') {
            let (before, sequence) = rest.split_at(at);
            harmless.push_str(&clean(before));
            let (taken, after) = match own_sequence(sequence).filter(|_| self == Self::Coloured) {
                Some(length) => sequence.split_at(length),
                None => ("\u{241b}", &sequence[1..]),
            };
            harmless.push_str(taken);
            rest = after;
        }
        harmless.push_str(&clean(rest));
        harmless
    }

    /// `text` in the colour of `tone`.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        let code = tone.code();
        match self {
            Self::Coloured if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Coloured | Self::Plain => text.to_owned(),
        }
    }
}

/// Returns the length of the sequence that `text` begins with, where it is one that [`Paint::tone`] writes.
fn own_sequence(text: &str) -> Option<usize> {
    let codes = Tone::ALL.iter().map(|tone| tone.code()).chain(["0"]);
    codes
        .map(|code| format!("\u{1b}[{code}m"))
        .find(|sequence| text.starts_with(sequence.as_str()))
        .map(|sequence| sequence.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_colours_pass_and_what_others_wrote_does_not() {
        let ours = Paint::Coloured.tone(Tone::Bad, "no");
        let theirs = "\u{1b}]0;owned\u{7}\u{1b}[2J";
        assert_eq!(
            Paint::Coloured.harmless(&format!("{ours} {theirs}")),
            format!("{ours} ␛]0;owned␇␛[2J")
        );
        assert_eq!(Paint::Plain.harmless(&ours), "␛[31mno␛[0m");
    }
}
