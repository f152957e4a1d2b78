//! Colour by meaning. Where colour is off, not one control character is written.

/// Whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text alone.
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
    /// Approved, whole, there.
    Good,
    /// To be noted.
    Note,
    /// Rejected, missing, broken.
    Bad,
    /// A place in a patch.
    Place,
}

impl Paint {
    /// `text` in the colour of `tone`.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Heading => "1;36",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Note => "33",
            Tone::Bad => "31",
            Tone::Place => "36",
        };
        match self {
            Self::Coloured if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Coloured | Self::Plain => text.to_owned(),
        }
    }
}
